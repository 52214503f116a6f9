// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The sketched preconditioner: exact for operators of low rank, fewer steps on spectra that fall
// fast, the same solutions.
#include "solver/nystroem_preconditioner.h"

#include <cmath>

#include "coupled_problem.h"
#include "linalg/conjugate_gradient.h"
#include "solver/normal_operator.h"
#include "support/catch.h"
#include "support/dense_operator.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

namespace {

/// A A' of random rows, column j scaled by scale(j).
template <class Scale>
Matrix<double> positive(int64_t n, int64_t rank, const Scale& scale, uint64_t seed) {
  Matrix<double> A = random_matrix(n, rank, seed);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < rank; ++j) A(i, j) *= scale(j);
  return product(A.view(), transposed(A.view()).view());
}

}  // namespace

TEST_CASE("sketched preconditioner: the inverse, up to a factor, of an operator of low rank",
          "[solver]") {
  const int64_t n = 40, rank = 6;
  const double shift = 0.3;
  Context context;
  Matrix<double> H = positive(
      n, rank, [](int64_t) { return 1.0; }, 901);
  const NystroemPreconditioner sketch(test::DenseOperator(H.view()), 12, 7, context);
  CHECK(sketch.rank() == rank);
  const Matrix<double> B = random_matrix(n, 2, 902);
  for (int64_t i = 0; i < n; ++i) H(i, i) += shift;
  // P^{-1} (H + shift I) b = (l + shift) b in the range, shift b beside it: symmetric, and with two
  // eigenvalues, so that its product with any b solves a quadratic equation.
  const auto once = [&](const Matrix<double>& x) {
    Matrix<double> y = product(H.view(), x.view());
    sketch.apply(shift, y.view());
    return y;
  };
  const Matrix<double> one = once(B), two = once(one);
  // Find l from the first entry, check all: (T - shift)(T - (l + shift)) b = 0.
  const double top = (two(0, 0) - shift * one(0, 0)) / (one(0, 0) - shift * B(0, 0));
  CHECK(top > shift);
  const Matrix<double> left = filled(n, 2, [&](int64_t i, int64_t k) {
    return two(i, k) - (top + shift) * one(i, k) + top * shift * B(i, k);
  });
  CHECK(largest(left.view()) < 1e-9 * largest(two.view()));
}

TEST_CASE("sketched preconditioner: fewer steps where eigenvalues fall fast, the same solution",
          "[solver]") {
  const int64_t n = 150;
  const double shift = 1e-5;
  Context context;
  Matrix<double> H = positive(
      n, n, [](int64_t j) { return std::pow(0.8, static_cast<double>(j)); }, 911);
  const NystroemPreconditioner sketch(test::DenseOperator(H.view()), 40, 7, context);
  for (int64_t i = 0; i < n; ++i) H(i, i) += shift;
  const Matrix<double> B = random_matrix(n, 1, 912);
  Matrix<double> plain(n, 1), fast(n, 1);
  plain.fill(0);
  fast.fill(0);
  linalg::CgOptions options{.tolerance = 1e-8, .most_iterations = 20'000};
  const test::DenseOperator system(H.view());
  const auto slow = conjugate_gradient(system, B.view(), options, context, plain.view());
  options.preconditioner = [&](MatrixView<double> R) { sketch.apply(shift, R); };
  const auto quick = conjugate_gradient(system, B.view(), options, context, fast.view());
  CHECK((slow.converged && quick.converged));
  CHECK(4 * quick.iterations < slow.iterations);
  const Matrix<double> difference =
      filled(n, 1, [&](int64_t i, int64_t) { return plain(i, 0) - fast(i, 0); });
  CHECK(largest(difference.view()) < 1e-4 * largest(plain.view()));
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { NystroemPreconditioner(system, n + 1, 7, context); },
            "rank") == "");
}
