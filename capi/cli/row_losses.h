// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What each row adds to a score, from which its standard error follows.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset.h"
#include "mercer/mercer.hpp"

namespace mercer::cli {

/// Losses l_i whose mean is 1 - R^2 (K = 0: the squared error over the variance of its target, mean
/// over targets) or the error rate (scores of K classes). Means are by the data's weights.
std::vector<double> row_losses(const Matrix<double>& predicted, const Dataset& data, int64_t K);

struct MeanOfRows {
  double value = 0;
  double standard_error = 0;
};
/// weights: empty for 1 each.
MeanOfRows mean_of(const std::vector<double>& numbers, const std::vector<double>& weights);

}  // namespace mercer::cli
