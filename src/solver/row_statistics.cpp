// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Accumulation, addition and subtraction of statistics, their origin, and their sums about zero.
#include "solver/row_statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "base/context.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/views.h"
#include "linalg/blas.h"
#include "solver/row_weights.h"

namespace mercer::solver {

// Prepares a block of rows for RowStatistics in one pass: widens to double, subtracts an origin and
// sums columns.

/// wide (same shape as Z) = Z - 1 origin', sums[j] = sum_i wide(i, j). Sums run down the rows in
/// order, whatever the thread count.
template <class T>
void shift_and_sum(MatrixView<const T> Z, const double* origin, MatrixView<double> wide,
                   double* sums, Context& context);
/// sums[j] = sum_i Z(i, j), in double.
template <class T>
void sum_columns(MatrixView<const T> Z, double* sums, Context& context);

/// Recomputes sums[j] = sum_i w_i wide(i, j), then multiplies rows by the roots of their weights.
void weigh_and_sum(std::span<const double> weights, MatrixView<double> wide, double* sums,
                   Context& context);

// Accumulation of Z'Z, Z'Y and sums. Blocks of kRowBlock rows keep the widened rows small enough to
// share the last-level cache with dsyrk's panels, and long enough that dsyrk runs at the rate it
// reaches on all rows at once.

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

constexpr int64_t kStrip =
    512;  // 4 KiB of sums; a row's strip of floats is 2 KiB, long enough to prefetch

int64_t strips(int64_t columns) { return ceil_divide(columns, kStrip); }

using Row = std::vector<double>;

// Squared distance of mean and origin in deviations: up to here centring loses at most four digits.
constexpr double kFar = 1e4;

MatrixView<const double> as_row(const Row& row) {
  return {row.data(), 1, static_cast<int64_t>(row.size())};
}

Row divided(std::span<const double> sums, double n) {
  Row mean(sums.size(), 0.0);
  if (n > 0) std::ranges::transform(sums, mean.begin(), [n](double sum) { return sum / n; });
  return mean;
}

Row sum_of(std::span<const double> a, std::span<const double> b) {
  Row sum(a.size());
  std::ranges::transform(a, b, sum.begin(), std::plus<>());
  return sum;
}

/// weight m m', the contribution of a mean m to second moments.
void add_share_of_mean(double weight, const MeanRow& mean, const RowStatistics::Parts& parts) {
  linalg::rank_update(weight, as_row(mean.features), parts.gram);
  if (mean.outputs.empty()) return;
  linalg::multiply(weight, linalg::Transpose::yes, as_row(mean.features), linalg::Transpose::no,
                   as_row(mean.outputs), 1.0, parts.cross);
  for (std::size_t j = 0; j < mean.outputs.size(); ++j)
    parts.sum_squared_outputs[j] += weight * mean.outputs[j] * mean.outputs[j];
}

/// mean + (from - to), the difference of origins first: it is small and exact.
Row moved(const Row& mean, std::span<const double> from, std::span<const double> to) {
  Row result(mean.size());
  for (std::size_t j = 0; j < result.size(); ++j) result[j] = mean[j] + (from[j] - to[j]);
  return result;
}

std::vector<double> plain(std::span<const double> sums, std::span<const double> origin, double n) {
  std::vector<double> result(sums.size());
  for (std::size_t j = 0; j < result.size(); ++j) result[j] = sums[j] + n * origin[j];
  return result;
}

void require_sum(const char* name, int64_t i, int64_t j, double sum, bool is_square, bool is_zero) {
  require(std::isfinite(sum) && !(is_square && sum < 0) && !(is_zero && sum != 0),
          MERCER_INVALID_ARGUMENT, "%s(%ld, %ld) = %g, expected %s", name, i, j, sum,
          is_zero     ? "0, since n = 0"
          : is_square ? "a finite sum of squares"
                      : "a finite number");
}

void require_sums(const char* name, std::span<const double> sums, bool are_squares, bool are_zero) {
  for (std::size_t j = 0; j < sums.size(); ++j)
    require_sum(name, 0, static_cast<int64_t>(j), sums[j], are_squares, are_zero);
}

bool all_zero(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [](double x) { return x == 0; });
}

// Tolerance of the Cauchy-Schwarz inequality: single precision over blocks of 1,024 rows has errors
// of at most 1,024 2^-24 of the right side.
constexpr double kSlack = 1e-4;

// Removed rows leave rounding errors of larger sums behind.
constexpr double kFloor = 1e-6;

void require_product(const char* name, int64_t i, int64_t j, double sum, double a, double b,
                     double floor) {
  if (floor == 0) return;  // all features, or all outputs, are 0
  require(std::fabs(sum) <= (1 + kSlack) * std::sqrt(a) * std::sqrt(b) + floor,
          MERCER_INVALID_ARGUMENT,
          "%s(%ld, %ld) = %g, expected at most %g in size, the root of the sums of squares %g and "
          "%g: no rows have these sums",
          name, i, j, sum, std::sqrt(a) * std::sqrt(b), a, b);
}

// Every 2 x 2 minor of a matrix of sums of squares and products is >= 0.
void require_products(const PlainSums& sums) {
  double most = 0, most_output = 0;
  for (int64_t i = 0; i < sums.gram.rows; ++i) most = std::max(most, sums.gram(i, i));
  for (const double square : sums.sum_squared_outputs) most_output = std::max(most_output, square);
  for (int64_t i = 0; i < sums.gram.rows; ++i) {
    const double square = sums.gram(i, i);
    for (int64_t j = 0; j < i; ++j)
      require_product("gram", i, j, sums.gram(i, j), square, sums.gram(j, j), kFloor * most);
    for (int64_t j = 0; j < sums.cross.cols; ++j) {
      require_product("cross", i, j, sums.cross(i, j), square, sums.sum_squared_outputs[j],
                      kFloor * std::sqrt(most) * std::sqrt(most_output));
    }
  }
}

void require_plain_sums(const PlainSums& sums) {
  require(sums.rows >= 0, MERCER_INVALID_ARGUMENT, "n = %ld, expected at least 0", sums.rows);
  const bool none = sums.rows == 0;
  for (int64_t i = 0; i < sums.gram.rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) require_sum("gram", i, j, sums.gram(i, j), i == j, none);
    for (int64_t j = 0; j < sums.cross.cols; ++j)
      require_sum("cross", i, j, sums.cross(i, j), false, none);
  }
  require_sums("sum_z", sums.sum_features, false, none);
  require_sums("sum_y", sums.sum_outputs, false, none);
  require_sums("sum_y2", sums.sum_squared_outputs, true, none);
  require_products(sums);
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

void RowStatistics::keep(StateBytes& state) {
  state.number(rows_);
  state.number(weight_);
  state.number(heaviest_);
  for (int64_t i = 0; i < features_; ++i)
    state.numbers(std::span(gram_.view().row(i), static_cast<std::size_t>(i + 1)));
  state.numbers(std::span(cross_.data(), static_cast<std::size_t>(features_ * outputs_)));
  state.numbers(std::span(sums_.data(), static_cast<std::size_t>(sums_.size())));
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
  require(cols == features_, MERCER_DIMENSION_MISMATCH, "Z.d = %ld, expected features = %ld", cols,
          features_);
  require(Y.cols == outputs_, MERCER_DIMENSION_MISMATCH, "Y.d = %ld, expected outputs = %ld",
          Y.cols, outputs_);
  require(outputs_ == 0 || Y.rows == rows, MERCER_DIMENSION_MISMATCH,
          "Y.n = %ld, expected %ld as in Z", Y.rows, rows);
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
    require(std::isfinite(gram_(i, i)), MERCER_INVALID_ARGUMENT, at_column(i),
            "Z has the sum of squares %g, expected a finite number: NaN or Inf was added, or "
            "numbers whose squares overflow",
            gram_(i, i));
}

// Conversion and column sums over strips of columns: a strip's sums stay in L1 while its rows
// stream by, and every chunk owns its columns, so no reduction across threads is needed.

template <class T>
void shift_and_sum(MatrixView<const T> Z, const double* origin, MatrixView<double> wide,
                   double* sums, Context& context) {
  parallel_for(context, strips(Z.cols), [=](int64_t strip, int) noexcept {
    const int64_t first = strip * kStrip, count = std::min(kStrip, Z.cols - first);
    const double* __restrict from = origin + first;
    double* __restrict sum = sums + first;
    std::fill_n(sum, count, 0.0);
    for (int64_t i = 0; i < Z.rows; ++i) {
      const T* __restrict in = Z.row(i) + first;
      double* __restrict out = wide.row(i) + first;
      for (int64_t j = 0; j < count; ++j) {
        const double value = static_cast<double>(in[j]) - from[j];
        out[j] = value;
        sum[j] += value;
      }
    }
  });
}

template <class T>
void sum_columns(MatrixView<const T> Z, double* sums, Context& context) {
  parallel_for(context, strips(Z.cols), [=](int64_t strip, int) noexcept {
    const int64_t first = strip * kStrip, count = std::min(kStrip, Z.cols - first);
    double* __restrict sum = sums + first;
    std::fill_n(sum, count, 0.0);
    for (int64_t i = 0; i < Z.rows; ++i) {
      const T* __restrict in = Z.row(i) + first;
      for (int64_t j = 0; j < count; ++j) sum[j] += static_cast<double>(in[j]);
    }
  });
}

void weigh_and_sum(std::span<const double> weights, MatrixView<double> wide, double* sums,
                   Context& context) {
  parallel_for(context, strips(wide.cols), [=](int64_t strip, int) noexcept {
    const int64_t first = strip * kStrip, count = std::min(kStrip, wide.cols - first);
    double* __restrict sum = sums + first;
    std::fill_n(sum, count, 0.0);
    for (int64_t i = 0; i < wide.rows; ++i) {
      double* __restrict row = wide.row(i) + first;
      const double weight = weights[i], root = std::sqrt(weight);
      for (int64_t j = 0; j < count; ++j) {
        sum[j] += weight * row[j];
        row[j] *= root;
      }
    }
  });
}

template void shift_and_sum(MatrixView<const float>, const double*, MatrixView<double>, double*,
                            Context&);
template void shift_and_sum(MatrixView<const double>, const double*, MatrixView<double>, double*,
                            Context&);
template void sum_columns(MatrixView<const float>, double*, Context&);
template void sum_columns(MatrixView<const double>, double*, Context&);

// Addition, subtraction and copies of statistics.

void RowStatistics::accumulate(double sign, const RowStatistics& other) {
  require(other.features_ == features_ && other.outputs_ == outputs_, MERCER_DIMENSION_MISMATCH,
          "other has %ld features and %ld outputs, expected %ld and %ld", other.features_,
          other.outputs_, features_, outputs_);
  if (sign > 0) checked_add(rows_, other.rows_, "rows of statistics");
  require(sign > 0 || other.rows_ <= rows_, MERCER_INVALID_ARGUMENT,
          "subtract: other holds %ld rows, but only %ld are present", other.rows_, rows_);
  if (other.rows_ == 0) return;
  if (rows_ == 0) return copy_from(other);
  if (sign > 0 && weight_ == 0) {
    std::ranges::copy(other.origin_features(), parts().origin_features.begin());
    std::ranges::copy(other.origin_outputs(), parts().origin_outputs.begin());
  }
  heaviest_ = std::max(heaviest_, weight_);
  add_about_origin(sign, other, parts());
  if (nothing_left(sign)) return clear();
  if (sign < 0) keep_origin_near();
  clip_squares();
}

void RowStatistics::merge(const RowStatistics& other) { accumulate(1.0, other); }
void RowStatistics::subtract(const RowStatistics& other) { accumulate(-1.0, other); }
void RowStatistics::scale(double factor) {
  const Parts own = parts();
  own.weight *= factor;
  heaviest_ *= factor;
  for (int64_t i = 0; i < features_; ++i)
    for (int64_t j = 0; j <= i; ++j) own.gram(i, j) *= factor;
  for (int64_t k = 0; k < features_ * outputs_; ++k) cross_.data()[k] *= factor;
  for (const auto sums : {own.sum_features, own.sum_outputs, own.sum_squared_outputs})
    for (double& sum : sums) sum *= factor;
}

void RowStatistics::copy_from(const RowStatistics& other) {
  std::ranges::copy(other.sums_, sums_.begin());
  std::copy_n(other.cross_.data(), features_ * outputs_, cross_.data());
  for (int64_t i = 0; i < features_; ++i) std::copy_n(&other.gram_(i, 0), i + 1, &gram_(i, 0));
  complex_ = other.complex_;
  rows_ = other.rows_;
  weight_ = other.weight_;
  heaviest_ = std::max(other.heaviest_, other.weight_);
}

RowStatistics RowStatistics::clone(Context& context) const {
  RowStatistics copy(features_, outputs_, context);
  copy.copy_from(*this);
  return copy;
}

MeanRow mean_about_origin(const RowStatistics& statistics) {
  const double n = statistics.weight();
  return {divided(statistics.sum_features(), n), divided(statistics.sum_outputs(), n)};
}

MeanRow mean_of(const RowStatistics& statistics) {
  const MeanRow mean = mean_about_origin(statistics);
  return {sum_of(statistics.origin_features(), mean.features),
          sum_of(statistics.origin_outputs(), mean.outputs)};
}

void move_origin(RowStatistics& statistics, const MeanRow& origin) {
  const RowStatistics::Parts parts = statistics.parts();
  const double n = parts.weight;
  const MeanRow before = mean_about_origin(statistics);
  const MeanRow after{moved(before.features, parts.origin_features, origin.features),
                      moved(before.outputs, parts.origin_outputs, origin.outputs)};
  add_share_of_mean(-n, before, parts);
  add_share_of_mean(n, after, parts);
  std::ranges::transform(after.features, parts.sum_features.begin(),
                         [n](double mean) { return n * mean; });
  std::ranges::transform(after.outputs, parts.sum_outputs.begin(),
                         [n](double mean) { return n * mean; });
  std::ranges::copy(origin.features, parts.origin_features.begin());
  std::ranges::copy(origin.outputs, parts.origin_outputs.begin());
}

void add_about_origin(double sign, const RowStatistics& other, const RowStatistics::Parts& to) {
  for (int64_t i = 0; i < to.gram.rows; ++i) {
    const auto length = static_cast<std::size_t>(i + 1);
    add_scaled(sign, {other.gram().row(i), length}, {to.gram.row(i), length});
    const auto outputs = static_cast<std::size_t>(to.cross.cols);
    add_scaled(sign, {other.cross().row(i), outputs}, {to.cross.row(i), outputs});
  }
  add_scaled(sign, other.sum_squared_outputs(), to.sum_squared_outputs);
  to.rows += sign > 0 ? other.rows() : -other.rows();
  to.weight += sign * other.weight();
  if (std::ranges::equal(other.origin_features(), to.origin_features) &&
      std::ranges::equal(other.origin_outputs(), to.origin_outputs)) {
    add_scaled(sign, other.sum_features(), to.sum_features);
    add_scaled(sign, other.sum_outputs(), to.sum_outputs);
    return;
  }
  const double weight = sign * other.weight();
  const MeanRow before = mean_about_origin(other);
  const MeanRow after{moved(before.features, other.origin_features(), to.origin_features),
                      moved(before.outputs, other.origin_outputs(), to.origin_outputs)};
  add_share_of_mean(-weight, before, to);
  add_share_of_mean(weight, after, to);
  add_scaled(weight, after.features, to.sum_features);
  add_scaled(weight, after.outputs, to.sum_outputs);
}

bool origin_is_far(const RowStatistics& statistics) {
  const MeanRow mean = mean_about_origin(statistics);
  const double n = statistics.weight();
  const auto far = [n](double shift, double squares) {
    return shift * shift > kFar * (squares / n - shift * shift);
  };
  for (int64_t j = 0; j < statistics.features(); ++j)
    if (far(mean.features[j], statistics.gram()(j, j))) return true;
  for (std::size_t j = 0; j < mean.outputs.size(); ++j)
    if (far(mean.outputs[j], statistics.sum_squared_outputs()[j])) return true;
  return false;
}

// sum (u + a)(v + b) = sum u v + a sum v + b sum u + n a b, with a and b the origin.

void require_squares(const RowStatistics& statistics) {
  if (!all_zero(statistics.origin_features()) || !all_zero(statistics.origin_outputs())) return;
  for (int64_t i = 0; i < statistics.features(); ++i)
    require_sum("gram", i, i, statistics.gram()(i, i), true, false);
  require_sums("sum_y2", statistics.sum_squared_outputs(), true, false);
}

void write_plain_gram(const RowStatistics& statistics, MatrixView<double> out) {
  const auto a = statistics.origin_features(), s = statistics.sum_features();
  const auto t = plain_sum_features(statistics);
  for (int64_t i = 0; i < out.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::size_t j = 0; j <= row; ++j) {
      const auto column = static_cast<int64_t>(j);
      const double value = statistics.gram()(i, column) + a[j] * s[row] + a[row] * t[j];
      out(i, column) = out(column, i) = value;
    }
  }
}

void write_plain_cross(const RowStatistics& statistics, MatrixView<double> out) {
  const auto a = statistics.origin_features(), s = statistics.sum_features();
  const auto b = statistics.origin_outputs();
  const auto t = plain_sum_outputs(statistics);
  for (int64_t i = 0; i < out.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto column = static_cast<int64_t>(j);
      out(i, column) = statistics.cross()(i, column) + b[j] * s[row] + a[row] * t[j];
    }
  }
}

std::vector<double> plain_sum_features(const RowStatistics& statistics) {
  return plain(statistics.sum_features(), statistics.origin_features(), statistics.weight());
}

std::vector<double> plain_sum_outputs(const RowStatistics& statistics) {
  return plain(statistics.sum_outputs(), statistics.origin_outputs(), statistics.weight());
}

std::vector<double> plain_sum_squared_outputs(const RowStatistics& statistics) {
  const auto b = statistics.origin_outputs(), s = statistics.sum_outputs();
  const auto t = plain_sum_outputs(statistics);
  std::vector<double> result(b.size());
  for (std::size_t j = 0; j < b.size(); ++j)
    result[j] = statistics.sum_squared_outputs()[j] + b[j] * (s[j] + t[j]);
  return result;
}

void set_plain_sums(RowStatistics& statistics, const PlainSums& sums) {
  require_plain_sums(sums);
  const RowStatistics::Parts parts = statistics.parts();
  parts.rows = sums.rows;
  parts.weight = static_cast<double>(sums.rows);
  for (int64_t i = 0; i < parts.gram.rows; ++i) {
    std::copy_n(sums.gram.row(i), i + 1, parts.gram.row(i));
    std::copy_n(sums.cross.row(i), parts.cross.cols, parts.cross.row(i));
  }
  std::ranges::copy(sums.sum_features, parts.sum_features.begin());
  std::ranges::copy(sums.sum_outputs, parts.sum_outputs.begin());
  std::ranges::copy(sums.sum_squared_outputs, parts.sum_squared_outputs.begin());
  std::ranges::fill(parts.origin_features, 0.0);
  std::ranges::fill(parts.origin_outputs, 0.0);
}

}  // namespace mercer::solver
