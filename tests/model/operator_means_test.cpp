// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With an intercept a row that is left out is predicted by the means of the others: errors of fits
// against refits that have never seen the row.
#include "model/outputs/operator_means.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fitted_operator.h"
#include "support/catch.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::test;
using model::OperatorFit;
using model::OperatorMethod;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kExact = 1e-13;

/// Mean squared error of the targets of a row by a fit of the other rows less their own means, at
/// n lambda.
double without(const feature::FieldMap& map, const Matrix<double>& X, const Matrix<double>& Y,
               int64_t row, double n, double lambda) {
  double mean[2] = {0, 0}, count[2] = {0, 0};
  for (int64_t i = 0; i < Y.rows(); ++i)
    for (int64_t k = 0; k < 2; ++k)
      if (i != row && !std::isnan(Y(i, k))) mean[k] += Y(i, k), ++count[k];
  const Matrix<double> others = filled(Y.rows(), 2, [&](int64_t i, int64_t k) {
    return i == row ? kMissing : Y(i, k) - mean[k] / count[k];
  });
  const Matrix<double> theta = fitted(map, X, others,
                                      {.method = OperatorMethod::lsqr,
                                       .lambdas = {lambda * n / static_cast<double>(Y.rows())},
                                       .tolerance = kExact});
  const Matrix<double> f = field_of(map, X.view().block_rows(row, row + 1), theta);
  double sum = 0, observed = 0;
  for (int64_t k = 0; k < 2; ++k)
    if (!std::isnan(Y(row, k)))
      sum += std::pow(mean[k] / count[k] + f(0, k) - Y(row, k), 2), ++observed;
  return sum / observed;
}

Matrix<double> raised(int64_t n) {
  const Matrix<double> Y = random_matrix(n, 2, 2);
  return filled(n, 2, [&](int64_t i, int64_t k) { return Y(i, k) + (k == 0 ? 5 : -0.3); });
}

double error_of(const feature::FieldMap& map, const Matrix<double>& X, const Matrix<double>& Y,
                double lambda, int64_t folds = 0,
                OperatorMethod method = OperatorMethod::automatic) {
  OperatorFit fit;
  fitted(map, X, Y,
         {.method = method,
          .lambdas = {lambda, lambda},
          .tolerance = kExact,
          .folds = folds,
          .intercept = true},
         &fit);
  return fit.error;
}

}  // namespace

TEST_CASE("operator fits: left-out errors with an intercept are those of refits", "[model]") {
  const int64_t n = 8;
  const Matrix<double> X = random_matrix(n, 2, 1), Y = raised(n);
  const auto half = made_operator({{"operator", "decomposable"},  // of rank 1
                                   {"gamma", std::vector<double>{1, 1, 1, 1}},
                                   {"inputs", int64_t{2}},
                                   {"features", int64_t{10}}});
  for (const auto* map : {decomposable(10).release(), decomposable(4).release(), half.get()}) {
    const std::unique_ptr<const feature::FieldMap> owned(map == half.get() ? nullptr : map);
    for (const double lambda : {100.0, 0.1, 1e-3}) {
      double kept = 0, own = 0;
      for (int64_t row = 0; row < n; ++row) {
        kept += without(*map, X, Y, row, n, lambda) / n;
        own += without(*map, X, Y, row, n - 1, lambda) / n;
      }
      CHECK(std::abs(error_of(*map, X, Y, lambda) - kept) < 1e-8 * kept);
      CHECK(std::abs(error_of(*map, X, Y, lambda, n) - own) < 1e-8 * own);
    }
  }
}

TEST_CASE("operator fits: by steps the means are of the rows that were kept", "[model]") {
  const int64_t n = 6;  // of which one is held out
  const Matrix<double> X = random_matrix(n, 2, 3);
  Matrix<double> Y = raised(n);
  Y(2, 1) = kMissing;
  const auto map = decomposable(10);
  const double error = error_of(*map, X, Y, 0.1, 0, OperatorMethod::lsqr);
  double nearest = 1;
  for (int64_t row = 0; row < n; ++row)
    nearest = std::min(nearest, std::abs(without(*map, X, Y, row, n, 0.1) / error - 1));
  CHECK(nearest < 1e-8);
}

TEST_CASE("operator fits: the offset is the means, and of one row there is no choice", "[model]") {
  const Matrix<double> X = random_matrix(9, 2, 4), Y = raised(9);
  const auto map = decomposable(10);
  OperatorFit fit;
  fitted(*map, X, Y, {.lambdas = {0.1}, .intercept = true}, &fit);
  REQUIRE(fit.offset.size() == 2);
  for (int64_t k = 0; k < 2; ++k) {
    double mean = 0;
    for (int64_t i = 0; i < 9; ++i) mean += Y(i, k) / 9;
    CHECK(std::abs(fit.offset[static_cast<size_t>(k)] - mean) < 1e-14);
  }
  fitted(*map, X, Y, {.lambdas = {0.1}}, &fit);
  CHECK(fit.offset.empty());
  const Matrix<double> one = random_matrix(1, 2, 5);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { error_of(*map, one, one, 1); }, "1 rows") == "");
}
