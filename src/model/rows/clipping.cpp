// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/rows/clipping.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "model/prepare/row_coding.h"
#include "random/scalar_math.h"

namespace mercer::model {
namespace {

constexpr int64_t kGuardedRows = 256;

/// The expected largest of n normal numbers, about (Blom 1958).
double expected_largest(int64_t n) {
  const auto rows = static_cast<double>(n);
  return random::normal_quantile((rows - 0.375) / (rows + 0.25));
}

/// The extremes: rows are compared in their own precision, and clipped to what doubles are.
template <class T>
struct Bounds {
  explicit Bounds(std::span<const Range> of) : ranges(of) {
    for (const Range& range : ranges) {
      if (range.lowest > 0 || range.highest < 0)
        not_zero.push_back(static_cast<int64_t>(lowest.size()));
      lowest.push_back(static_cast<T>(range.lowest));
      highest.push_back(static_cast<T>(range.highest));
    }
  }
  bool outside(int64_t column, double x) const noexcept {
    const auto j = static_cast<size_t>(column);
    return static_cast<T>(x) < lowest[j] || static_cast<T>(x) > highest[j];
  }
  double clipped(int64_t column, double x) const noexcept {
    const Range& range = ranges[static_cast<size_t>(column)];
    return x < range.lowest ? range.lowest : x > range.highest ? range.highest : x;
  }
  std::span<const Range> ranges;
  std::vector<T> lowest, highest;
  std::vector<int64_t> not_zero;  // columns whose range excludes 0
};

template <class T>
bool inside(const MatrixView<const T>& X, int64_t i, const Bounds<T>& bounds) noexcept {
  const T *x = X.row(i), *lowest = bounds.lowest.data(), *highest = bounds.highest.data();
  int outside = 0;  // no branch, so that it vectorises
  for (int64_t j = 0; j < X.cols; ++j)
    outside |= static_cast<int>(x[j] < lowest[j]) | static_cast<int>(x[j] > highest[j]);
  return outside == 0;
}

/// Calls body(column, x) for every input of row i outside its range.
template <class T, class Body>
void for_each_outside(const MatrixView<const T>& X, int64_t i, const Bounds<T>& bounds,
                      double* sums, const Body& body) {
  if (inside(X, i, bounds)) return;
  for_each_number(X, i, sums, [&](int64_t j, double x) {
    if (bounds.outside(j, x)) body(j, x);
  });
}

template <class T, class Body>
void for_each_outside(const CsrView<T>& X, int64_t i, const Bounds<T>& bounds, double* sums,
                      const Body& body) {
  add_row(X, i, sums);
  for (const int64_t j : bounds.not_zero) {
    if (sums[j] == 0) body(j, 0.0);
  }
  take_stored(X, i, sums, [&](int64_t j, double x) {
    if (bounds.outside(j, x)) body(j, x);
  });
}

void add_to(int64_t& total, int64_t count) noexcept {
  std::atomic_ref<int64_t>(total).fetch_add(count, std::memory_order_relaxed);
}

template <class View>
void count_rows(const View& X, const Bounds<RowNumberOf<View>>& bounds, int64_t sums_per_worker,
                Context& context, RangeViolations& found) {
  const int64_t chunks = ceil_divide(X.rows, kGuardedRows);
  const int workers = worker_count(context, chunks);
  const Matrix<double> sums(workers, sums_per_worker, context, "sums of sparse rows");
  sums.fill(0);
  parallel_for(
      context, chunks,
      [&](int64_t chunk, int worker) noexcept {
        double* own = sums.view().row(worker);
        int64_t rows = 0, values = 0;
        for (int64_t i = chunk * kGuardedRows; i < std::min(X.rows, (chunk + 1) * kGuardedRows);
             ++i) {
          const int64_t before = values;
          for_each_outside(X, i, bounds, own, [&](int64_t j, double) {
            ++values;
            add_to(found.inputs[j], 1);
          });
          rows += static_cast<int64_t>(values > before);
        }
        add_to(found.rows, rows);
        add_to(found.values, values);
      },
      0);
}

}  // namespace

std::vector<Range> widened(std::span<const Range> ranges, int64_t rows) {
  std::vector<Range> wide(ranges.begin(), ranges.end());
  if (rows >= kRangeRows || rows < 2) return wide;
  const double share = (expected_largest(kRangeRows) / expected_largest(rows) - 1) / 2;
  for (Range& range : wide) {
    const double margin = share * (range.highest - range.lowest);
    range.lowest -= margin;
    range.highest += margin;
  }
  return wide;
}

void RangeViolations::add(const RangeViolations& more) {
  rows += more.rows;
  values += more.values;
  predictions += more.predictions;
  inputs.resize(std::max(inputs.size(), more.inputs.size()));
  for (size_t j = 0; j < more.inputs.size(); ++j) inputs[j] += more.inputs[j];
}

RangeViolations count_outside(std::span<const Range> ranges, const Rows& X, Context& context) {
  RangeViolations found;
  found.inputs.assign(ranges.size(), 0);
  X.visit([&](const auto& view) {
    using T = RowNumberOf<decltype(view)>;
    count_rows(view, Bounds<T>(ranges), sum_count(X), context, found);
  });
  return found;
}

void refuse_outside(std::span<const Range> ranges, const Rows& X) {
  std::vector<double> sums(sum_count(X), 0.0);
  X.visit([&](const auto& view) {
    using T = RowNumberOf<decltype(view)>;
    const Bounds<T> bounds(ranges);
    for (int64_t i = 0; i < view.rows; ++i) {
      for_each_outside(view, i, bounds, sums.data(), [&](int64_t j, double x) {
        const Range& range = ranges[j];
        fail(MERCER_INVALID_ARGUMENT, at(i, j),
             "X is %g, outside the range of the training rows, %g to %g, and extrapolation is "
             "refused",
             x, range.lowest, range.highest);
      });
    }
  });
  fail(MERCER_INTERNAL, "no row lies outside");
}

ClippedRows::ClippedRows(std::span<const Range> ranges, const Rows& X, Context& context)
    : rows_(X) {
  if (count_outside(ranges, X, context).rows == 0) return;
  X.visit([&](const auto& view) { clip(view, ranges, context); });
}

template <class T>
void ClippedRows::clip(const MatrixView<const T>& X, std::span<const Range> ranges,
                       Context& context) {
  const Bounds<T> bounds(ranges);
  dense_ = Matrix<double>(X.rows, X.cols, context, "clipped rows");
  for (int64_t i = 0; i < X.rows; ++i) {
    double* to = dense_.view().row(i);
    for (int64_t j = 0; j < X.cols; ++j) to[j] = bounds.clipped(j, X.row(i)[j]);
  }
  rows_ = Rows(MatrixView<const double>(dense_.view()));
}

template <class T>
void ClippedRows::clip(const CsrView<T>& X, std::span<const Range> ranges, Context& context) {
  const Bounds<T> bounds(ranges);
  const Matrix<double> sums(1, X.cols, context, "sums of sparse rows");
  sums.fill(0);
  double* sum = sums.data();
  const auto list = [&](int64_t j, double x) {
    indices_.push_back(j);
    values_.push_back(bounds.clipped(j, x));
  };
  offsets_.push_back(0);
  for (int64_t i = 0; i < X.rows; ++i) {
    add_row(X, i, sum);
    for (const int64_t j : bounds.not_zero) {
      if (sum[j] == 0) list(j, 0.0);
    }
    take_stored(X, i, sum, list);
    offsets_.push_back(static_cast<int64_t>(indices_.size()));
  }
  rows_ = Rows(CsrView<double>{X.rows, X.cols, offsets_.data(), indices_.data(), values_.data()});
}

std::vector<Limits> target_limits(std::span<const Range> targets, Link link) {
  std::vector<Limits> limits;
  for (const Range& range : targets) {
    const double half = 0.5 * range.highest - 0.5 * range.lowest;
    Limits one{range.lowest - half, range.highest + half};
    if (link == Link::unknown) one = {-kInfinity, kInfinity};
    if (link == Link::log) one = {std::log(std::max(one.lowest, 0.0)), std::log(one.highest)};
    limits.push_back(one);
  }
  return limits;
}

int64_t limit_scores(std::span<const Limits> limits, MatrixView<double> scores) noexcept {
  int64_t changed = 0;
  for (int64_t i = 0; i < scores.rows; ++i) {
    for (int64_t o = 0; o < scores.cols; ++o) {
      const auto [lowest, highest] = limits[o];
      double& score = scores.row(i)[o];
      if (score < lowest || score > highest) ++changed;
      score = score < lowest ? lowest : score > highest ? highest : score;
    }
  }
  return changed;
}

}  // namespace mercer::model
