// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge on operator-valued maps at its limits: residuals as asked for, sketches in blocks and kept,
// targets near the ends of double, nothing at all.
#include "operator_problem.h"
#include "solver/operator_ridge.h"
#include "support/catch.h"

using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

TEST_CASE("operator ridge: what converged has the residual that was asked for", "[solver]") {
  // Columns of sizes 1 to 1e-3: |A'r| is far below |A| |r| long before it is below |A'y|.
  const int64_t N = 60, p = 2, r = 20;
  Matrix<double> Phi = random_matrix(N * p, r, 761);
  for (int64_t row = 0; row < N * p; ++row)
    for (int64_t j = 0; j < r; ++j) Phi(row, j) *= std::pow(1e-3, static_cast<double>(j) / (r - 1));
  const ExplicitRows rows(Phi.view(), p);
  const Matrix<double> Y = random_matrix(N, p, 762);
  Context context;
  for (const double tolerance : {1e-3, 1e-6, 1e-9})
    for (const OperatorSolver solver : kSolvers) {
      std::vector<double> theta(r, 0.0);
      const OperatorRidge result =
          operator_ridge(rows, Y.view(), 1e-9, {solver, tolerance, 5000}, context, theta);
      CAPTURE(tolerance, static_cast<int>(solver), result.residual);
      CHECK((result.converged && result.residual <= tolerance));
      Matrix<double> off = product(Phi.view(), shaped(theta.data(), r, 1).view());
      for (int64_t row = 0; row < N * p; ++row) off(row, 0) = Y(row / p, row % p) - off(row, 0);
      const Matrix<double> back = product(transposed(Phi.view()).view(), off.view());
      const Matrix<double> whole =
          product(transposed(Phi.view()).view(), shaped(Y.data(), N * p, 1).view());
      const Matrix<double> left = filled(r, 1, [&](int64_t j, int64_t) {
        return back(j, 0) - 60e-9 * theta[static_cast<size_t>(j)];
      });
      CHECK(sum_of_squares(left.view()) <=
            1.01 * tolerance * tolerance * sum_of_squares(whole.view()));
    }
}

TEST_CASE("operator ridge: a sketch is made in blocks, and once for several lambdas", "[solver]") {
  class Counted final : public linalg::LinearOperator {
   public:
    explicit Counted(MatrixView<const double> A) : A_(A) {}
    int64_t rows() const override { return A_.rows(); }
    int64_t cols() const override { return A_.cols(); }
    mutable int64_t widest = 0;

   private:
    void multiply(linalg::Transpose transpose, MatrixView<const double> X, Context& context,
                  MatrixView<double> Y) const override {
      widest = std::max(widest, X.cols);
      transpose == linalg::Transpose::no ? A_.apply(X, context, Y)
                                         : A_.apply_transpose(X, context, Y);
    }
    linalg::DenseOperator A_;
  };
  Context context;
  const Matrix<double> A = random_matrix(30, 12, 771), X = random_matrix(12, 19, 772);
  const Counted counted(A.view());
  Matrix<double> Y(12, 19);
  NormalEquations(counted, 0.5).apply(X.view(), context, Y.view());
  CHECK(counted.widest == 8);
  const Matrix<double> AX = product(A.view(), X.view());
  const Matrix<double> AtAX = product(transposed(A.view()).view(), AX.view());
  CHECK(difference(
            Y.view(),
            filled(12, 19, [&](int64_t i, int64_t j) { return AtAX(i, j) + 0.5 * X(i, j); }).view(),
            1e-12) == "");

  // A spectrum so wide that 100 plain steps do not do.
  const int64_t r = 240;
  Matrix<double> Phi = random_matrix(400, r, 773);
  for (int64_t row = 0; row < 400; ++row)
    for (int64_t j = 0; j < r; ++j) Phi(row, j) *= std::pow(1e-4, static_cast<double>(j) / r);
  const ExplicitRows rows(Phi.view(), 2);
  const Matrix<double> targets = random_matrix(200, 2, 774);
  std::optional<NystroemPreconditioner> sketch;
  const auto iterations = [&](std::optional<NystroemPreconditioner>* kept) {
    std::vector<double> theta(static_cast<size_t>(r), 0.0);
    const OperatorRidge result = operator_ridge(
        rows, targets.view(), 1e-9, {.tolerance = 1e-8, .most_iterations = 5000, .sketch = kept},
        context, theta);
    CHECK(result.converged);
    return result.iterations;
  };
  const int64_t alone = iterations(nullptr), first = iterations(&sketch),
                next = iterations(&sketch);
  REQUIRE(sketch.has_value());
  CHECK((first == alone && next == alone - 60));  // a rank of r / 4
}

TEST_CASE("operator ridge: targets whose squares are no numbers", "[solver]") {
  const Matrix<double> Phi = random_matrix(40, 6, 791), Y = random_matrix(20, 2, 792);
  const ExplicitRows rows(Phi.view(), 2);
  for (const OperatorSolver solver : kSolvers)
    for (const double unit : {0x1p-600, 0x1p600}) {
      const Matrix<double> usual = solved(rows, Y.view(), 0.1, solver);
      const Matrix<double> scaled =
          filled(20, 2, [&](int64_t i, int64_t k) { return unit * Y(i, k); });
      const Matrix<double> found = solved(rows, scaled.view(), 0.1, solver);
      CHECK(difference(filled(6, 1, [&](int64_t j, int64_t) { return found(j, 0) / unit; }).view(),
                       usual.view(), 1e-11) == "");
    }
}

TEST_CASE("feature equivalence of nothing: no coefficients, no difference", "[solver]") {
  const Matrix<double> Phi = random_matrix(20, 6, 781);
  const ExplicitRows rows(Phi.view(), 2);
  Matrix<double> u(10, 2);
  u.fill(0);
  const std::vector<double> theta(6, 0.0);
  Context context;
  const FeatureEquivalence same = feature_equivalence(rows, u.view(), theta, context);
  CHECK((same.residual == 0 && same.seen == 0));
}

TEST_CASE("operator ridge: what rounding alone decides has not converged", "[solver]") {
  // Pairs of equal rows with opposite targets but for 1e-13 of them, which is all that A'y sees.
  const int64_t N = 200, r = 5;
  const Matrix<double> half = random_matrix(N / 2, r, 781), t = random_matrix(N / 2, 1, 782);
  const Matrix<double> A = filled(N, r, [&](int64_t i, int64_t j) { return half(i / 2, j); });
  const Matrix<double> y = filled(N, 1, [&](int64_t i, int64_t) {
    return i % 2 == 0 ? t(i / 2, 0) : 1e-13 * half(i / 2, 0) - t(i / 2, 0);
  });
  const ExplicitRows rows(A.view(), 1);
  Context context;
  for (const OperatorSolver solver : kSolvers) {
    std::vector<double> theta(r, 0.0);
    const OperatorRidge result =
        operator_ridge(rows, y.view(), 1e-12, {solver, 1e-8, 200}, context, theta);
    CAPTURE(static_cast<int>(solver), result.residual);
    CHECK((!result.converged || result.residual <= 1e-6));
  }
}
