// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Targets and features far from zero: fits, criteria and errors are those of the same rows moved to
// zero, up to what the rounding of the rows themselves costs, however the statistics came about.
#include "ridge_problem.h"
#include "solver/row_statistics.h"
#include "support/refusal.h"

namespace offset_test {
using namespace mercer;
using solver::PrimalSystem, solver::RowStatistics, solver::Weights;
using test::Problem;

constexpr double kLambda = 1e-4;
constexpr double kOffsetZ = 1e8, kOffsetY = 1e10;
// The rows carry relative errors of eps offset / deviation: 2.2e-8 in Z, 2.2e-6 in Y. Through a fit
// whose condition is at most 1/lambda's root they stay below this.
constexpr double kClose = 1e-3;

Problem offset(const Problem& problem, double z, double y) {
  Problem moved{test::copy(problem.Z.view()), test::copy(problem.Y.view())};
  for (int64_t i = 0; i < moved.Z.rows(); ++i) {
    for (int64_t j = 0; j < moved.Z.cols(); ++j) moved.Z(i, j) += z;
    for (int64_t j = 0; j < moved.Y.cols(); ++j) moved.Y(i, j) += y;
  }
  return moved;
}

struct Pair {
  Problem near = test::ridge_problem(300, 8, 2, 31);
  Problem far = offset(near, kOffsetZ, kOffsetY);
};

RowStatistics rows_of(const Problem& problem, int64_t first, int64_t last) {
  return test::statistics_of(problem.Z.view().block_rows(first, last),
                             problem.Y.view().block_rows(first, last));
}

bool close(double a, double b) { return std::abs(a - b) <= kClose * std::abs(b); }

double squares_of(const Matrix<double>& A, int64_t column) {
  double sum = 0;
  for (int64_t i = 0; i < A.rows(); ++i) sum += A(i, column) * A(i, column);
  return sum;
}

bool same_fit(const Weights& far, const Weights& near) {
  const double scale = test::largest(near.w.view());
  return test::difference(far.w.view(), near.w.view(), kClose * scale) == "";
}

/// Mean squared error of the fit on the far rows is that of the near one.
bool same_errors(const Weights& far, const RowStatistics& far_rows, const Weights& near,
                 const RowStatistics& near_rows) {
  const auto a = solver::mean_squared_error(far, far_rows);
  const auto b = solver::mean_squared_error(near, near_rows);
  return close(a[0], b[0]) && close(a[1], b[1]);
}

TEST_CASE("every form of ridge takes offsets of 1e8 in features and 1e10 in targets") {
  const Pair pair;
  Context context;
  const RowStatistics near = rows_of(pair.near, 0, 300), far = rows_of(pair.far, 0, 300);
  const PrimalSystem a(near.clone(context), true, context), b(far.clone(context), true, context);
  const Weights expected = a.solve(kLambda);
  REQUIRE(test::largest(expected.w.view()) > 0.1);
  CHECK(same_fit(b.solve(kLambda), expected));
  CHECK(same_fit(solver::ridge_cholesky(far.clone(context), true, kLambda, context), expected));
  CHECK(same_fit(solver::ridge_dual(pair.far.Z.view(), pair.far.Y.view(), true, kLambda, context),
                 expected));
  CHECK(close(b.effective_dimension(kLambda), a.effective_dimension(kLambda)));
  CHECK(close(b.gcv(kLambda)[1], a.gcv(kLambda)[1]));
  const auto left_far = test::left_out(b, kLambda, pair.far.Z.view(), pair.far.Y.view(), context);
  const auto left_near =
      test::left_out(a, kLambda, pair.near.Z.view(), pair.near.Y.view(), context);
  CHECK(close(squares_of(left_far, 1), squares_of(left_near, 1)));
}

TEST_CASE("errors from statistics do not cancel: held-out rows") {
  const Pair pair;
  Context context;
  const RowStatistics near[] = {rows_of(pair.near, 0, 100), rows_of(pair.near, 100, 180),
                                rows_of(pair.near, 180, 300)};
  const RowStatistics far[] = {rows_of(pair.far, 0, 100), rows_of(pair.far, 100, 180),
                               rows_of(pair.far, 180, 300)};
  const PrimalSystem a(near[0].clone(context), true, context),
      b(far[0].clone(context), true, context);
  CHECK(close(b.held_out_error(kLambda, far[1])[0], a.held_out_error(kLambda, near[1])[0]));
  CHECK(same_errors(b.solve(kLambda), far[2], a.solve(kLambda), near[2]));
}

TEST_CASE("merged, subtracted, removed: statistics far from zero stay right") {
  const Pair pair;
  Context context;
  const Weights expected =
      solver::ridge_cholesky(rows_of(pair.near, 100, 300), true, kLambda, context);
  RowStatistics merged = rows_of(pair.far, 180, 300);
  merged.merge(rows_of(pair.far, 100, 180));
  RowStatistics subtracted = rows_of(pair.far, 0, 300);
  subtracted.subtract(rows_of(pair.far, 0, 100));
  RowStatistics removed = rows_of(pair.far, 0, 300);
  removed.remove(MatrixView<const double>(pair.far.Z.view().block_rows(0, 100)),
                 pair.far.Y.view().block_rows(0, 100), context);
  RowStatistics row_by_row(8, 2);
  for (int64_t i = 100; i < 300; ++i) row_by_row.merge(rows_of(pair.far, i, i + 1));
  for (RowStatistics* each : {&merged, &subtracted, &removed, &row_by_row})
    CHECK(same_fit(solver::ridge_cholesky(std::move(*each), true, kLambda, context), expected));
}

TEST_CASE("a window that wanders takes the origin along") {
  // The target rises by 1e3 deviations a block: about the first block's mean, a window far along
  // would have lost 12 digits of its variance.
  Context context;
  const Problem base = test::ridge_problem(50, 4, 1, 77);
  const auto block = [&](int64_t k) { return offset(base, 0, 1e3 * static_cast<double>(k)); };
  RowStatistics window(4, 1);
  for (int64_t k = 0; k < 2000; ++k) {
    const Problem next = block(k), gone = block(k - 1);
    window.add(MatrixView<const double>(next.Z.view()), next.Y.view(), context);
    if (k > 0) window.remove(MatrixView<const double>(gone.Z.view()), gone.Y.view(), context);
  }
  const Weights expected = solver::ridge_cholesky(rows_of(base, 0, 50), true, kLambda, context);
  CHECK(!solver::origin_is_far(window));
  CHECK(same_fit(solver::ridge_cholesky(std::move(window), true, kLambda, context), expected));
}

TEST_CASE("without centring the sums are those about zero") {
  const Problem problem = offset(test::ridge_problem(60, 5, 1, 5), 3, -7);
  Context context;
  const Weights fitted = solver::ridge_cholesky(rows_of(problem, 0, 60), false, kLambda, context);
  const Weights reference = test::reference_ridge(problem, false, 60 * kLambda);
  CHECK(test::weights_differ(fitted, reference, 1e-8) == "");
}

TEST_CASE("sums that overflow or hold NaN are refused, never scored") {
  Context context;
  const double nan = std::nan("");
  for (const double bad : {nan, 1e200}) {
    Problem problem = test::ridge_problem(20, 3, 1, 3);
    problem.Y(7, 0) = bad;
    const auto refused = [&](auto call) {
      return test::refusal_fault(MERCER_INVALID_ARGUMENT, call, "finite");
    };
    const RowStatistics poisoned = rows_of(problem, 0, 20);
    CHECK(refused([&] { PrimalSystem(poisoned.clone(context), true, context); }) == "");
    CHECK(refused([&] { solver::ridge_cholesky(poisoned.clone(context), true, 1, context); }) ==
          "");
    CHECK(refused([&] {
            solver::ridge_dual(problem.Z.view(), problem.Y.view(), true, 1, context);
          }) == "");
    const RowStatistics clean = rows_of(test::ridge_problem(20, 3, 1, 3), 0, 20);
    const PrimalSystem path(clean.clone(context), true, context);
    CHECK(refused([&] { path.held_out_error(1, poisoned); }) == "");
  }
}

}  // namespace offset_test
