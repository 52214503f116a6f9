// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits in coordinates of the rows' span are fits of the features.
#include "linalg/blas.h"
#include "solver/loss_fit.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/matrix_source.h"
#include "support/worst.h"

namespace row_space_test {
using namespace mercer;
using solver::RowSpace;

constexpr int64_t n = 20, D = 60;

Matrix<double> signs(int64_t rows) {
  Matrix<double> Y(rows, 1);
  for (int64_t i = 0; i < rows; ++i) Y(i, 0) = i % 3 == 0 ? 1 : 0;
  return Y;
}

double apart(const Matrix<double>& A, const Matrix<double>& B) {
  double worst = 0;
  for (int64_t k = 0; k < A.rows() * A.cols(); ++k)
    test::keep_worst(worst, std::abs(A.data()[k] - B.data()[k]));
  return worst;
}

solver::Weights fitted(const solver::BlockSource& rows, const char* loss, Context& context) {
  solver::LossOptions options;
  options.loss = solver::find_loss(loss);
  solver::LossFit fit(rows, options, context);
  fit.run(0.01, {.gradient_tolerance = 1e-9, .most_iterations = 2000}, context);
  return fit.weights();
}

TEST_CASE("row space: inner products stay, of subsets as well; weights come back") {
  Context context;
  const Matrix<double> Z = test::random_matrix(n, D, 5), Y = signs(n);
  std::vector<double> weights;
  for (int64_t i = 0; i < n; ++i) weights.push_back(1 + static_cast<double>(i % 2));
  const test::MatrixSource rows(Z.view(), Y.view(), 7, false, weights);
  const RowSpace space(rows, context);
  REQUIRE(space.reduces());
  CHECK(space.rows().features() == n);
  const std::vector<int64_t> some = {1, 4, 5, 11, 19};
  const auto part = space.rows().subset(some);
  int64_t seen = 0;
  for_each_wide(*part, context, [&](const solver::WideBlock& block) {
    for (int64_t i = 0; i < block.Z.rows; ++i)
      for (int64_t j = 0; j < block.Z.rows; ++j) {
        const int64_t a = some[i], b = some[j];
        double own = 0, features = 0;
        for (int64_t k = 0; k < block.Z.cols; ++k) own += block.Z(i, k) * block.Z(j, k);
        for (int64_t k = 0; k < D; ++k) features += Z(a, k) * Z(b, k);
        CHECK(own == Approx(features).margin(1e-10));
        CHECK(block.weight(i) == weights[a]);
        CHECK(block.Y(i, 0) == Y(a, 0));
        ++seen;
      }
  });
  CHECK(seen == 25);
}

TEST_CASE("row space: losses have the weights that they have of the features") {
  Context context;
  const Matrix<double> Z = test::random_matrix(n, D, 5), Y = signs(n);
  const test::MatrixSource rows(Z.view(), Y.view(), 7, false);
  const RowSpace space(rows, context);
  for (const char* loss : {"huber", "poisson"}) {
    CAPTURE(loss);
    const solver::Weights whole = fitted(rows, loss, context);
    const solver::Weights found = space.weights(fitted(space.rows(), loss, context), context);
    CHECK(apart(found.w, whole.w) < 1e-5);
    CHECK(found.intercept[0] == Approx(whole.intercept[0]).margin(1e-5));
  }
}

TEST_CASE("row space: rows of rank 1 have one coordinate; many rows keep their features") {
  Context context;
  Matrix<double> Z(n, D);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < D; ++j) Z(i, j) = static_cast<double>((i + 1) * (j % 5));
  const Matrix<double> Y = signs(n), narrow = test::random_matrix(n, D / 2, 3);
  const test::MatrixSource rows(Z.view(), Y.view(), 7, false);
  CHECK(RowSpace(rows, context).rows().features() == 1);
  const test::MatrixSource many(narrow.view(), Y.view(), 7, false);
  CHECK(!RowSpace(many, context).reduces());
  Context tight;
  tight.memory_cap = n * D * 8;
  CHECK(!RowSpace(rows, tight).reduces());
}

}  // namespace row_space_test
