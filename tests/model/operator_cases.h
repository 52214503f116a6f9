// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Searches of operator-valued maps in small: a plan, noisy targets of two inputs with gaps or
// without, and a second route to theta.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "model/outputs/operator_fit.h"
#include "model/outputs/operator_search.h"
#include "support/dense.h"
#include "support/field_maps.h"

namespace mercer::test {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

inline model::OperatorPlan plan_of(const char* name, int64_t features) {
  model::OperatorPlan plan;
  plan.spec = field_spec({{"operator", name}, {"features", features}});
  return plan;
}

inline Matrix<double> targets(const Matrix<double>& X, bool gaps) {
  const Matrix<double> noise = random_matrix(X.rows(), 2, 7);
  return filled(X.rows(), 2, [&](int64_t i, int64_t k) {
    const double f = std::sin(2 * X(i, 0)) + (k == 0 ? X(i, 1) : -X(i, 0));
    return gaps && (i + k) % 3 == 0 ? kMissing : f + 0.5 * noise(i, k);
  });
}

inline std::vector<double> by_lsqr(const feature::FieldMap& map, const Matrix<double>& X,
                                   const Matrix<double>& Y, double lambda) {
  Context context;
  std::vector<double> theta(static_cast<size_t>(map.features()));
  model::fit_operator(
      map, X.view(), Y.view(),
      {.method = model::OperatorMethod::lsqr, .lambdas = {lambda}, .tolerance = 1e-13}, context,
      theta);
  return theta;
}

}  // namespace mercer::test
