// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Landmarks by recursively approximated ridge leverage scores (Musco, Musco 2017, algorithm 2). The
// first sample are the first D of the rows in random order. Then each time twice as many rows get
// scores by the last sample S, whose rows are divided by the square root of the probability p with
// which they were drawn,
//   l_i = (k_ii - k_iS (K_SS + lambda I)^-1 k_Si) / lambda,
// and D of them are drawn by these scores. lambda is 2/D times the sum of the eigenvalues of K_SS
// after the largest D/2, so that about D/2 directions matter. Two deviations: D rows exactly, drawn
// without replacement, and no oversampling factor.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "feature/landmarks.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::feature {
namespace {

constexpr int64_t kLeverageRows = 512;  // rows whose scores are computed together
constexpr const char* kLeverageScores = "leverage scores";

struct Sample {
  std::vector<int64_t> rows;
  std::vector<double> scale;  // 1 / sqrt(p)
};

// (scale k(x_i, x_j) scale) of rows i of the pool and j of the sample, into K.
void scaled_gram(const LandmarkPool& pool, std::span<const int64_t> rows, const double* row_scale,
                 const Sample& sample, MatrixView<double> K) {
  parallel_for(
      pool.context, K.cols,
      [&](int64_t i, int) noexcept {
        const double* const x = pool.rows.row(rows[i]);
        for (int64_t j = 0; j < K.rows; ++j) {
          const double* const y = pool.rows.row(sample.rows[j]);
          const double scale = sample.scale[j] * (row_scale == nullptr ? 1 : row_scale[i]);
          K(j, i) = scale * pool.kernel.value(pool.rows.cols, x, y);
        }
      },
      0);
}

double ridge_of(const Matrix<double>& K, int64_t D, Context& context) {
  const Matrix<double> vectors(K.rows(), K.rows(), context, kLeverageScores);
  std::copy_n(K.data(), K.rows() * K.rows(), vectors.data());
  std::vector<double> values(K.rows());
  linalg::symmetric_eigen(vectors.view(), values, context);
  const int64_t behind = std::max<int64_t>(std::ssize(values) - D / 2, 0);
  const double tail = std::accumulate(values.begin(), values.begin() + behind, 0.0);
  const double largest = std::max(values.back(), 0.0);
  require(largest > 0, MERCER_INVALID_ARGUMENT,
          "the kernel is 0 on all rows drawn, expected a kernel that is not");
  // For a rank below D/2 the tail is rounding.
  return std::max(2 * tail / static_cast<double>(std::max<int64_t>(D, 2)), 1e-10 * largest);
}

// Scores of the first `count` rows in the order, up to the common factor 1 / lambda.
std::vector<double> scores_by(const LandmarkPool& pool, std::span<const int64_t> order,
                              const Sample& sample, int64_t D) {
  const auto s = static_cast<int64_t>(sample.rows.size());
  const Matrix<double> L(s, s, pool.context, kLeverageScores),
      B(s, kLeverageRows, pool.context, kLeverageScores);
  scaled_gram(pool, sample.rows, sample.scale.data(), sample, L.view());
  const double lambda = ridge_of(L, D, pool.context);
  for (int64_t i = 0; i < s; ++i) L(i, i) += lambda;
  const int64_t pivot = linalg::cholesky(L.view());
  require(pivot == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "leverage scores: pivot %ld of the kernel matrix of %ld rows is not positive", pivot, s);
  std::vector<double> scores;
  for (int64_t i0 = 0; i0 < std::ssize(order); i0 += kLeverageRows) {
    const int64_t n = std::min<int64_t>(kLeverageRows, std::ssize(order) - i0);
    const auto rows = order.subspan(i0, n);
    const MatrixView<double> b = B.view().block_cols(0, n);
    scaled_gram(pool, rows, nullptr, sample, b);
    linalg::triangular_solve(L.view(), b);
    for (int64_t i = 0; i < n; ++i) {
      const double* const x = pool.rows.row(rows[i]);
      const double k = pool.kernel.value(pool.rows.cols, x, x);
      double explained = 0;
      for (int64_t j = 0; j < s; ++j) explained += b(j, i) * b(j, i);
      scores.push_back(std::max(k - explained, 1e-15 * k));
    }
    pool.context.checkpoint();
  }
  return scores;
}

// Draws D of those rows by weight, without replacement: the largest u^(1/w) (Efraimidis, Spirakis
// 2006).
Sample drawn(std::span<const int64_t> order, const std::vector<double>& weights, int64_t D,
             random::Cursor& cursor) {
  std::vector<std::pair<double, size_t>> keys;
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double u = random::uniform(cursor.next());
    keys.emplace_back(weights[i] > 0 ? random::portable_log(u) / weights[i] : -kInfinity, i);
    total += weights[i];
  }
  std::partial_sort(keys.begin(), keys.begin() + D, keys.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  Sample sample;
  for (int64_t j = 0; j < D; ++j) {
    const size_t i = keys[j].second;
    const double p = std::min(1.0, static_cast<double>(D) * weights[i] / total);
    sample.rows.push_back(order[i]);
    sample.scale.push_back(p > 0 ? 1 / std::sqrt(p) : 1);
  }
  return sample;
}

}  // namespace

std::vector<int64_t> leverage_landmarks(const LandmarkPool& pool, int64_t D) {
  random::Cursor cursor(random::Stream(pool.seed, random::Tag::sample, 1));
  std::vector<int64_t> order(pool.rows.rows);
  random::permutation(cursor, order);
  int64_t count = D;
  Sample sample{{order.begin(), order.begin() + D}, std::vector<double>(D, 1.0)};
  while (count < pool.rows.rows) {
    count = std::min(2 * count, pool.rows.rows);
    const std::span<const int64_t> first(order.data(), count);
    sample = drawn(first, scores_by(pool, first, sample, D), D, cursor);
  }
  return sample.rows;
}

}  // namespace mercer::feature
