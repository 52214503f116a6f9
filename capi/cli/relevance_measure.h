// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How much each input of a file moves what a model predicts, on given rows.
#pragma once

#include <string>
#include <vector>

#include "mercer/mercer.hpp"
#include "metadata.h"
#include "session.h"

namespace mercer::cli {

struct Relevance {
  std::vector<std::string> names;  // of the inputs of files
  std::vector<double> values;      // descending
};

/// With S_o the standard deviation of prediction o of m over the rows, and other(i) the row with
/// another row's value of input j,
///   r_j = sqrt(mean_i mean_o (f_o(other(i)) - f_o(x_i))^2 / (2 S_o^2)):
/// of a linear f by how many of its standard deviations a prediction moves when the input moves by
/// one of its own; of numbers and text alike. On at most 400,000 predictions in all, of rows evenly
/// spaced, at least 100. Of more than 2,000 inputs r_j = sqrt(mean_i mean_o (df_o/dx_j s_j / S_o)^2)
/// stands in, s_j the standard deviation of x_j. Predictions are those of extrapolation free.
Relevance relevance_of(const Model& model, const Metadata& metadata, const Dataset& data,
                       Session& session);

}  // namespace mercer::cli
