// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows for a comparison: some to fit on, some held out, in double, standardised by the rows that
// are fitted on: dense rows centred and scaled, sparse ones and those of a kernel of bounded inputs
// scaled alone, as in the library's models, and weighed as there. Means and deviations are of the
// numbers that are there; missing inputs are then filled with the median of the rows fitted on.
// Rows held out are clipped to the range of these, as models clip them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "table_rows.h"
#include "training_set.h"

namespace mercer::cli {

struct Subsample {
  int64_t train_rows = 0;
  int64_t test_rows = 0;
  int64_t d = 0;
  int64_t m = 0;
  int64_t K = 0;  // classes, 0: regression
  Numbers X;      // double
  GrowingBuffer<double> Y;
  std::vector<double> weights;      // of all rows, in scores; empty: 1 each
  std::vector<double> fit_weights;  // of those fitted on: the same, times what their class weighs
  Rows train() const { return rows_of(X, 0, train_rows, d); }
  Rows train_y() const { return targets_of(Y, 0, train_rows, m); }
  /// The first `count` of the rows that are fitted on.
  Rows first(int64_t count) const { return rows_of(X, 0, count, d); }
  Rows first_y(int64_t count) const { return targets_of(Y, 0, count, m); }
  /// At most `most` of those held out.
  Rows test(int64_t most = INT64_MAX) const {
    return rows_of(X, train_rows, std::min(test_rows, most), d);
  }
  Rows test_y() const { return targets_of(Y, train_rows, test_rows, m); }
  double weight(int64_t i) const { return weights.empty() ? 1.0 : weights[static_cast<size_t>(i)]; }
  /// Of the rows that are fitted on; nullptr: 1 each.
  const double* fitting() const { return fit_weights.empty() ? nullptr : fit_weights.data(); }
  mercer_score_options scoring() const { return score_options_of(weights, train_rows); }
};

/// Shuffles by seed, fits on at most request.rows rows (and four
/// fifths of all), holds out at most half as many; fills what is missing. centred: else dense rows
/// are divided by their root mean square alone. Fails when the machine could not hold the kernel
/// matrix of the rows.
Subsample draw_subsample(TrainingSet&& set, const CompareRequest& request, bool centred);

}  // namespace mercer::cli
