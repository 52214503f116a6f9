// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Operators, and conjugate gradients on them.
#include "linalg/conjugate_gradient.h"

#include "known_spectrum.h"
#include "support/dense.h"
#include "support/dense_operator.h"
#include "support/refusal.h"

namespace conjugate_gradient_test {
using namespace mercer;
using namespace mercer::linalg;
using namespace mercer::test;

TEST_CASE("operators refuse vectors of another size") {
  Context context;
  const Matrix<double> A = random_matrix(4, 4, 6), x = random_matrix(4, 2, 7);
  const DenseOperator op(A.view());
  Matrix<double> y(3, 2), narrow(4, 1);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, op.apply(x.view(), context, narrow.view()),
                "4 rows for Y = A X");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, op.apply(x.view(), context, y.view()),
                "4 rows for Y = A X");
}

Matrix<double> positive(int64_t n, const std::vector<double>& s, uint64_t seed) {
  const Matrix<double> Q = some_rotation(n, seed);
  return spectral_product(Q, s, Q, identity(n).view(), [](double value) { return value; });
}

Matrix<double> zeros(int64_t rows, int64_t cols) {
  Matrix<double> A(rows, cols);
  A.fill(0);
  return A;
}

TEST_CASE("conjugate gradients: many right-hand sides, as Cholesky has them") {
  const int64_t n = 60;
  for (const double condition : {10.0, 1e4, 1e7}) {
    const Matrix<double> A = positive(n, geometric(n, condition), 1);
    Matrix<double> B = random_matrix(n, 3, 2), X = zeros(n, 3);
    for (int64_t i = 0; i < n; ++i) B(i, 1) = 0;
    Context context;
    // No x in double has a residual far below eps |A| |x|.
    const double tolerance = std::max(1e-12, 2e-15 * condition);
    const CgOptions options{.tolerance = tolerance, .most_iterations = 20'000};
    const CgResult result =
        conjugate_gradient(DenseOperator(A.view()), B.view(), options, context, X.view());
    CAPTURE(condition, result.iterations);
    CHECK(result.converged);
    CHECK(result.worst() <= tolerance);
    CHECK(result.residuals[1] == 0);
    Matrix<double> L = copy(A.view()), expected = copy(B.view());
    REQUIRE(cholesky(L.view()) == 0);
    cholesky_solve(L.view(), expected.view());
    // |x - x*| <= |A^{-1}| |r|, and Cholesky's own error beside it.
    CHECK(difference(X.view(), expected.view(), condition * 10 * tolerance) == "");
    for (int64_t i = 0; i < n; ++i) CHECK(X(i, 1) == 0);
  }
}

TEST_CASE("conjugate gradients end after as many steps as there are eigenvalues") {
  const int64_t n = 40;
  std::vector<double> s;
  for (int64_t i = 0; i < n; ++i) s.push_back(i % 3 == 0 ? 1 : i % 3 == 1 ? 2.5 : 9);
  const Matrix<double> A = positive(n, s, 3), B = random_matrix(n, 2, 4);
  Matrix<double> X = zeros(n, 2);
  Context context;
  const DenseOperator op(A.view());
  const CgResult result = conjugate_gradient(op, B.view(), {.tolerance = 1e-11}, context, X.view());
  CHECK((result.converged && result.iterations == 3));
  // From the solution there is nothing to do.
  const CgResult again = conjugate_gradient(op, B.view(), {.tolerance = 1e-11}, context, X.view());
  CHECK((again.converged && again.iterations == 0));
}

TEST_CASE("a preconditioner saves steps, and the answer stays") {
  const int64_t n = 80;
  Matrix<double> A = positive(n, geometric(n, 5), 5);
  std::vector<double> scale;
  for (int64_t i = 0; i < n; ++i) scale.push_back(std::pow(10.0, static_cast<double>(i % 5)));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) A(i, j) *= scale[i] * scale[j];
  const Matrix<double> B = random_matrix(n, 2, 6);
  Context context;
  Matrix<double> plain = zeros(n, 2), scaled = zeros(n, 2);
  CgOptions options{.tolerance = 1e-9, .most_iterations = 100'000};
  const DenseOperator op(A.view());
  const CgResult without = conjugate_gradient(op, B.view(), options, context, plain.view());
  options.preconditioner = [&](MatrixView<double> R) {
    for (int64_t i = 0; i < R.rows; ++i)
      for (int64_t j = 0; j < R.cols; ++j) R(i, j) /= A(i, i);
  };
  const CgResult with = conjugate_gradient(op, B.view(), options, context, scaled.view());
  CHECK((with.converged && with.iterations < 40 && 5 * with.iterations < without.iterations));
  Matrix<double> L = copy(A.view()), expected = copy(B.view());
  REQUIRE(cholesky(L.view()) == 0);
  cholesky_solve(L.view(), expected.view());
  CHECK(difference(scaled.view(), expected.view(), 1e-7) == "");
}

TEST_CASE("conjugate gradients say what stopped them") {
  const int64_t n = 50;
  const Matrix<double> A = positive(n, geometric(n, 1e6), 7), B = random_matrix(n, 1, 8);
  const DenseOperator op(A.view());
  Context context;
  Matrix<double> X = zeros(n, 1);
  CgOptions options{.tolerance = 1e-10, .most_iterations = 5};
  const CgResult few = conjugate_gradient(op, B.view(), options, context, X.view());
  CHECK((!few.converged && few.iterations == 5 && few.worst() > 1e-10));
  CHECK_REFUSED(MERCER_NOT_CONVERGED, require_converged(few, options), "5 iterations");
  // A tolerance below rounding ends too, with the residual that there is.
  options = {.tolerance = 0, .most_iterations = 1'000'000};
  const CgResult rounded = conjugate_gradient(op, B.view(), options, context, X.view());
  CHECK((!rounded.converged && rounded.iterations < 10'000 && rounded.worst() < 1e-9));

  Matrix<double> indefinite = copy(A.view()), bad = copy(B.view());
  for (int64_t i = 0; i < n; ++i) indefinite(i, i) -= 0.5;
  X.fill(0);
  CHECK_REFUSED(
      MERCER_NOT_POSITIVE_DEFINITE,
      conjugate_gradient(DenseOperator(indefinite.view()), B.view(), {}, context, X.view()),
      "p'A p");
  bad(3, 0) = std::nan("");
  X.fill(0);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, conjugate_gradient(op, bad.view(), {}, context, X.view()));
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                conjugate_gradient(op, B.view().block_rows(1, n), {}, context, X.view()), "A has");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                conjugate_gradient(op, B.view(), {.tolerance = -1}, context, X.view()),
                "tolerance");
  Context small;
  small.memory_cap = 3 * n * 8 - 1;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, conjugate_gradient(op, B.view(), {}, small, X.view()));
  Context cancelled;
  cancelled.cancel();
  CHECK_REFUSED(MERCER_CANCELLED, conjugate_gradient(op, B.view(), {}, cancelled, X.view()));
}

}  // namespace conjugate_gradient_test
