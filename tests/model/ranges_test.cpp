// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Means, deviations and ranges of columns.
#include "model/model.h"
#include "model/prepare/row_summary.h"
#include "prepared_by.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/sparse.h"

namespace ranges_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

TEST_CASE("means and deviations of columns with a large offset keep their digits") {
  // Column 0: offset 1e6, deviation 1/sqrt(3) of a uniform; the exact values by long double sums of
  // the very entries.
  Matrix<double> X = test::random_matrix(1000, 2, 7);
  for (int64_t i = 0; i < X.rows(); ++i) X(i, 0) += 1e6;
  const auto found = test::fit_standardizer(MatrixView<const double>(X.view()));
  double worst = 0;
  for (int64_t j = 0; j < 2; ++j) {
    long double mean = 0, squares = 0;
    for (int64_t i = 0; i < X.rows(); ++i) mean += X(i, j);
    mean /= X.rows();
    for (int64_t i = 0; i < X.rows(); ++i) squares += (X(i, j) - mean) * (X(i, j) - mean);
    const auto scale = static_cast<double>(std::sqrt(squares / X.rows()));
    const auto c = static_cast<size_t>(j);
    // The mean to n eps of its size; the deviation, of differences from a mean within that, to n
    // eps of its own.
    worst = std::max(worst, std::abs(found.mean[c] - static_cast<double>(mean)) /
                                (1 + std::abs(static_cast<double>(mean))));
    worst = std::max(worst, std::abs(found.scale[c] - scale) / scale);
  }
  CHECK(worst <= 1000 * 0x1p-52);
}

TEST_CASE("a constant column keeps scale 1 and is moved to 0") {
  Matrix<float> X(50, 2);
  for (int64_t i = 0; i < 50; ++i) {
    X(i, 0) = 0.1f;
    X(i, 1) = static_cast<float>(i);
  }
  const auto found = test::fit_standardizer(MatrixView<const float>(X.view()));
  CHECK(found.scale[0] == 1.0);
  CHECK(std::abs(found.mean[0] - static_cast<double>(0.1f)) <= 1e-16);
  CHECK(found.scale[1] == Approx(std::sqrt((50.0 * 50.0 - 1) / 12)).epsilon(1e-14));
}

constexpr uint64_t kSeed = 5;

std::vector<Range> ranges_of_blocks(const Rows& X, std::vector<int64_t> sizes,
                                    std::span<const double> weights = {}) {
  Context context;
  ColumnRanges ranges(X.cols(), kSeed, context);
  for (int64_t first = 0, turn = 0; first < X.rows(); ++turn) {
    const int64_t size = sizes[static_cast<size_t>(turn) % sizes.size()];
    const int64_t end = std::min(X.rows(), first + size);
    const auto part = weights.empty() ? weights : weights.subspan(first, end - first);
    ranges.add(X.block_rows(first, end), part);
    first = end;
  }
  return ranges.ranges();
}

bool same(const std::vector<Range>& a, const std::vector<Range>& b) {
  return std::ranges::equal(a, b, [](const Range& x, const Range& y) {
    return x.lowest == y.lowest && x.low == y.low && x.high == y.high && x.highest == y.highest;
  });
}

/// By sorting the whole column, every row as often as its weight says.
Range plain_range(const Matrix<double>& X, int64_t j, const std::vector<int>& copies) {
  std::vector<double> all;
  for (int64_t i = 0; i < X.rows(); ++i)
    all.insert(all.end(), static_cast<size_t>(copies[static_cast<size_t>(i)]), X(i, j));
  std::sort(all.begin(), all.end());
  const auto n = static_cast<double>(all.size());
  const auto quantile = [&](double p) {  // the k-th smallest, k = ceil(p n)
    return all[static_cast<size_t>(std::max(1.0, std::ceil(p * n))) - 1];
  };
  return {all.front(), quantile(0.01), quantile(0.99), all.back()};
}

TEST_CASE("ranges of few rows are exact, whatever the blocks; weights count as copies") {
  const auto sparse = sparse_rows<double>(450, 7, 5, 3);
  const Matrix<double> X = sparse.dense();
  std::vector<int> ones(450, 1), copies(450);
  for (size_t i = 0; i < copies.size(); ++i) copies[i] = static_cast<int>(i % 4);
  const std::vector<double> weights(copies.begin(), copies.end());
  for (const Rows& rows : {Rows(X.view()), Rows(sparse.view())}) {
    for (const bool weighted : {false, true}) {
      std::vector<Range> expected;
      for (int64_t j = 0; j < 7; ++j)
        expected.push_back(plain_range(X, j, weighted ? copies : ones));
      const std::span<const double> given =
          weighted ? std::span<const double>(weights) : std::span<const double>();
      CHECK(same(ranges_of_blocks(rows, {450}, given), expected));
      CHECK(same(ranges_of_blocks(rows, {1, 7, 90}, given), expected));
    }
  }
}

TEST_CASE("of many rows extremes are exact and quantiles those of a sample") {
  // 300,000 rows of 8 columns are sampled at 1 in 4 (at most 2^20 numbers): n' = 75,000 rows but
  // for a binomial error. Column j is a fixed shuffle of 0 ... n - 1 over n, so its p-quantile is p
  // and the sample's is p within t with probability 1 - 2 exp(-2 n' t^2) (Dvoretzky, Kiefer,
  // Wolfowitz, Massart): t = 0.015 fails with probability 2 exp(-33) for n' = 74,000.
  constexpr int64_t n = 300000;
  Matrix<float> X(n, 8);
  for (int64_t j = 0; j < 8; ++j)
    for (int64_t i = 0; i < n; ++i)  // 7919 and n have no common factor
      X(i, j) = static_cast<float>((i * 7919 + 1000 * j) % n) / static_cast<float>(n);
  const auto ranges = ranges_of_blocks(X.view(), {n});
  CHECK(same(ranges_of_blocks(X.view(), {999, 4096}), ranges));
  for (const Range& range : ranges) {
    CHECK(range.lowest == 0);
    CHECK(range.highest == static_cast<double>(static_cast<float>(n - 1) / static_cast<float>(n)));
    CHECK(std::abs(range.low - 0.01) < 0.015);
    CHECK(std::abs(range.high - 0.99) < 0.015);
    CHECK(range.low > 0);
    CHECK(range.high < range.highest);
  }
}

}  // namespace ranges_test
