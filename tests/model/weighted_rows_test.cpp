// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits of weighted rows against fits of repeated ones, and of a source's halves in two processes.
#include "model/row_stream.h"
#include "model/select/judge.h"
#include "model/select/selection.h"
#include "model_problem.h"
#include "prepared_by.h"
#include "solver/primal_system.h"
#include "support/fit.h"
#include "support/matrix_source.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/thread_reduction.h"

namespace weighted_rows_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

std::vector<double> weights_of(int64_t n) {
  std::vector<double> weights;
  for (int64_t i = 0; i < n; ++i) weights.push_back(static_cast<double>((i + 1) % 4));
  return weights;
}

/// Row i of `rows` as often as its weight says.
template <class T>
Matrix<T> repeated(MatrixView<const T> rows, const std::vector<double>& weights) {
  Matrix<T> all(static_cast<int64_t>(std::accumulate(weights.begin(), weights.end(), 0.0)),
                rows.cols);
  int64_t to = 0;
  for (int64_t i = 0; i < rows.rows; ++i)
    for (int k = 0; k < static_cast<int>(weights[i]); ++k)
      std::copy_n(rows.row(i), rows.cols, all.view().row(to++));
  return all;
}

/// All rows at once, weights beside them.
class OneBlock final : public RowStream {
 public:
  OneBlock(Rows X, MatrixView<const double> Y, std::span<const double> weights)
      : block_{X, Y, weights} {}
  void rewind() override { given_ = false; }
  bool weighted() const override { return true; }
  Block next() override {
    if (std::exchange(given_, true)) return {block_.X.block_rows(0, 0), block_.Y.block_rows(0, 0)};
    return block_;
  }

 private:
  Block block_;
  bool given_ = false;
};

TEST_CASE("a fit of weighted rows is that of repeated rows") {
  Context context;
  for (const Selection selection : {Selection::fixed, Selection::gcv})
    for (const int64_t D : {32, 256}) {  // the second: fewer rows than features, the dual form
      const Problem problem = smooth_problem(120, 3, 2, 0.1, 71);
      const std::vector<double> weights = weights_of(120);
      const Matrix<double> X = repeated<double>(problem.x(), weights),
                           Y = repeated<double>(problem.y(), weights);
      const auto map = gaussian_map(3, D);
      const Model weighted = fit(map, f64_options(selection), problem, weights);
      OneBlock stream(problem.x(), problem.y(), weights);
      const Model streamed = fit_stream(map, f64_options(selection), stream, 2, context);
      CHECK(largest_difference(predictions(streamed, problem.x()),
                               predictions(weighted, problem.x())) < 1e-12);
      if (selection == Selection::gcv) continue;  // to which a row is one whatever it weighs
      const Model whole = fit(map, f64_options(selection), X.view(), Y.view(), context);
      CHECK(largest_difference(predictions(weighted, problem.x()),
                               predictions(whole, problem.x())) < 1e-7);
      for (size_t j = 0; j < 3; ++j)
        CHECK(weighted.preparation.scale[j] == Approx(whole.preparation.scale[j]).epsilon(1e-12));
    }
}

TEST_CASE("sparse weighted rows and classes are those of repeated rows") {
  Context context;
  const auto sparse = sparse_rows<double>(150, 6, 3, 5);
  const std::vector<double> weights = weights_of(150);
  Matrix<double> dense(150, 6), Y(150, 1);
  dense.fill(0);
  for (int64_t i = 0; i < 150; ++i) {
    add_row(sparse.view(), i, dense.view().row(i));
    Y(i, 0) = dense(i, 0) > 0.1 ? 2 : dense(i, 1) > 0 ? 1 : 0;
  }
  FitOptions options = f64_options(Selection::fixed);
  options.coding.task = Task::classification;
  options.coding.classes = 3;
  const auto map = gaussian_map(6, 40, 2.0);
  const Matrix<double> X = repeated<double>(dense.view(), weights),
                       labels = repeated<double>(Y.view(), weights);
  SparseRows<double> copies;
  copies.cols = 6;
  for (int64_t i = 0; i < 150; ++i)
    for (int k = 0; k < static_cast<int>(weights[i]); ++k) {
      for_each_stored(sparse.view(), i, [&](int64_t j, double x) { copies.add(j, x); });
      copies.end_row();
    }
  const auto moments = fit_standardizer(sparse.view(), weights),
             plain = fit_standardizer(copies.view());
  for (size_t j = 0; j < 6; ++j) CHECK(moments.scale[j] == Approx(plain.scale[j]).epsilon(1e-12));
  options.prepare.standardize = false;  // sparse rows would not be centred
  const Model whole = fit(map, options, X.view(), labels.view(), context);
  const Model weighted = fit(map, options, sparse.view(), Y.view(), context, weights);
  CHECK(largest_difference(predictions(weighted, sparse.view()),
                           predictions(whole, sparse.view())) < 1e-7);
}

TEST_CASE("held-out scores of weighted rows are those of repeated rows") {
  Context context;
  for (const Task task : {Task::regression, Task::classification}) {
    Problem problem = smooth_problem(60, 3, 2, 0.3, 75);
    std::vector<double> weights = weights_of(60);
    for (int64_t i = 0; i < 60; ++i) {
      problem.Y(i, 0) = task == Task::classification ? static_cast<double>(i % 3 == 0) : 5;
      problem.Y(i, 1) =
          task == Task::classification ? static_cast<double>(i % 3 != 0) : problem.Y(i, 1);
    }
    // The first row weighs nothing and lies far away: no origin for the others.
    weights[0] = 0;
    const Matrix<double> Z = plain_features(*gaussian_map(3, 8), problem.x(), {}),
                         W = random_matrix(8, 2, 76);
    const Matrix<double> Zr = repeated<double>(Z.view(), weights),
                         Yr = repeated<double>(problem.y(), weights);
    if (task == Task::regression) problem.Y(0, 0) = problem.Y(0, 1) = 1e12;
    const solver::Weights linear{copy(W.view()), {0.5, 0.25}};
    const auto weighted = score_rows(MatrixSource(Z.view(), problem.y(), 7, false, weights), task,
                                     std::span(&linear, 1), context)[0];
    const auto plain = score_rows(MatrixSource(Zr.view(), Yr.view(), 64, false), task,
                                  std::span(&linear, 1), context)[0];
    CHECK(weighted.weight == static_cast<double>(Zr.rows()));
    CHECK(weighted.squared_error == Approx(plain.squared_error).epsilon(1e-12));
    CHECK(weighted.error_rate == Approx(plain.error_rate).epsilon(1e-12));
  }
}

TEST_CASE("leave-one-out of weighted rows weighs their errors, primal and dual") {
  Context context;
  const Problem problem = smooth_problem(40, 3, 1, 0.3, 77);
  const std::vector<double> weights = weights_of(40);
  for (const int64_t D : {16, 64}) {  // the second: the dual form
    const Matrix<double> Z = plain_features(*gaussian_map(3, D), problem.x(), {});
    const MatrixSource rows(Z.view(), problem.y(), 16, false, weights);
    const RidgeFit chosen = select(rows, SelectionOptions{}, Task::regression, {true}, context);
    solver::RowStatistics statistics(D, 1);
    statistics.add(Z.view(), problem.y(), context, weights);
    const solver::PrimalSystem path(std::move(statistics), true, context);
    for (const PathPoint& point : chosen.path) {
      if (point.lambda < 1e-4) continue;  // below, the fit interpolates
      const Matrix<double> r =
          path.leave_one_out({&point.lambda, 1}, {0, Z.view(), problem.y(), weights}, context);
      double squares = 0;
      for (int64_t i = 0; i < 40; ++i) squares += weights[i] * r(i, 0) * r(i, 0);
      CHECK(point.score == Approx(squares / path.weight()).epsilon(1e-6));
    }
  }
}

TEST_CASE("a process of too few rows to hold out makes all of them refuse") {
  const Problem problem = smooth_problem(40, 3, 1, 0.2, 78);
  const Matrix<double> Z = plain_features(*gaussian_map(3, 8), problem.x(), {});
  for (const Selection selection : {Selection::held_out, Selection::folds}) {
    std::vector<std::string> faults(2, "not run");
    ThreadJob(2).run([&](solver::Reduction& reduction, int process) {
      Context own;
      const int64_t first = process == 0 ? 0 : 39, last = process == 0 ? 39 : 40;
      const MatrixSource rows(Z.view().block_rows(first, last), problem.y().block_rows(first, last),
                              32, false, {}, &reduction);
      faults[process] = refusal_fault(
          MERCER_INVALID_ARGUMENT,
          [&] { select(rows, {.selection = selection}, Task::regression, {true}, own); },
          process == 0 ? "1 processes hold fewer than" : "1 rows (in this process");
    });
    CHECK(faults == std::vector<std::string>(2));
  }
}

TEST_CASE("weights that cannot be are refused by a fit") {
  Context context;
  const Problem problem = smooth_problem(30, 3, 1, 0.1, 74);
  const auto refused = [&](mercer_status status, std::vector<double> weights, const char* part) {
    return refusal_fault(
        status, [&] { fit(gaussian_map(3, 16), FitOptions{}, problem, weights); }, part);
  };
  CHECK(refused(MERCER_DIMENSION_MISMATCH, {1, 2}, "weights has 2 entries") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, std::vector<double>(30, 0.0), "sum to 0") == "");
  CHECK(refused(MERCER_INVALID_ARGUMENT, std::vector<double>(30, -1.0), "weight -1") == "");
  // Every row that is held out weighs nothing.
  std::vector<double> some(30, 1.0);
  for (const int64_t row : split_rows(all_rows(30), 0.1, 30, 0).held_out) some[row] = 0;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                fit(gaussian_map(3, 16), f64_options(Selection::held_out), problem, some),
                "rows held out with a target sum to 0");
  const std::vector<double> none(30, 0.0);
  OneBlock stream(problem.x(), problem.y(), none);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                fit_stream(gaussian_map(3, 16), FitOptions{}, stream, 1, context),
                "weights of source sum to 0");
}

}  // namespace weighted_rows_test
