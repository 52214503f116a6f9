// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How much each input of a file moves what a model predicts, on given rows.
#pragma once

#include <string>
#include <vector>

#include "loaded_model.h"
#include "session.h"

namespace mercer::cli {

struct Relevance {
  std::vector<std::string> names;  // of the inputs of files
  std::vector<double> values;      // descending
};

/// With S_o the standard deviation of prediction o of m over the rows, of a number x_j of standard
/// deviation s_j
///   r_j = sqrt(mean_i mean_o (df_o/dx_j(x_i) s_j / S_o)^2):
/// by how many of its standard deviations a prediction moves when the input moves by one of its
/// own. Text, and numbers of two values, have no derivative: with other(i) the row with another
/// row's value of the input, drawn as often as the rows have it,
///   r_j = sqrt(mean_i mean_o E (f_o(other(i)) - f_o(x_i))^2 / (2 S_o^2)),
/// the same for a linear f; on at most 400,000 predictions in all, of rows evenly spaced. Of sparse
/// rows, which may have any number of inputs, all go by derivatives. A missing number moves
/// nothing. Predictions are those of extrapolation free.
Relevance relevance_of(const LoadedModel& loaded, const Dataset& data, Session& session);

}  // namespace mercer::cli
