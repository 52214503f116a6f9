// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Clipping of rows to predict. Predictions far from all training rows mean nothing, and periodic
// features give arbitrary ones. By default every input is clipped to its training extremes, which
// are widened where rows are few: the prediction is that of the nearest point in that box.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "model/prepare/preparation.h"
#include "model/prepare/row_summary.h"

namespace mercer::model {

/// The ranges of so many training rows, widened to those that are clipped to. A new row lies outside
/// a range of n rows with probability 2 / (n + 1), so that of a few dozen rows a range means little.
/// It is widened on either side to that expected of kRangeRows normal rows, whose 1 % and 99 %
/// quantiles are no longer their extremes; of more rows it stays.
std::vector<Range> widened(std::span<const Range> ranges, int64_t rows);
inline constexpr int64_t kRangeRows = 100;

/// Counts of what a prediction clipped or found outside.
struct RangeViolations {
  int64_t rows = 0;                       // with some input outside its range
  int64_t values = 0;                     // inputs outside their range
  std::vector<int64_t> inputs;            // the same for each input; empty: ranges are unknown
  int64_t predictions = 0;                // limited to the targets' range
  void add(const RangeViolations& more);  // other rows of the same inputs
};

/// Counts the rows outside, and for each input how often. Compares in the precision of X, so that
/// rounded training rows are inside. NaN is inside.
RangeViolations count_outside(std::span<const Range> ranges, const Rows& X, Context& context);

/// INVALID_ARGUMENT naming the first row that lies outside, with input, value and range.
[[noreturn]] void refuse_outside(std::span<const Range> ranges, const Rows& X);

/// Rows with every input clipped to its extremes. Sparse rows stay sparse: a zero is stored only if
/// its range excludes 0.
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

/// Scores predict targets, logs of their means, or what a caller's loss makes of them.
enum class Link { identity, log, unknown };

struct Limits {
  double lowest, highest;
};
/// Each training target's range widened by half of it on either side, in the units of scores. The
/// log of a mean that may be 0 has no lower limit, scores of an unknown meaning have none.
std::vector<Limits> target_limits(std::span<const Range> targets, Link link);

/// Limits scores (rows x targets) in place and returns how many changed. NaN stays.
int64_t limit_scores(std::span<const Limits> limits, MatrixView<double> scores) noexcept;

}  // namespace mercer::model
