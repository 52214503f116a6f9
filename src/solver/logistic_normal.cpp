// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// sigma(f) is within 6e-8 of a mixture of normal distribution functions, sum p_j Phi(s_j f)
// (Monahan, Stefanski 1992, "Normal scale mixture approximations to F*(z) and computation of the
// logistic-normal integral", eight terms), whose expectation has a closed form for any variance v:
// with c_j = s_j / sqrt(1 + s_j^2 v),
//   E Phi(s_j f) = Phi(c_j m),   E log(1 + e^f) = sum p_j (m Phi(c_j m) + phi(c_j m)/c_j).
#include "solver/logistic_normal.h"

#include <cmath>
#include <numbers>

namespace mercer::solver {
namespace {

struct Term {
  double p, s;
};
constexpr Term kTerms[] = {
    {0.00324634327284, 1.36534080629535}, {0.05151747703380, 1.05952397101651},
    {0.19507796991918, 0.83079131376594}, {0.31556982353710, 0.65073216664900},
    {0.27414957615765, 0.50813542536654}, {0.13107688047736, 0.39631334516634},
    {0.02791241872792, 0.30890425226750}, {0.00144956799991, 0.23821264109339}};

}  // namespace

LogisticNormal logistic_normal(double mean, double variance) noexcept {
  LogisticNormal sum{0, 0, 0};
  for (const auto [p, s] : kTerms) {
    const double c = s / std::sqrt(1 + s * s * variance), x = c * mean;
    const double below = std::erfc(-x / std::numbers::sqrt2) / 2;
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    sum.softplus += p * (mean * below + density / c);
    sum.mean += p * below;
    sum.slope += p * c * density;
  }
  return sum;
}

}  // namespace mercer::solver
