// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows to predict against the ranges of the training rows. A kernel's features say nothing about
// places far from all training rows, and periodic ones answer there with any number: by default
// every input is clipped to its extremes, so that a prediction is that of the nearest place in the
// box of the training rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/rows.h"
#include "model/prepare/ranges.h"

namespace mercer::model {

/// What becomes of inputs outside their training range.
enum class Extrapolation { clip, free, refuse };

/// What a prediction met.
struct Outside {
  int64_t rows = 0;             // with some input outside its range
  int64_t values = 0;           // inputs outside their range
  std::vector<int64_t> inputs;  // the same for each input; empty: ranges are not known
  int64_t predictions = 0;      // limited to the targets' range
};

/// Rows that lie outside and how often each input does. Bounds are compared in the precision of X,
/// so that training rows are inside whatever they are rounded to. NaN is inside.
Outside count_outside(std::span<const Range> ranges, const Rows& X, Context& context);

/// INVALID_ARGUMENT naming the first row that lies outside, with input, value and range.
[[noreturn]] void refuse_outside(std::span<const Range> ranges, const Rows& X);

/// Rows with every input clipped to its extremes; sparse ones stay sparse: what is not listed is 0,
/// and is listed where its range does not hold 0.
class ClippedRows {
 public:
  ClippedRows(std::span<const Range> ranges, const Rows& X, Context& context);
  const Rows& rows() const noexcept { return rows_; }

 private:
  template <class T>
  void clip(const MatrixView<const T>& X, std::span<const Range> ranges, Context& context);
  template <class T>
  void clip(const CsrView<T>& X, std::span<const Range> ranges, Context& context);
  Rows rows_;
  Matrix<double> dense_;
  std::vector<int64_t> offsets_, indices_;
  std::vector<double> values_;
};

/// What scores predict: targets, or logs of their means.
enum class Link { identity, log };

struct Limits {
  double lowest, highest;
};
/// The ranges of the training targets widened by half of it on either side, in the units of scores.
/// The log of means that may be as small as 0 has no lower limit.
std::vector<Limits> target_limits(std::span<const Range> targets, Link link);

/// Scores (rows x targets) limited in place; how many that changed. NaN stays.
int64_t limit_scores(std::span<const Limits> limits, MatrixView<double> scores) noexcept;

}  // namespace mercer::model
