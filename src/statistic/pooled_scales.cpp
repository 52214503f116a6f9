// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/pooled_scales.h"

#include <algorithm>
#include <cmath>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "random/distributions.h"

namespace mercer::statistic {
namespace {

constexpr int64_t kMostRows = 500;
constexpr int64_t kLeastRows = 50;
constexpr int64_t kMostNumbers = int64_t{1} << 22;
constexpr double kLeastDeviation = 1e-280;  // lengthscales are some of them, at least 1e-300

void copy_row(const Rows& X, int64_t i, double* out) {
  X.visit([&](const auto& rows) {
    std::fill_n(out, rows.cols, 0.0);
    for_each_stored(rows, i, [&](int64_t j, auto value) { out[j] += value; });
  });
}

Matrix<double> drawn_rows(std::span<const Rows> samples, uint64_t seed, Context& context) {
  int64_t total = 0;
  for (const Rows& X : samples) total += X.rows();
  const int64_t d = samples.front().cols();
  const int64_t affordable = std::max(kLeastRows, kMostNumbers / std::max<int64_t>(d, 1));
  std::vector<int64_t> drawn(std::min({total, kMostRows, affordable}));
  random::Cursor cursor(random::Stream(seed, random::Tag::sample, 0));
  random::sample_without_replacement(cursor, total, drawn);
  Matrix<double> out(std::ssize(drawn), d, context, "a sample of rows");
  for (size_t k = 0; k < drawn.size(); ++k) {
    size_t at = 0;
    while (drawn[k] >= samples[at].rows()) drawn[k] -= samples[at++].rows();
    copy_row(samples[at], drawn[k], out.view().row(static_cast<int64_t>(k)));
  }
  return out;
}

/// A power of two, which is exact, about the range of column j; 1 for a constant.
double unit_of(MatrixView<const double> X, int64_t j) {
  double least = kInfinity, most = -kInfinity;
  for (int64_t i = 0; i < X.rows; ++i) {
    least = std::min(least, X(i, j));
    most = std::max(most, X(i, j));
  }
  return most > least ? std::ldexp(1.0, std::ilogb(most - least)) : 1;
}

/// Divides columns by their standard deviations, whose squares may be below all numbers.
std::vector<double> scale_columns(MatrixView<double> X) {
  std::vector<double> scales(X.cols, 1.0);
  for (int64_t j = 0; j < X.cols; ++j) {
    const double unit = unit_of(X, j);
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < X.rows; ++i) mean += X(i, j) / static_cast<double>(X.rows);
    for (int64_t i = 0; i < X.rows; ++i) {
      const double apart = (X(i, j) - mean) / unit;
      squares += apart * apart;
    }
    if (squares > 0 && !column_is_constant(X, j))
      scales[j] = unit * std::sqrt(squares / static_cast<double>(X.rows));
    require(scales[j] >= kLeastDeviation, MERCER_INVALID_ARGUMENT, at_column(j),
            "rows has the deviation %g, expected at least %g or a constant", scales[j],
            kLeastDeviation);
    for (int64_t i = 0; i < X.rows; ++i) X(i, j) /= scales[j];
  }
  return scales;
}

/// Divides all columns by one unit, that of the widest.
double scale_together(MatrixView<double> X) {
  double unit = 0;
  for (int64_t j = 0; j < X.cols; ++j)
    if (!column_is_constant(X, j)) unit = std::max(unit, unit_of(X, j));
  if (unit == 0) return 1;
  for (int64_t i = 0; i < X.rows; ++i)
    for (int64_t j = 0; j < X.cols; ++j) X(i, j) /= unit;
  return unit;
}

/// The median distance over pairs of rows that are not equal.
template <class Term>
double median_sum(MatrixView<const double> X, Context& context, const Term& term) {
  const int64_t n = X.rows;
  std::vector<double> sums(n * (n - 1) / 2);
  parallel_for(
      context, n,
      [&](int64_t i, int) noexcept {
        double* out = sums.data() + i * (2 * n - i - 1) / 2;
        for (int64_t j = i + 1; j < n; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < X.cols; ++k) sum += term(X(i, k) - X(j, k));
          *out++ = sum;
        }
      },
      0);
  std::erase(sums, 0.0);
  if (sums.empty()) return 1;
  const auto middle = sums.begin() + std::ssize(sums) / 2;
  std::nth_element(sums.begin(), middle, sums.end());
  return *middle;
}

}  // namespace

Scales pooled_scales(std::span<const Rows> samples, bool by_column, uint64_t seed,
                     Context& context) {
  const Matrix<double> sample = drawn_rows(samples, seed, context);
  Scales out;
  out.columns = by_column ? scale_columns(sample.view()) : std::vector<double>(sample.cols(), 1.0);
  const double unit = scale_together(sample.view());
  out.euclidean =
      unit * std::sqrt(median_sum(sample.view(), context, [](double t) { return t * t; }));
  out.absolute = unit * median_sum(sample.view(), context, [](double t) { return std::fabs(t); });
  return out;
}

}  // namespace mercer::statistic
