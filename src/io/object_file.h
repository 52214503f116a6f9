// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps, models and statistics as files.
#pragma once

#include <memory>
#include <string>

#include "feature/feature_map.h"
#include "model/model.h"
#include "solver/row_statistics.h"

namespace mercer::io {

void save(const feature::FeatureMap& map, const std::string& path);
void save(const model::Model& model, const std::string& path);
void save(const solver::RowStatistics& statistics, const std::string& path);
std::unique_ptr<feature::FeatureMap> load_map(const std::string& path);
std::unique_ptr<model::Model> load_model(const std::string& path);
std::unique_ptr<solver::RowStatistics> load_statistics(const std::string& path);
/// What a file holds, as JSON: {"kind":..,"version":..,"spec":{...},...}.
std::string describe_file(const std::string& path);

}  // namespace mercer::io
