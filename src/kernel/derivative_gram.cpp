// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Of a kernel k(x - y) every derivative is one in the difference:
//   d^{p,q} k(x, y) = (-1)^{|q|} (d^{p+q} k)(x - y).
#include <string>

#include "base/error.h"
#include "base/parallel.h"
#include "kernel/kernel.h"

namespace mercer::kernel {

MultiIndex sum_of(const MultiIndex& p, const MultiIndex& q) {
  MultiIndex sum;
  size_t a = 0, b = 0;
  while (a < p.size() || b < q.size()) {
    const bool first = b == q.size() || (a < p.size() && p[a].input <= q[b].input);
    const bool both = first && b < q.size() && p[a].input == q[b].input;
    const PartialFactor& factor = first ? p[a] : q[b];
    sum.push_back({factor.input, factor.order + (both ? q[b].order : 0)});
    a += first;
    b += !first || both;
  }
  return sum;
}

void derivative_gram(const Kernel& kernel, const MultiIndex& p, const MultiIndex& q,
                     MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                     MatrixView<double> K) {
  require(kernel.has_derivatives(), MERCER_UNSUPPORTED,
          "kernel %s has no derivatives in closed form, expected gaussian",
          std::string(kernel.name()).c_str());
  require(X.cols == Y.cols && K.rows == X.rows && K.cols == Y.rows, MERCER_DIMENSION_MISMATCH,
          "X is %lld x %lld, Y %lld x %lld, K %lld x %lld, expected as many columns of X and Y, "
          "and K rows of X x rows of Y",
          static_cast<long long>(X.rows), static_cast<long long>(X.cols),
          static_cast<long long>(Y.rows), static_cast<long long>(Y.cols),
          static_cast<long long>(K.rows), static_cast<long long>(K.cols));
  kernel.check_dimension(X.cols);
  const MultiIndex order = sum_of(p, q);
  const double sign = total_order(q) % 2 == 0 ? 1 : -1;
  parallel_for(context, X.rows, [&](int64_t i, int) noexcept {
    for (int64_t j = 0; j < Y.rows; ++j)
      K(i, j) = sign * kernel.derivative(order, X.cols, X.row(i), Y.row(j));
  });
}

}  // namespace mercer::kernel
