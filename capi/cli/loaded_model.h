// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A model file with what it says of its columns, and test rows for it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "dataset.h"
#include "mercer/mercer.hpp"
#include "metadata.h"

namespace mercer::cli {

struct LoadedModel {
  Model model;
  int64_t inputs;
  int64_t outputs;
  Metadata metadata;

  /// False for a model that refuses such rows, which do not get as far as the question.
  bool clips(const std::string& extrapolation) const;
};

/// From a file, or - for standard input.
LoadedModel load_model(const std::string& path);

/// Rows for it, bytes divided and texts coded as they were for the fit. What was filled or is not
/// as in training is told on `out`.
Dataset read_rows_for(const LoadedModel& loaded, const std::string& test, const std::string& labels,
                      const ColumnRequest& columns, std::FILE* out);

/// A note where the rows hold the weights that the model was fitted with, and a score leaves them
/// out.
void tell_unused_weights(const LoadedModel& loaded, const Dataset& test, std::FILE* out);

/// Fails unless the targets are as many as the model's.
void check_targets(const LoadedModel& loaded, const Dataset& test);

}  // namespace mercer::cli
