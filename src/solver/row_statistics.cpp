// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Accumulation of Z'Z, Z'Y and sums. Blocks of kRowBlock rows keep the widened rows small enough to
// share the last-level cache with dsyrk's panels, and long enough that dsyrk runs at the rate it
// reaches on all rows at once.
#include "solver/row_statistics.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "solver/origin.h"
#include "solver/row_block.h"
#include "solver/row_weights.h"

namespace mercer::solver {
namespace {

int64_t checked_features(int64_t features) {
  require(features >= 1, MERCER_INVALID_ARGUMENT, "features = %ld, expected at least 1", features);
  return features;
}

int64_t checked_outputs(int64_t outputs) {
  require(outputs >= 0, MERCER_INVALID_ARGUMENT, "outputs = %ld, expected at least 0", outputs);
  return outputs;
}

int64_t sums_size(int64_t features, int64_t outputs) {
  return checked_add(checked_multiply(2, features, "statistics"),
                     checked_multiply(3, outputs, "statistics"), "statistics");
}

/// Y is narrow: not worth threads.
void add_squares(double sign, MatrixView<const double> Y, std::span<double> squares) {
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t j = 0; j < Y.cols; ++j) squares[j] += sign * Y(i, j) * Y(i, j);
}

/// wide, sums: scratch for the rows and one number per column, used with weights.
template <class T>
void write_mean(MatrixView<const T> rows, std::span<const double> weights, MatrixView<double> wide,
                double* sums, std::span<double> mean, Context& context) {
  if (weights.empty()) {
    sum_columns(rows, mean.data(), context);
  } else {
    std::ranges::fill(mean, 0.0);
    shift_and_sum(rows, mean.data(), wide, sums, context);
    weigh_and_sum(weights, wide, mean.data(), context);
  }
  const double n = total_weight(weights, rows.rows);
  for (double& value : mean) value /= n;
}

/// A remaining weight below this share of the removed weights is rounding error.
constexpr double kRest = kEpsilon;

bool all_finite(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

}  // namespace

RowStatistics::RowStatistics(int64_t features, int64_t outputs)
    : features_(checked_features(features)),
      outputs_(checked_outputs(outputs)),
      gram_(features, features),
      cross_(features, outputs),
      sums_(sums_size(features, outputs)) {
  clear();
}

RowStatistics::RowStatistics(int64_t features, int64_t outputs, Context& context)
    : features_(checked_features(features)),
      outputs_(checked_outputs(outputs)),
      gram_(features, features, context, "the statistics"),
      cross_(features, outputs, context, "the statistics"),
      sums_(sums_size(features, outputs), context, "the statistics") {
  clear();
}

RowStatistics::Parts RowStatistics::parts() noexcept {
  const auto D = static_cast<std::size_t>(features_), m = static_cast<std::size_t>(outputs_);
  double* const sums = sums_.data();
  return {rows_,
          weight_,
          gram_.view(),
          cross_.view(),
          {sums, D},
          {sums + D, m},
          {sums + D + m, m},
          {sums + D + 2 * m, D},
          {sums + 2 * D + 2 * m, m}};
}

// parts() writes nothing itself.
std::span<const double> RowStatistics::sum_features() const noexcept {
  return const_cast<RowStatistics*>(this)->parts().sum_features;
}
std::span<const double> RowStatistics::sum_outputs() const noexcept {
  return const_cast<RowStatistics*>(this)->parts().sum_outputs;
}
std::span<const double> RowStatistics::sum_squared_outputs() const noexcept {
  return const_cast<RowStatistics*>(this)->parts().sum_squared_outputs;
}
std::span<const double> RowStatistics::origin_features() const noexcept {
  return const_cast<RowStatistics*>(this)->parts().origin_features;
}
std::span<const double> RowStatistics::origin_outputs() const noexcept {
  return const_cast<RowStatistics*>(this)->parts().origin_outputs;
}

void RowStatistics::require_block(int64_t rows, int64_t cols, MatrixView<const double> Y) const {
  require(cols == features_, MERCER_DIMENSION_MISMATCH,
          "Z has %ld columns, expected features = %ld", cols, features_);
  require(Y.cols == outputs_, MERCER_DIMENSION_MISMATCH,
          "Y has %ld columns, expected outputs = %ld", Y.cols, outputs_);
  require(outputs_ == 0 || Y.rows == rows, MERCER_DIMENSION_MISMATCH,
          "Y has %ld rows, expected %ld as in Z", Y.rows, rows);
}

int64_t RowStatistics::bytes_beside_gram(int64_t features, int64_t outputs) {
  constexpr const char* kWhat = "the statistics";
  const int64_t cross = checked_multiply(features, outputs, kWhat);
  return checked_multiply(8, checked_add(cross, sums_size(features, outputs), kWhat), kWhat);
}

/// Scratch of one block: column sums, rows and targets about the origin.
struct RowStatistics::Scratch {
  double* column_sums;
  double* target_sums;
  double* rows;
  double* targets;
};

RowStatistics::Scratch RowStatistics::scratch_for(int64_t rows, Context& context) {
  const int64_t width = features_ + outputs_;
  const int64_t needed = checked_multiply(rows + 1, width, "row block");
  if (scratch_.size() < needed) {
    release_scratch();
    scratch_ = AlignedBuffer<double>(needed, context, "a block of rows");
  }
  double* const first = scratch_.data();
  return {first, first + features_, first + width, first + width + rows * features_};
}

template <class T>
void RowStatistics::accumulate_block(double sign, MatrixView<const T> Z, MatrixView<const double> Y,
                                     Weights weights, const Scratch& scratch, Context& context) {
  const Parts sums = parts();
  const double added = total_weight(weights, Z.rows);
  const MatrixView<double> z{scratch.rows, Z.rows, features_};
  const MatrixView<double> y{scratch.targets, Z.rows, outputs_};
  // Earlier rows have weight 0: their sums are zero about any origin.
  if (sign > 0 && weight_ == 0 && added > 0) {
    write_mean(Z, weights, z, scratch.column_sums, sums.origin_features, context);
    if (outputs_ > 0) write_mean(Y, weights, y, scratch.target_sums, sums.origin_outputs, context);
  }
  shift_and_sum(Z, sums.origin_features.data(), z, scratch.column_sums, context);
  if (outputs_ > 0) shift_and_sum(Y, sums.origin_outputs.data(), y, scratch.target_sums, context);
  if (!weights.empty()) {
    weigh_and_sum(weights, z, scratch.column_sums, context);
    weigh_and_sum(weights, y, scratch.target_sums, context);
  }
  // Cancellation throws above or below, never between these.
  linalg::rank_update(sign, z, gram_.view());
  add_scaled(sign, {scratch.column_sums, sums.sum_features.size()}, sums.sum_features);
  if (outputs_ > 0) {
    linalg::multiply(sign, linalg::Transpose::yes, z, linalg::Transpose::no, y, 1.0, cross_.view());
    add_scaled(sign, {scratch.target_sums, sums.sum_outputs.size()}, sums.sum_outputs);
    add_squares(sign, y, sums.sum_squared_outputs);
  }
  rows_ += sign > 0 ? Z.rows : -Z.rows;
  heaviest_ = std::max(heaviest_, weight_);
  weight_ += sign * added;
  if (nothing_left(sign)) clear();
}

template <class T>
void RowStatistics::accumulate(double sign, MatrixView<const T> Z, MatrixView<const double> Y,
                               Weights weights, Context& context) {
  require_block(Z.rows, Z.cols, Y);
  require_weights(weights, Z.rows);
  if (sign > 0) checked_add(rows_, Z.rows, "rows of statistics");
  require(sign > 0 || Z.rows <= rows_, MERCER_INVALID_ARGUMENT,
          "remove: %ld rows, but only %ld are present", Z.rows, rows_);
  const int64_t block = std::min(kRowBlock, Z.rows);
  const Scratch scratch = scratch_for(block, context);
  Stage stage(context, Z.rows);
  for (int64_t first = 0; first < Z.rows; first += block) {
    const int64_t count = std::min(block, Z.rows - first);
    const auto targets = outputs_ > 0 ? Y.block_rows(first, first + count) : Y;
    const Weights part = weights.empty() ? weights : weights.subspan(first, count);
    accumulate_block(sign, Z.block_rows(first, first + count), targets, part, scratch, context);
    stage.advance(count);
    context.checkpoint();
  }
  if (sign < 0) keep_origin_near();
  if (sign < 0) clip_squares();
}

void RowStatistics::add(MatrixView<const float> Z, MatrixView<const double> Y, Context& context,
                        Weights weights) {
  accumulate(1.0, Z, Y, weights, context);
}
void RowStatistics::add(MatrixView<const double> Z, MatrixView<const double> Y, Context& context,
                        Weights weights) {
  accumulate(1.0, Z, Y, weights, context);
}
void RowStatistics::remove(MatrixView<const float> Z, MatrixView<const double> Y, Context& context,
                           Weights weights) {
  accumulate(-1.0, Z, Y, weights, context);
}
void RowStatistics::remove(MatrixView<const double> Z, MatrixView<const double> Y, Context& context,
                           Weights weights) {
  accumulate(-1.0, Z, Y, weights, context);
}

void RowStatistics::release_scratch() noexcept { scratch_ = AlignedBuffer<double>(); }

void RowStatistics::clear() {
  gram_.fill(0);
  cross_.fill(0);
  std::ranges::fill(sums_, 0.0);
  weight_ = heaviest_ = 0;
}

bool RowStatistics::nothing_left(double sign) const noexcept {
  return rows_ == 0 || (sign < 0 && weight_ <= kRest * heaviest_);
}

void RowStatistics::clip_squares() {
  for (int64_t i = 0; i < features_; ++i) gram_(i, i) = gram_(i, i) < 0 ? 0.0 : gram_(i, i);
  for (double& squares : parts().sum_squared_outputs) squares = squares < 0 ? 0.0 : squares;
}

void RowStatistics::keep_origin_near() {
  if (rows_ > 0 && origin_is_far(*this)) move_origin(*this, mean_of(*this));
}

void RowStatistics::require_finite() const {
  require(
      all_finite({sums_.data(), static_cast<std::size_t>(sums_.size())}) && std::isfinite(weight_),
      MERCER_INVALID_ARGUMENT,
      "the statistics' sums are not finite: NaN or Inf was added, or numbers whose squares "
      "overflow");
  for (int64_t i = 0; i < features_; ++i)
    require(std::isfinite(gram_(i, i)), MERCER_INVALID_ARGUMENT,
            "the sum of squares of feature %ld (counted from 0) is %g, expected a finite number: "
            "NaN or Inf was added, or numbers whose squares overflow",
            i, gram_(i, i));
}

}  // namespace mercer::solver
