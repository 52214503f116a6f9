// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gamma variates and variates made from them. Marsaglia, Tsang, "A simple method for generating
// gamma variables", ACM TOMS 26 (2000): with a = shape - 1/3 and c = 1 / sqrt(9 a), propose a (1 +
// c x)^3, x normal, and accept when ln u < x^2/2 + a - a v + a ln v. One block per proposal: x is
// the normal quantile of its first uniform, u its second. Shapes below 1 use Gamma(shape) =
// Gamma(shape + 1) U^(1/shape), U from the block before.
#include <cmath>

#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::random {
namespace {

double gamma_from_one(Cursor& cursor, double shape) noexcept {
  const double a = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * a);
  while (true) {
    const Words words = cursor.next();
    const double x = normal_quantile(uniform(words));
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    const double bound = 0.5 * x * x + a * (1.0 - v + portable_log(v));
    if (portable_log(second_uniform(words)) < bound) return a * v;
  }
}

}  // namespace

double gamma(Cursor& cursor, double shape) noexcept {
  if (shape >= 1.0) return gamma_from_one(cursor, shape);
  const double boost = portable_pow(uniform(cursor.next()), 1.0 / shape);
  return boost * gamma_from_one(cursor, shape + 1.0);
}

double chi_squared(Cursor& cursor, double degrees) noexcept {
  return 2.0 * gamma(cursor, 0.5 * degrees);
}

double chi(Cursor& cursor, double degrees) noexcept {
  return std::sqrt(chi_squared(cursor, degrees));
}

}  // namespace mercer::random
