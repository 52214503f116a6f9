// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// (1/2F) ((K(2 tau) + K(0)) E A - 2 K(tau)^2 + 2 Var A): E A = K(0), and Var A is F times the exact
// variance at tau = 0, where all cosines are 1. If there is one A, the two sides of the proposition
// are equal (the report, section 4.4.1); then K(2 tau), which kernels that warp their inputs do not
// have, is not needed.
#include "statistic/operator_variance_bound.h"

#include <algorithm>

namespace mercer::statistic {

void operator_variance_bound(const feature::FieldMap& map, MatrixView<const double> X,
                             MatrixView<const double> Y, Context& context, MatrixView<double> out) {
  if (map.shared_root().rows > 0) return map.variances(X, Y, context, out);
  const int64_t d = map.inputs(), p = map.outputs();
  const auto F = static_cast<double>(map.scalar().features() / 2);
  const Matrix<double> zero(1, d), tau(1, d), twice(1, d), spread(1, p * p);
  zero.fill(0);
  map.variances(zero.view(), zero.view(), context, spread.view());
  for (int64_t at = 0; at < p * p; ++at) spread.data()[at] *= F;
  const kernel::Kernel& kernel = map.kernel();
  const Matrix<double> at_zero(p, p), at_tau(p, p), at_twice(p, p);
  kernel::gram(kernel, zero.view(), zero.view(), context, at_zero.view());
  Stage stage(context, X.rows);
  for (int64_t i = 0; i < X.rows; ++i) {
    for (int64_t k = 0; k < d; ++k) {
      tau(0, k) = X(i, k) - Y(i, k);
      twice(0, k) = 2 * tau(0, k);
    }
    kernel::gram(kernel, tau.view(), zero.view(), context, at_tau.view());
    kernel::gram(kernel, twice.view(), zero.view(), context, at_twice.view());
    const Matrix<double> bound = proposition33(
        {at_tau.view(), at_twice.view(), at_zero.view(), at_zero.view(), {spread.data(), p, p}}, F);
    std::copy_n(bound.data(), p * p, out.row(i));
    stage.advance(1);
    context.checkpoint();
  }
}

}  // namespace mercer::statistic
