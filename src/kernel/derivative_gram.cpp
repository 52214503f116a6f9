// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <algorithm>
#include <cmath>
#include <string>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "kernel/kernel.h"

namespace mercer::kernel {

MultiIndex sum_of(const MultiIndex& p, const MultiIndex& q) {
  MultiIndex sum;
  for_each_input(p, q, [&sum](int64_t k, int64_t a, int64_t b) { sum.push_back({k, a + b}); });
  return sum;
}

namespace {

void require_derivatives(const Kernel& kernel, int64_t order) {
  const std::string name(kernel.name());
  require(kernel.most_derivatives() > 0, MERCER_UNSUPPORTED,
          "kernel %s has no derivatives, expected any other than laplacian, matern (nu < 1.01), "
          "intersection, arc_cosine and sign, or sums and products with one of these",
          name.c_str());
  require(order <= kernel.most_derivatives(), MERCER_UNSUPPORTED,
          "derivatives of order %ld in all of kernel %s, expected up to %ld", order, name.c_str(),
          kernel.most_derivatives());
}

// Pairs of a chunk: one may take a millisecond, and cancellation is checked between chunks.
constexpr int64_t kPairs = 64;

bool has_nan(int64_t d, const double* x) noexcept {
  return std::any_of(x, x + d, [](double number) { return std::isnan(number); });
}

}  // namespace

void derivative_gram(const Kernel& kernel, const MultiIndex& p, const MultiIndex& q,
                     MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                     MatrixView<double> K) {
  require_derivatives(kernel, total_order(p) + total_order(q));
  require(X.cols == Y.cols && K.rows == X.rows && K.cols == Y.rows, MERCER_DIMENSION_MISMATCH,
          "X is %ld x %ld, Y %ld x %ld, K %ld x %ld, expected as many columns of X and Y, "
          "and K rows of X x rows of Y",
          X.rows, X.cols, Y.rows, Y.cols, K.rows, K.cols);
  kernel.check_dimension(X.cols);
  const std::unique_ptr<const Differential> differential = kernel.differential(p, q);
  const AlignedBuffer<unsigned char> lost(Y.rows, context, "which rows hold a NaN");
  for (int64_t j = 0; j < Y.rows; ++j) lost.data()[j] = has_nan(Y.cols, Y.row(j));
  const int64_t pieces = ceil_divide(Y.rows, kPairs);
  parallel_for(context, checked_multiply(X.rows, pieces, "K"), [&](int64_t chunk, int) noexcept {
    const int64_t i = chunk / pieces, first = chunk % pieces * kPairs;
    const bool none = has_nan(X.cols, X.row(i));
    for (int64_t j = first; j < std::min(Y.rows, first + kPairs); ++j)
      K(i, j) = none || lost.data()[j] != 0 ? kNaN : differential->at(X.cols, X.row(i), Y.row(j));
  });
}

}  // namespace mercer::kernel
