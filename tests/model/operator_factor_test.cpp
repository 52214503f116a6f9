// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lambdas by factors against fits by LSQR that do not see the rows held out; when factors are
// taken.
#include "model/outputs/operator_factor.h"

#include <algorithm>
#include <cmath>

#include "model/outputs/operator_fit.h"
#include "model/outputs/operator_path.h"
#include "model/rows/row_sets.h"
#include "operator_cases.h"
#include "support/catch.h"
#include "support/dense.h"

using namespace mercer;
using namespace mercer::test;
using model::OperatorSolution;

TEST_CASE("operator factors: errors of rows that a fit has not seen", "[model]") {
  const int64_t n = 60;
  const uint64_t seed = 3;
  const Matrix<double> X = random_matrix(n, 2, 8);
  for (const bool gaps : {false, true}) {
    const Matrix<double> Y = targets(X, gaps);
    Context context;
    const model::OperatorMaker maker(plan_of("divergence_free", 30), X.view(), Y.view(), context);
    const auto map = maker.make(0.7, 0, 30);
    const auto out = model::sample_rows(model::all_rows(n), n / 5, seed);
    const auto is_out = [&](int64_t i) { return std::ranges::binary_search(out, i); };
    const Matrix<double> kept =
        filled(n, 2, [&](int64_t i, int64_t k) { return is_out(i) ? kMissing : Y(i, k); });
    const std::vector<double> lambdas = {1, 1e-2, 1e-4};
    const std::vector<double> errors =
        model::held_out_errors(*map, {X.view(), Y.view()}, lambdas, seed, context);
    REQUIRE(errors.size() == lambdas.size());
    for (size_t l = 0; l < lambdas.size(); ++l) {
      const std::vector<double> theta = by_lsqr(*map, X, kept, lambdas[l]);
      Matrix<double> f(n, 2);
      map->multiply(X.view(), {theta.data(), std::ssize(theta), 1}, feature::FieldKind::value, context,
                 f.view());
      double sum = 0;
      int64_t count = 0;
      for (const int64_t i : out)
        for (int64_t k = 0; k < 2; ++k) {
          if (std::isnan(Y(i, k))) continue;
          sum += (f(i, k) - Y(i, k)) * (f(i, k) - Y(i, k));
          ++count;
        }
      CHECK(std::abs(errors[l] - sum / static_cast<double>(count)) < 1e-7 * errors[l]);
      const std::vector<double> whole = by_lsqr(*map, X, Y, lambdas[l]);
      const std::vector<double> factored =
          model::factored_solution(*map, {X.view(), Y.view()}, lambdas[l], context);
      double worst = 0;
      for (size_t j = 0; j < whole.size(); ++j)
        worst = std::max(worst, std::abs(whole[j] - factored[j]));
      CHECK(worst < 1e-7);
    }
  }
}

TEST_CASE("operator factors: taken where a path is too large and there is room", "[model]") {
  const Matrix<double> X = random_matrix(700, 2, 9), Y = targets(X, false);
  Context context;
  const model::OperatorMaker maker(plan_of("divergence_free", 1400), X.view(), Y.view(), context);
  const auto map = maker.make(0.7, 0, 1400);
  REQUIRE(map->features() > 1300);
  CHECK(model::solution_for(*map, Y.view(), context) == OperatorSolution::factor);
  Context small;
  small.memory_cap = 8 * 1400 * 1400;
  CHECK(model::solution_for(*map, Y.view(), small) == OperatorSolution::steps);
}
