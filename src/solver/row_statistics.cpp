// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Accumulation of Z'Z, Z'Y and sums. Blocks of kRowBlock rows keep the widened rows small enough to
// share the last-level cache with dsyrk's panels, and long enough that dsyrk runs at the rate it
// reaches on all rows at once.
#include "solver/row_statistics.h"

#include <algorithm>
#include <type_traits>

#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "solver/row_block.h"

namespace mercer::solver {
namespace {

int64_t checked_features(int64_t features) {
  require(features >= 1, MERCER_INVALID_ARGUMENT, "features = %lld, expected at least 1",
          static_cast<long long>(features));
  return features;
}

int64_t checked_outputs(int64_t outputs) {
  require(outputs >= 0, MERCER_INVALID_ARGUMENT, "outputs = %lld, expected at least 0",
          static_cast<long long>(outputs));
  return outputs;
}

int64_t sums_size(int64_t features, int64_t outputs) {
  return checked_add(features, checked_multiply(2, outputs, "statistics"), "statistics");
}

/// Rows of Y summed into sum_y and sum_y2. Y is narrow: not worth threads.
void add_output_sums(double sign, MatrixView<const double> Y, const RowStatistics::Parts& parts) {
  for (int64_t i = 0; i < Y.rows; ++i) {
    for (int64_t j = 0; j < Y.cols; ++j) {
      const auto column = static_cast<std::size_t>(j);
      parts.sum_outputs[column] += sign * Y(i, j);
      parts.sum_squared_outputs[column] += sign * Y(i, j) * Y(i, j);
    }
  }
}

void add_scaled(double sign, std::span<const double> from, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += sign * from[i];
}

}  // namespace

RowStatistics::RowStatistics(int64_t features, int64_t outputs)
    : features_(checked_features(features)),
      outputs_(checked_outputs(outputs)),
      gram_(features, features),
      cross_(features, outputs),
      sums_(sums_size(features, outputs)) {
  gram_.fill(0);
  cross_.fill(0);
  std::fill(sums_.begin(), sums_.end(), 0.0);
}

std::span<const double> RowStatistics::sum_features() const noexcept {
  return {sums_.data(), static_cast<std::size_t>(features_)};
}
std::span<const double> RowStatistics::sum_outputs() const noexcept {
  return {sums_.data() + features_, static_cast<std::size_t>(outputs_)};
}
std::span<const double> RowStatistics::sum_squared_outputs() const noexcept {
  return {sums_.data() + features_ + outputs_, static_cast<std::size_t>(outputs_)};
}

RowStatistics::Parts RowStatistics::parts() noexcept {
  const auto features = static_cast<std::size_t>(features_);
  const auto outputs = static_cast<std::size_t>(outputs_);
  return {rows_,
          gram_.view(),
          cross_.view(),
          {sums_.data(), features},
          {sums_.data() + features_, outputs},
          {sums_.data() + features_ + outputs_, outputs}};
}

void RowStatistics::require_block(int64_t rows, int64_t cols, MatrixView<const double> Y) const {
  require(cols == features_, MERCER_DIMENSION_MISMATCH,
          "Z has %lld columns, expected features = %lld", static_cast<long long>(cols),
          static_cast<long long>(features_));
  require(Y.cols == outputs_, MERCER_DIMENSION_MISMATCH,
          "Y has %lld columns, expected outputs = %lld", static_cast<long long>(Y.cols),
          static_cast<long long>(outputs_));
  require(outputs_ == 0 || Y.rows == rows, MERCER_DIMENSION_MISMATCH,
          "Y has %lld rows, expected %lld as in Z", static_cast<long long>(Y.rows),
          static_cast<long long>(rows));
}

template <class T>
void RowStatistics::accumulate(double sign, MatrixView<const T> Z, MatrixView<const double> Y,
                               Context& context) {
  constexpr bool kWiden = std::is_same_v<T, float>;
  require_block(Z.rows, Z.cols, Y);
  if (sign > 0) checked_add(rows_, Z.rows, "rows of statistics");
  require(sign > 0 || Z.rows <= rows_, MERCER_INVALID_ARGUMENT,
          "remove: %lld rows, but only %lld are present", static_cast<long long>(Z.rows),
          static_cast<long long>(rows_));
  const int64_t block = std::min(kRowBlock, Z.rows);
  const int64_t needed = checked_multiply((kWiden ? block : 0) + 1, features_, "row block");
  if (scratch_.size() < needed) {
    context.require_memory(checked_multiply(8, needed, "row block"), "a block of rows");
    scratch_ = AlignedBuffer<double>(needed);
  }
  double* const column_sums = scratch_.data();
  const Parts sums = parts();
  Stage stage(context, Z.rows);
  for (int64_t first = 0; first < Z.rows; first += block) {
    const int64_t last = std::min(first + block, Z.rows);
    const MatrixView<const T> rows = Z.block_rows(first, last);
    MatrixView<const double> wide;
    if constexpr (kWiden) {
      const MatrixView<double> target{column_sums + features_, last - first, features_};
      widen_and_sum(rows, target, column_sums, context);
      wide = target;
    } else {
      sum_columns(rows, column_sums, context);
      wide = rows;
    }
    // Cancellation throws above or below, never between these.
    linalg::rank_update(sign, wide, gram_.view());
    add_scaled(sign, {column_sums, sums.sum_features.size()}, sums.sum_features);
    if (outputs_ > 0) {
      const MatrixView<const double> targets = Y.block_rows(first, last);
      linalg::multiply(sign, linalg::Transpose::yes, wide, linalg::Transpose::no, targets, 1.0,
                       cross_.view());
      add_output_sums(sign, targets, sums);
    }
    rows_ += sign > 0 ? last - first : first - last;
    stage.advance(last - first);
    context.checkpoint();
  }
}

void RowStatistics::add(MatrixView<const float> Z, MatrixView<const double> Y, Context& context) {
  accumulate(1.0, Z, Y, context);
}
void RowStatistics::add(MatrixView<const double> Z, MatrixView<const double> Y, Context& context) {
  accumulate(1.0, Z, Y, context);
}
void RowStatistics::remove(MatrixView<const float> Z, MatrixView<const double> Y,
                           Context& context) {
  accumulate(-1.0, Z, Y, context);
}
void RowStatistics::remove(MatrixView<const double> Z, MatrixView<const double> Y,
                           Context& context) {
  accumulate(-1.0, Z, Y, context);
}

void RowStatistics::accumulate(double sign, const RowStatistics& other) {
  require(other.features_ == features_ && other.outputs_ == outputs_, MERCER_DIMENSION_MISMATCH,
          "other has %lld features and %lld outputs, expected %lld and %lld",
          static_cast<long long>(other.features_), static_cast<long long>(other.outputs_),
          static_cast<long long>(features_), static_cast<long long>(outputs_));
  if (sign > 0) checked_add(rows_, other.rows_, "rows of statistics");
  require(sign > 0 || other.rows_ <= rows_, MERCER_INVALID_ARGUMENT,
          "subtract: other holds %lld rows, but only %lld are present",
          static_cast<long long>(other.rows_), static_cast<long long>(rows_));
  for (int64_t i = 0; i < features_; ++i) {
    const auto length = static_cast<std::size_t>(i + 1);
    add_scaled(sign, {&other.gram_(i, 0), length}, {&gram_(i, 0), length});
  }
  const auto cross_size = static_cast<std::size_t>(features_ * outputs_);
  add_scaled(sign, {other.cross_.data(), cross_size}, {cross_.data(), cross_size});
  const auto sums_count = static_cast<std::size_t>(sums_.size());
  add_scaled(sign, {other.sums_.data(), sums_count}, {sums_.data(), sums_count});
  rows_ += sign > 0 ? other.rows_ : -other.rows_;
}

void RowStatistics::merge(const RowStatistics& other) { accumulate(1.0, other); }
void RowStatistics::subtract(const RowStatistics& other) { accumulate(-1.0, other); }
void RowStatistics::release_scratch() noexcept { scratch_ = AlignedBuffer<double>(); }

RowStatistics RowStatistics::clone() const {
  RowStatistics copy(features_, outputs_);
  copy.merge(*this);
  return copy;
}

}  // namespace mercer::solver
