// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps, models and statistics as the bytes of a file, whatever these are read from or written to.
#pragma once

#include <memory>
#include <string>

#include "attention/attention.h"
#include "feature/feature_map.h"
#include "io/container.h"
#include "io/input_output.h"
#include "model/model.h"
#include "solver/row_statistics.h"
#include "spec/test_spec.h"

namespace mercer::io {

void save(const feature::FeatureMap& map, Output& output);
void save(const model::Model& model, Output& output);
void save(const solver::RowStatistics& statistics, Output& output);
void save(const attention::Attention& attention, Output& output);
void save(const spec::RowsSums& sums, Output& output);
std::unique_ptr<feature::FeatureMap> load_map(Input& input);
std::unique_ptr<model::Model> load_model(Input& input);
std::unique_ptr<solver::RowStatistics> load_statistics(Input& input);
std::unique_ptr<attention::Attention> load_attention(Input& input);
std::unique_ptr<spec::RowsSums> load_rows_sums(Input& input);

template <class Object>
void save(const Object& object, const std::string& path) {
  FileOutput file(path);
  save(object, file);
}
inline std::unique_ptr<feature::FeatureMap> load_map(const std::string& path) {
  InputFile file(path);
  return load_map(file);
}
inline std::unique_ptr<model::Model> load_model(const std::string& path) {
  InputFile file(path);
  return load_model(file);
}
inline std::unique_ptr<solver::RowStatistics> load_statistics(const std::string& path) {
  InputFile file(path);
  return load_statistics(file);
}

/// What a file holds, as JSON: {"kind":..,"version":..,"spec":{...},...}.
std::string describe_file(Input& input);
inline std::string describe_file(const std::string& path) {
  InputFile file(path);
  return describe_file(file);
}

// Fitted models in files.

/// CORRUPT_FILE naming the input unless sizes agree with each other, with the map and with the
/// file, options are within what a fit accepts, standardiser and weights are finite, scales
/// positive. The sections that a kind of model has are required here.
std::unique_ptr<model::Model> read_model(const SectionReader& file);

}  // namespace mercer::io
