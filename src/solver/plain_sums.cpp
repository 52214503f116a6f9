// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// sum (u + a)(v + b) = sum u v + a sum v + b sum u + n a b, with a and b the origin.
#include "solver/plain_sums.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace mercer::solver {
namespace {

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
