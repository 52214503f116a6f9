// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The Gram matrix by streaming, against the same matrices in memory.
#include "solver/normal_operator.h"

#include "ridge_problem.h"
#include "support/catch.h"
#include "support/matrix_source.h"
#include "support/refusal.h"
#include "support/thread_reduction.h"

using namespace mercer;
using namespace mercer::test;
using solver::NormalOperator;

namespace {

double inner(const Matrix<double>& A, const Matrix<double>& B) {
  double sum = 0;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i) sum += A.data()[i] * B.data()[i];
  return sum;
}

/// (Z - mean)'W(Z - mean), written out.
Matrix<double> plain_normal(const Matrix<double>& Z, const std::vector<double>& weights,
                            bool center) {
  const int64_t D = Z.cols();
  std::vector<double> mean(static_cast<size_t>(D), 0.0);
  double n = 0;
  for (size_t i = 0; i < weights.size(); ++i) n += weights[i];
  for (int64_t i = 0; i < Z.rows(); ++i)
    for (int64_t j = 0; center && j < D; ++j)
      mean[static_cast<size_t>(j)] += weights[static_cast<size_t>(i)] * Z(i, j) / n;
  Matrix<double> C = copy(MatrixView<const double>(Z.view())), WC(Z.rows(), D);
  for (int64_t i = 0; i < Z.rows(); ++i)
    for (int64_t j = 0; j < D; ++j) {
      C(i, j) -= mean[static_cast<size_t>(j)];
      WC(i, j) = weights[static_cast<size_t>(i)] * C(i, j);
    }
  return product(transposed(C.view()).view(), WC.view());
}

std::vector<double> some_weights(int64_t n) {
  std::vector<double> weights;
  for (int64_t i = 0; i < n; ++i) weights.push_back(0.5 * static_cast<double>(i % 5));
  return weights;
}

}  // namespace

TEST_CASE("the normal operator is the Gram matrix, and symmetric", "[solver]") {
  const Problem problem = ridge_problem(60, 8, 1, 304);
  const std::vector<double> weights = some_weights(60);
  const Matrix<double> X = random_matrix(8, 3, 305), V = random_matrix(8, 3, 306);
  Context context;
  for (const bool center : {false, true}) {
    const MatrixSource rows(problem.Z.view(), problem.Y.view(), 7, false, weights);
    const NormalOperator A(rows, center, context);
    CHECK(A.weight() == 60);
    Matrix<double> AX(8, 3), AV(8, 3), transposed_X(8, 3);
    A.apply(X.view(), context, AX.view());
    A.apply(V.view(), context, AV.view());
    A.apply_transpose(X.view(), context, transposed_X.view());
    const Matrix<double> expected = plain_normal(problem.Z, weights, center);
    CHECK(difference(AX.view(), product(expected.view(), X.view()).view(), 1e-12) == "");
    CHECK(difference(AX.view(), transposed_X.view(), 0.0) == "");
    CHECK(inner(AX, V) == Approx(inner(X, AV)).epsilon(1e-12));
  }
}

TEST_CASE("processes that share the rows have one normal operator", "[solver]") {
  const Problem problem = ridge_problem(40, 6, 1, 307);
  const Matrix<double> X = random_matrix(6, 2, 308);
  const Matrix<double> expected =
      product(plain_normal(problem.Z, std::vector<double>(40, 1.0), true).view(), X.view());
  std::vector<Matrix<double>> results(2);
  ThreadJob(2).run([&](solver::Reduction& reduction, int process) {
    Context own;
    const int64_t first = process * 15, last = process == 0 ? 15 : 40;
    const MatrixSource rows(problem.Z.view().block_rows(first, last),
                            problem.Y.view().block_rows(first, last), 8, true, {}, &reduction);
    const NormalOperator A(rows, true, own);
    Matrix<double> Y(6, 2);
    A.apply(X.view(), own, Y.view());
    results[static_cast<size_t>(process)] = std::move(Y);
  });
  CHECK(difference(results[0].view(), results[1].view(), 0.0) == "");
  CHECK(difference(results[0].view(), expected.view(), 1e-5) == "");  // single precision rows
}
