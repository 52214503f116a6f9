// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge on complex features, given as re and im in turn, against complex normal equations written
// out: w = (Z^H W Z + n lambda I)^{-1} Z^H W y, about the means, of which the real part is taken.
#include <complex>
#include <optional>
#include <vector>

#include "solver/block_statistics.h"
#include "solver/primal_system.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/matrix_source.h"

namespace complex_features_test {
using namespace mercer;
using solver::RowStatistics;
using Number = std::complex<double>;

constexpr int64_t kRows = 30, kFeatures = 4, kOutputs = 2;
constexpr double kLambda = 0.07;

struct Complex {
  Matrix<double> Z = test::random_matrix(kRows, 2 * kFeatures, 3),
                 Y = test::random_matrix(kRows, kOutputs, 4);
  std::vector<double> weights;
  Context context;
  Complex() {
    for (int64_t i = 0; i < kRows; ++i) {
      weights.push_back(i % 3 == 0 ? 0.4 : 1.3);
      Z(i, 1) += 2;  // far from the mean
      Y(i, 0) += 5;
    }
  }
  test::MatrixSource source() const {
    return {Z.view(), Y.view(), 7, false, weights, nullptr, true};
  }
  RowStatistics sums() {
    RowStatistics statistics(2 * kFeatures, kOutputs);
    add_blocks(source(), statistics, context);
    return statistics;
  }
  Number z(int64_t i, int64_t j) const { return {Z(i, 2 * j), Z(i, 2 * j + 1)}; }
};

/// x of A x = b by elimination; A is positive definite.
std::vector<Number> solved(std::vector<std::vector<Number>> A, std::vector<Number> b) {
  const size_t m = b.size();
  for (size_t k = 0; k < m; ++k)
    for (size_t i = k + 1; i < m; ++i) {
      const Number by = A[i][k] / A[k][k];
      for (size_t j = k; j < m; ++j) A[i][j] -= by * A[k][j];
      b[i] -= by * b[k];
    }
  for (size_t k = m; k-- > 0;) {
    for (size_t j = k + 1; j < m; ++j) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
  return b;
}

/// Re f at row `at` of the fit without row `left_out`, of an unpenalised first column of ones.
double fitted(const Complex& rows, int64_t output, int64_t at, int64_t left_out = -1) {
  double n = 0;
  for (const double w : rows.weights) n += w;
  const auto feature = [&](int64_t i, size_t j) {
    return j == 0 ? Number(1) : rows.z(i, static_cast<int64_t>(j) - 1);
  };
  std::vector<std::vector<Number>> A(kFeatures + 1, std::vector<Number>(kFeatures + 1));
  std::vector<Number> b(kFeatures + 1);
  for (size_t j = 1; j <= kFeatures; ++j) A[j][j] = n * kLambda;
  for (int64_t i = 0; i < kRows; ++i)
    for (size_t j = 0; j <= kFeatures && i != left_out; ++j) {
      const Number own = rows.weights[i] * std::conj(feature(i, j));
      for (size_t k = 0; k <= kFeatures; ++k) A[j][k] += own * feature(i, k);
      b[j] += own * rows.Y(i, output);
    }
  const std::vector<Number> w = solved(A, b);
  Number f = 0;
  for (size_t j = 0; j <= kFeatures; ++j) f += feature(at, j) * w[j];
  return f.real();
}

TEST_CASE("complex features: weights and rows left out are those of complex ridge") {
  Complex rows;
  const solver::PrimalSystem path(rows.sums(), true, rows.context);
  const solver::RidgeFactor factor(rows.sums(), true, kLambda, rows.context);
  const solver::Weights by_factor = factor.weights(rows.context), by_path = path.solve(kLambda);
  CHECK(test::difference(by_factor.w.view(), by_path.w.view(), 1e-10) == "");
  const Matrix<double> f = test::product(rows.Z.view(), by_path.w.view());
  const auto Z = MatrixView<const double>(rows.Z.view()),
             Y = MatrixView<const double>(rows.Y.view());
  const Matrix<double> left = test::left_out(path, kLambda, Z, Y, rows.context, rows.weights);
  const Matrix<double> also =
      factor.leave_one_out(by_factor, {0, Z, Y, rows.weights}, rows.context);
  double trace = 0;
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t o = 0; o < kOutputs; ++o) {
      const double with = fitted(rows, o, i), without = fitted(rows, o, i, i), y = Y(i, o);
      CHECK(f(i, o) + by_path.intercept[o] == Approx(with).epsilon(1e-9));
      CHECK(left(i, o) == Approx(y - without).epsilon(1e-8).margin(1e-9));
      CHECK(also(i, o) == Approx(y - without).epsilon(1e-8).margin(1e-9));
      if (o == 0) trace += 1 - (y - with) / (y - without);  // H_ii
    }
  CHECK(path.effective_dimension(kLambda) == Approx(trace).epsilon(1e-7));
  CHECK(factor.effective_dimension(rows.context) == Approx(trace).epsilon(1e-7));
}

TEST_CASE("complex features: sums that are moved, copied and taken apart stay complex") {
  Complex rows;
  RowStatistics all(2 * kFeatures, kOutputs), whole = rows.sums();
  all.merge(rows.sums());
  const test::MatrixSource source = rows.source();
  const std::vector<int64_t> some = {2, 3, 11};
  add_blocks(*source.subset(some), all, rows.context);
  remove_blocks(*source.subset(some), all, rows.context);
  const auto at = [&](RowStatistics&& sums) {
    return ridge_cholesky(std::move(sums), true, kLambda, rows.context).w;
  };
  const Matrix<double> expected = at(rows.sums());
  CHECK(test::difference(at(std::move(all)).view(), expected.view(), 1e-10) == "");
  CHECK(test::difference(at(whole.clone(rows.context)).view(), expected.view(), 1e-10) == "");
}

}  // namespace complex_features_test
