// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Processes that share rows: statistics and the normal operator of all rows in each of them.
#include "ridge_problem.h"
#include "solver/block_statistics.h"
#include "solver/iterative_system.h"
#include "support/catch.h"
#include "support/matrix_source.h"
#include "support/refusal.h"
#include "support/thread_reduction.h"

namespace reduction_test {
using namespace mercer;
using namespace mercer::test;
using solver::NormalOperator, solver::RowStatistics;

/// Statistics of rows [first, last) in each of the processes.
std::vector<RowStatistics> reduced(const Problem& problem, const std::vector<int64_t>& bounds,
                                   const std::vector<double>& weights = {}) {
  const auto size = static_cast<int>(bounds.size()) - 1;
  std::vector<RowStatistics> all;
  for (int i = 0; i < size; ++i) all.emplace_back(problem.Z.cols(), problem.Y.cols());
  ThreadJob(size).run([&](solver::Reduction& reduction, int process) {
    const int64_t first = bounds[process];
    const int64_t last = bounds[static_cast<size_t>(process) + 1];
    std::vector<double> own_weights;
    for (int64_t i = first; i < last && !weights.empty(); ++i) own_weights.push_back(weights[i]);
    const MatrixSource rows(problem.Z.view().block_rows(first, last),
                            problem.Y.view().block_rows(first, last), 16, false, own_weights,
                            &reduction);
    Context context;
    RowStatistics own(problem.Z.cols(), problem.Y.cols());
    solver::add_blocks(rows, own, context);
    all[process] = solver::take_reduced(rows, std::move(own));
  });
  return all;
}

TEST_CASE("statistics of processes add up to those of one, in each of them") {
  const Problem problem = ridge_problem(90, 11, 2, 211);
  Context context;
  const solver::Weights expected = reference_ridge(problem, true, 90 * 1e-3);
  // Halves, parts of unlike sizes, and a process that has no rows.
  for (const std::vector<int64_t>& bounds :
       {std::vector<int64_t>{0, 45, 90}, {0, 3, 80, 90}, {0, 50, 50, 90}}) {
    std::vector<RowStatistics> all = reduced(problem, bounds);
    for (const RowStatistics& one : all) {
      CHECK(one.rows() == 90);
      CHECK(one.weight() == 90);
      CHECK(difference(one.gram(), all[0].gram(), 0.0, true) == "");  // the same bits
      CHECK(difference(one.cross(), all[0].cross(), 0.0) == "");
      CHECK(weights_differ(solver::ridge_cholesky(one.clone(context), true, 1e-3, context),
                           expected, 1e-9) == "");
      CHECK(solver::mean_squared_error(expected, one)[1] ==
            Approx(solver::mean_squared_error(expected,
                                              statistics_of(problem.Z.view(), problem.Y.view()))[1])
                .epsilon(1e-10));
    }
  }
}

TEST_CASE("statistics of weighted rows of processes add up") {
  const Problem problem = ridge_problem(90, 7, 2, 214);
  std::vector<double> weights;
  for (int64_t i = 0; i < 90; ++i) weights.push_back(0.25 * static_cast<double>(i % 5));
  for (size_t i = 0; i < 30; ++i) weights[i] = 0;  // a process whose rows weigh nothing
  Context context;
  RowStatistics whole(7, 2);
  whole.add(problem.Z.view(), problem.Y.view(), context, weights);
  const solver::Weights expected =
      solver::ridge_cholesky(whole.clone(context), true, 1e-3, context);
  for (const RowStatistics& one : reduced(problem, {0, 30, 50, 90}, weights)) {
    CHECK(one.rows() == 90);
    CHECK(one.weight() == whole.weight());
    CHECK(weights_differ(solver::ridge_cholesky(one.clone(context), true, 1e-3, context), expected,
                         1e-10) == "");
  }
}

TEST_CASE("rows far from zero keep their digits when processes add up") {
  Problem problem = ridge_problem(60, 4, 1, 212);
  const solver::Weights expected = reference_ridge(problem, true, 60 * 1e-2);
  for (int64_t i = 0; i < 60; ++i)
    for (int64_t j = 0; j < 4; ++j) problem.Z(i, j) += 1e6;
  Context context;
  const auto all = reduced(problem, {0, 20, 60});
  const solver::Weights far = solver::ridge_cholesky(all[1].clone(context), true, 1e-2, context);
  // The offset itself costs 1e6 eps of the features; squares of it would cost 1e12 eps.
  CHECK(difference(far.w.view(), expected.w.view(), 1e-7 * largest(expected.w.view())) == "");
}

TEST_CASE("one process has all rows: nothing is summed") {
  const Problem problem = ridge_problem(20, 3, 1, 213);
  const MatrixSource rows(problem.Z.view(), problem.Y.view(), 5, false);
  std::vector<double> numbers = {1, 2};
  solver::reduce(rows, numbers);
  CHECK(numbers == std::vector<double>{1, 2});
}

double inner(const Matrix<double>& A, const Matrix<double>& B) {
  double sum = 0;
  for (int64_t i = 0; i < A.rows() * A.cols(); ++i) sum += A.data()[i] * B.data()[i];
  return sum;
}

/// (Z - mean)'W(Z - mean), written out.
Matrix<double> plain_normal(const Matrix<double>& Z, const std::vector<double>& weights,
                            bool center) {
  const int64_t D = Z.cols();
  std::vector<double> mean(D, 0.0);
  double n = 0;
  for (size_t i = 0; i < weights.size(); ++i) n += weights[i];
  for (int64_t i = 0; i < Z.rows(); ++i)
    for (int64_t j = 0; center && j < D; ++j) mean[j] += weights[i] * Z(i, j) / n;
  Matrix<double> C = copy(MatrixView<const double>(Z.view())), WC(Z.rows(), D);
  for (int64_t i = 0; i < Z.rows(); ++i)
    for (int64_t j = 0; j < D; ++j) {
      C(i, j) -= mean[j];
      WC(i, j) = weights[i] * C(i, j);
    }
  return product(transposed(C.view()).view(), WC.view());
}

std::vector<double> some_weights(int64_t n) {
  std::vector<double> weights;
  for (int64_t i = 0; i < n; ++i) weights.push_back(0.5 * static_cast<double>(i % 5));
  return weights;
}

TEST_CASE("the normal operator is the Gram matrix, and symmetric") {
  const Problem problem = ridge_problem(60, 8, 1, 304);
  const std::vector<double> weights = some_weights(60);
  const int64_t columns = GENERATE(3, 20);  // few, many
  const Matrix<double> X = random_matrix(8, columns, 305), V = random_matrix(8, columns, 306);
  Context context;
  for (const bool center : {false, true}) {
    const MatrixSource rows(problem.Z.view(), problem.Y.view(), 7, false, weights);
    const NormalOperator A(rows, center, context);
    CHECK(A.weight() == 60);
    Matrix<double> AX(8, columns), AV(8, columns);
    A.apply(X.view(), context, AX.view());
    A.apply(V.view(), context, AV.view());
    const Matrix<double> expected = plain_normal(problem.Z, weights, center);
    CHECK(difference(AX.view(), product(expected.view(), X.view()).view(), 1e-12) == "");
    CHECK(inner(AX, V) == Approx(inner(X, AV)).epsilon(1e-12));
  }
}

TEST_CASE("processes that share the rows have one normal operator") {
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
    results[process] = std::move(Y);
  });
  CHECK(difference(results[0].view(), results[1].view(), 0.0) == "");
  CHECK(difference(results[0].view(), expected.view(), 1e-5) == "");  // single precision rows
}

TEST_CASE("processes that share the rows pass over them to one fit") {
  const Problem problem = ridge_problem(90, 6, 2, 309);
  const auto iterative = GENERATE(solver::Iterative::sketch, solver::Iterative::gram);
  const bool center = GENERATE(false, true);
  const solver::Weights expected = reference_ridge(problem, center, 90 * 1e-3);
  std::vector<solver::Weights> found(3);
  const std::vector<int64_t> bounds{0, 25, 25, 90};  // one has no rows
  ThreadJob(3).run([&](solver::Reduction& reduction, int process) {
    Context own;
    const int64_t first = bounds[process], last = bounds[static_cast<size_t>(process) + 1];
    const MatrixSource rows(problem.Z.view().block_rows(first, last),
                            problem.Y.view().block_rows(first, last), 8, false, {}, &reduction);
    found[process] =
        make_iterative_system(rows, {center, nullptr, iterative}, own)->solve(1e-3, own);
  });
  for (const solver::Weights& one : found) CHECK(weights_differ(one, expected, 1e-7) == "");
}

}  // namespace reduction_test
