// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The score of several outputs and its standard error against their formulas; outputs that do not
// vary are no part of it.
#include "model/outputs/operator_score.h"

#include <cmath>
#include <limits>

#include "support/catch.h"
#include "support/dense.h"

using namespace mercer;
using namespace mercer::test;
using model::OperatorScore;

namespace {

OperatorScore score_of(const Matrix<double>& train, const Matrix<double>& test,
                       const Matrix<double>& predicted, const Matrix<double>& other) {
  model::OperatorErrors errors(std::vector<double>(static_cast<size_t>(test.cols()), 1.0));
  errors.add(train.view(), test.view(), predicted.view(), other.view());
  return errors.score(false);
}

}  // namespace

TEST_CASE("operator score: R^2 over outputs, gaps left out, and its standard error", "[model]") {
  const int64_t n = 40, p = 3;
  Matrix<double> Y = random_matrix(n, p, 1);
  for (int64_t i = 0; i < n; i += 4) Y(i, i % p) = std::numeric_limits<double>::quiet_NaN();
  const Matrix<double> train = random_matrix(n, p, 2), noise = random_matrix(n, p, 3);
  const auto near = [&](double by) {
    return filled(n, p, [&](int64_t i, int64_t k) {
      return (std::isnan(Y(i, k)) ? 0 : Y(i, k)) + by * noise(i, k);
    });
  };
  const Matrix<double> own = near(0.3), other = near(0.6);
  const OperatorScore score = score_of(train, Y, own, other);
  double expected = 0, independent = 0;
  std::vector<double> shares(static_cast<size_t>(n), 0.0);
  for (int64_t k = 0; k < p; ++k) {
    double sum = 0, count = 0, total = 0, e = 0, f = 0;
    for (int64_t i = 0; i < n; ++i)
      if (!std::isnan(Y(i, k))) sum += Y(i, k), ++count;
    for (int64_t i = 0; i < n; ++i)
      if (!std::isnan(Y(i, k))) total += std::pow(Y(i, k) - sum / count, 2);
    for (int64_t i = 0; i < n; ++i) {
      if (std::isnan(Y(i, k))) continue;
      e += std::pow(own(i, k) - Y(i, k), 2);
      f += std::pow(other(i, k) - Y(i, k), 2);
      shares[static_cast<size_t>(i)] += std::pow(own(i, k) - Y(i, k), 2) / total / p;
    }
    expected += (1 - e / total) / p;
    independent += (1 - f / total) / p;
  }
  double mean = 0, variance = 0;
  for (const double share : shares) mean += share / static_cast<double>(n);
  for (const double share : shares) variance += std::pow(share - mean, 2) / (n - 1);
  CHECK(score.rows == n);
  CHECK(std::abs(score.score - expected) < 1e-12);
  CHECK(std::abs(score.independent - independent) < 1e-12);
  // The score is 1 less n means of independent shares.
  CHECK(std::abs(score.standard_error - n * std::sqrt(variance / n)) < 1e-12);
}

TEST_CASE("operator score: an output that does not vary is no part of it", "[model]") {
  for (const int64_t n : {30, 300, 1500}) {
    const Matrix<double> signal = random_matrix(n, 1, 4), noise = random_matrix(n, 1, 5);
    const auto with = [&](double by, double flat) {
      return filled(
          n, 2, [&](int64_t i, int64_t k) { return k ? flat : signal(i, 0) + by * noise(i, 0); });
    };
    const auto alone = [&](double by) {
      return filled(n, 1, [&](int64_t i, int64_t) { return signal(i, 0) + by * noise(i, 0); });
    };
    const OperatorScore one = score_of(alone(0), alone(0), alone(0.3), alone(0.5));
    // Predicted to rounding.
    const double off = std::nextafter(0.1, 1);
    const OperatorScore two = score_of(with(0, 0.1), with(0, 0.1), with(0.3, off), with(0.5, off));
    CHECK(std::abs(one.score - two.score) < 1e-12);
    CHECK(std::abs(one.constant - two.constant) < 1e-12);
    CHECK(std::abs(one.independent - two.independent) < 1e-12);
    const Matrix<double> flat = filled(n, 2, [](int64_t, int64_t) { return 0.1; });
    const OperatorScore none = score_of(flat, flat, flat, flat);
    CHECK((none.rows == n && std::isnan(none.score) && std::isnan(none.constant)));
  }
}
