// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Classes by Gaussian processes against tests/oracle/gp.json, to 1e-9 of the largest number
// compared, and against ridge of weighted rows.
#include <cmath>

#include "solver/latent_processes.h"
#include "solver/posterior.h"
#include "solver/primal_system.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/matrix_source.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/worst.h"

namespace dirichlet_posterior_test {
using namespace mercer;
using solver::ClassSums;
using solver::dirichlet_processes;
using solver::LatentProcesses;

Matrix<double> matrix_of(const test::Reference& rows) {
  Matrix<double> result(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()));
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < rows[0].size(); ++j)
      result(static_cast<int64_t>(i), static_cast<int64_t>(j)) = rows[i][j].get<double>();
  return result;
}

Matrix<double> codes(int64_t n, int64_t K) {
  Matrix<double> Y(n, K);
  Y.fill(0);
  for (int64_t i = 0; i < n; ++i) Y(i, (i * i + i / 3) % K) = 1;
  return Y;
}

struct Moments {
  Matrix<double> mean, variance;
};
Moments moments(const LatentProcesses& posterior, MatrixView<const double> T) {
  Moments found{Matrix<double>(T.rows, posterior.count()),
                Matrix<double>(T.rows, posterior.count())};
  posterior.moments(T, found.mean.view(), found.variance.view());
  return found;
}

double largest(const Matrix<double>& A, const Matrix<double>& B) {
  double worst = 0;
  for (int64_t k = 0; k < A.rows() * A.cols(); ++k)
    test::keep_worst(worst, std::abs(A.data()[k] - B.data()[k]));
  return worst;
}

TEST_CASE("dirichlet: targets and noises of the reference") {
  for (const test::Reference& one : test::oracle("gp")["dirichlet"])
    for (const bool own : {false, true}) {
      const auto target = solver::dirichlet_target(one["alpha"].get<double>(), own);
      const test::Reference& expected = one[own ? "y1" : "y0"];
      CHECK(target.value == Approx(expected["target"].get<double>()).epsilon(1e-12));
      CHECK(target.variance == Approx(expected["variance"].get<double>()).epsilon(1e-12));
    }
}

TEST_CASE("dirichlet: means and variances of the reference's classes") {
  const test::Reference one = test::oracle("gp")["classification"];
  const Matrix<double> Z = matrix_of(one["Phi"]), T = matrix_of(one["Phi_test"]);
  const auto K = static_cast<int64_t>(one["posterior"].size());
  Matrix<double> Y(Z.rows(), K);
  Y.fill(0);
  for (int64_t i = 0; i < Z.rows(); ++i) Y(i, one["labels"][i].get<int64_t>()) = 1;
  Context context;
  const test::MatrixSource rows(Z.view(), Y.view(), 3, false);
  const LatentProcesses posterior =
      dirichlet_processes(ClassSums(rows, context), one["alpha"].get<double>(),
                          1 / static_cast<double>(Z.rows()), false, context);
  const Moments found = moments(posterior, T.view());
  for (int64_t k = 0; k < K; ++k)
    for (int64_t i = 0; i < T.rows(); ++i) {
      const test::Reference& expected = one["posterior"][k];
      const auto row = static_cast<size_t>(i);
      CHECK(found.mean(i, k) == Approx(expected["mean"][row].get<double>()).epsilon(1e-9));
      CHECK(found.variance(i, k) == Approx(expected["variance"][row].get<double>()).epsilon(1e-9));
    }
}

TEST_CASE("dirichlet: a class is a Gaussian process of weighted rows, read back") {
  constexpr int64_t n = 40, D = 6, K = 3;
  const double alpha = 0.03, lambda = 0.02;
  const Matrix<double> Z = test::random_matrix(n, D, 5), Y = codes(n, K);
  std::vector<double> given;
  for (int64_t i = 0; i < n; ++i) given.push_back(i % 4 == 0 ? 2 : 1);
  Context context;
  const test::MatrixSource rows(Z.view(), Y.view(), 7, false, given);
  ClassSums sums(rows, context);
  const LatentProcesses posterior = dirichlet_processes(sums, alpha, lambda, true, context);
  const auto T = Z.view().block_rows(0, 9);
  const Moments found = moments(posterior, T);
  for (int64_t k = 0; k < K; ++k) {
    Matrix<double> y(n, 1);
    std::vector<double> weights;
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto target = solver::dirichlet_target(alpha, Y(i, k) == 1);
      y(i, 0) = target.value;
      weights.push_back(given[i] / target.variance);
      total += weights.back();
    }
    // Noise 1 for a row of weight 1, as the sums have it: n lambda is that over a weight's variance.
    const double own = lambda * sums.weight() / total;
    const test::MatrixSource one(Z.view(), y.view(), 7, false, weights);
    solver::RowStatistics statistics(D, 1);
    statistics.add(Z.view(), y.view(), context, weights);
    const solver::Weights mean = ridge_cholesky(std::move(statistics), true, own, context);
    const solver::Posterior plain(one, {}, own, mean, 1, context);
    Matrix<double> variance(9, 1);
    plain.variance(T, context, variance.view());
    const Matrix<double> f = test::product(T, mean.w.view());
    for (int64_t i = 0; i < 9; ++i) {
      CHECK(found.mean(i, k) == Approx(f(i, 0) + mean.intercept[0]).epsilon(1e-9));
      CHECK(found.variance(i, k) == Approx(variance(i, 0)).epsilon(1e-9));
    }
  }
  const Moments again = moments(LatentProcesses(posterior.numbers(), D, K), T);
  CHECK(largest(again.variance, found.variance) == 0);
}

TEST_CASE("dirichlet: numbers that are none, or too few, are refused") {
  Context context;
  const Matrix<double> Z = test::random_matrix(12, 3, 5), Y = codes(12, 2);
  const test::MatrixSource rows(Z.view(), Y.view(), 7, false);
  const LatentProcesses posterior =
      dirichlet_processes(ClassSums(rows, context), 0.01, 0.1, true, context);
  std::vector<double> numbers = posterior.numbers();
  numbers[4] = std::nan("");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, LatentProcesses(numbers, 3, 2), "finite");
  numbers[4] = 1, numbers[0] = 0;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, LatentProcesses(numbers, 3, 2), "pivot");
  numbers.pop_back();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, LatentProcesses(numbers, 3, 2), "numbers");
}

}  // namespace dirichlet_posterior_test
