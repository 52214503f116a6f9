// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Folds of decomposable fits, against fits one by one.
#include "model/outputs/operator_folds.h"

#include <algorithm>
#include <cmath>

#include "fitted_operator.h"
#include "support/catch.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::test;
using model::OperatorFit;
using model::OperatorMethod;

TEST_CASE("operator fits: folds choose lambda by the errors of fits on the others", "[model]") {
  const int64_t N = 12;
  const Matrix<double> X = random_matrix(N, 2, 31), Y = random_matrix(N, 2, 32);
  const auto map = decomposable(8);
  const std::vector<double> lambdas = {1.0, 1e-1, 1e-2};
  // As many folds as rows: every row by a fit on the others, whatever the order.
  std::vector<double> errors;
  for (const double lambda : lambdas) {
    double sum = 0;
    for (int64_t left = 0; left < N; ++left) {
      const auto without = [&](const Matrix<double>& A) {
        return filled(N - 1, 2, [&](int64_t i, int64_t k) { return A(i < left ? i : i + 1, k); });
      };
      const Matrix<double> theta = fitted(*map, without(X), without(Y), {.lambdas = {lambda}});
      const Matrix<double> f = field_of(*map, X.view().block_rows(left, left + 1), theta);
      sum += mean_square(f.view(), Y.view().block_rows(left, left + 1)) / static_cast<double>(N);
    }
    errors.push_back(sum);
  }
  const auto least = std::ranges::min_element(errors);
  OperatorFit fit, few, other;
  const Matrix<double> theta = fitted(*map, X, Y, {.lambdas = lambdas, .folds = N}, &fit);
  CHECK(fit.chosen == least - errors.begin());
  CHECK(std::abs(fit.error - *least) < 1e-10 * *least);
  // theta is that of all rows.
  const Matrix<double> whole =
      fitted(*map, X, Y, {.lambdas = {lambdas[static_cast<size_t>(fit.chosen)]}});
  CHECK(difference(theta.view(), whole.view(), 1e-14) == "");
  for (size_t l = 0; l < lambdas.size(); ++l) {  // of one lambda folds score it
    OperatorFit one;
    fitted(*map, X, Y, {.lambdas = {lambdas[l]}, .folds = N}, &one);
    CHECK(std::abs(one.error - errors[l]) < 1e-10 * errors[l]);
  }
  fitted(*map, X, Y, {.lambdas = lambdas, .seed = 1, .folds = 3}, &few);
  fitted(*map, X, Y, {.lambdas = lambdas, .seed = 2, .folds = 3}, &other);
  CHECK((few.error > 0 && few.error != other.error));
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] { fitted(*map, X, Y, {.lambdas = lambdas, .folds = N + 1}); }, "folds = 13") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { fitted(*map, X, Y, {.folds = N + 1}); }, "folds = 13") ==
        "");
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED,
            [&] {
              fitted(*map, X, Y, {.method = OperatorMethod::lsqr, .lambdas = lambdas, .folds = 3});
            },
            "stein") == "");
}
