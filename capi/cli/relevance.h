// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How inputs move predictions: on average, along their range, and those of single rows.
#pragma once

#include <string>
#include <vector>

#include "mercer/mercer.hpp"
#include "metadata.h"
#include "session.h"

namespace mercer::cli {

inline constexpr int64_t kMostSwitched = 2000;  // inputs that are switched one by one

struct Relevance {
  std::vector<std::string> names;  // of the inputs of files
  std::vector<double> values;      // descending
  std::vector<int64_t> inputs;     // which these are, from 0
};

/// With S_o the standard deviation of prediction o of m over the rows, and other(i) the row with
/// another row's value of input j,
///   r_j = sqrt(mean_i mean_o (f_o(other(i)) - f_o(x_i))^2 / (2 S_o^2)):
/// of a linear f by how many of its standard deviations a prediction moves when the input moves by
/// one of its own; of numbers and text alike. On at most 400,000 predictions in all, of rows evenly
/// spaced, at least 100; predictions are those of extrapolation free. Fails above 2,000 inputs.
Relevance relevance_of(const Model& model, const Metadata& metadata, const Dataset& data,
                       Session& session);

/// What people read of predictions: the probability of each class where the model has them, else
/// its score; of numbers each target.
Matrix<double> responses(const Model& model, const Rows& X, const mercer_predict_options& options,
                         Session& session);

/// Partial dependence (Friedman 2001): the mean response of rows whose input is set to one value.
struct Dependence {
  std::vector<double> numbers;      // at most 20 quantiles; none of text
  std::vector<std::string> levels;  // of text
  Matrix<double> means{0, 0};       // a row for each value
};
/// Over at most 200 of the rows.
Dependence dependence_of(const Model& model, const Metadata& metadata, const Dataset& data,
                         int64_t input, Session& session);

/// The median of each number and the most frequent level of each text, as the model's inputs; none
/// where there are more inputs than are switched.
std::vector<double> typical_row(const Metadata& metadata, const Dataset& data);

/// Shapley values (Strumbelj and Kononenko 2014): what input j of row i adds to its response in
/// `columns[i]` as inputs change from their typical value to the row's one by one, the mean over
/// random orders, each also backwards. Of a row the parts and the typical response add up to its
/// response. Fails for a model without a typical row.
struct Parts {
  std::vector<double> typical;  // of each row, the response of the typical row
  Matrix<double> moved;         // rows x inputs of the file
};
Parts parts_of(const Model& model, const Metadata& metadata, const Dataset& data,
               const std::vector<int64_t>& columns, const mercer_predict_options& options,
               Session& session);

}  // namespace mercer::cli
