// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits of rows that come block by block, also to several processes, against fits of the same rows in
// memory.
#include "memory_stream.h"
#include "model/estimator/model_entry.h"
#include "model/prepare/preparation.h"
#include "model/row_stream.h"
#include "model_problem.h"
#include "prepared_by.h"
#include "support/catch.h"
#include "support/fit.h"
#include "support/refusal.h"
#include "support/sparse.h"
#include "support/thread_reduction.h"

namespace stream_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

TEST_CASE("a stream of blocks fits as its rows in memory do") {
  const Problem problem = smooth_problem(500, 3, 2, 0.1, 1);
  Context context;
  for (const Selection selection : {Selection::fixed, Selection::gcv, Selection::leave_one_out,
                                    Selection::held_out, Selection::folds}) {
    const auto map = gaussian_map(3, 64);
    const Model whole = fit(map, f64_options(selection), problem);
    MemoryStream stream(problem.x(), problem.y(), {1, 7, 120, 33});
    const Model streamed = fit_stream(map, f64_options(selection), stream, 2, context);
    CHECK(streamed.rows == 500);
    for (size_t j = 0; j < 3; ++j) {
      CHECK(streamed.ranges.inputs[j].lowest == whole.ranges.inputs[j].lowest);
      CHECK(streamed.ranges.inputs[j].high == whole.ranges.inputs[j].high);
    }
    CHECK(streamed.ranges.targets[1].highest == whole.ranges.targets[1].highest);
    CHECK(streamed.fit.select.lambda == whole.fit.select.lambda);
    // Standardisation, statistics, leave-one-out; two more for the first part held out (the rest,
    // its score, itself), three for each other fold.
    const std::map<Selection, int64_t> passes = {{Selection::fixed, 2},
                                                 {Selection::gcv, 2},
                                                 {Selection::leave_one_out, 3},
                                                 {Selection::held_out, 4},
                                                 {Selection::folds, 4 + 4 * 3}};
    CHECK(stream.passes == passes.at(selection));
    CHECK(largest_difference(predictions(streamed, problem.x()), predictions(whole, problem.x())) <
          1e-7);
  }
}

TEST_CASE("a stream of classes holds the same rows out as rows in memory do") {
  Problem problem = smooth_problem(300, 3, 1, 0.3, 5);
  // A rare class, a common one and the rest, in no order.
  for (int64_t i = 0; i < 300; ++i)
    problem.Y(i, 0) = problem.Y(i, 0) > 0.9 ? 2 : problem.Y(i, 0) > 0 ? 1 : 0;
  const auto map = gaussian_map(3, 64);
  Context context;
  for (const Selection selection : {Selection::fixed, Selection::gcv, Selection::leave_one_out,
                                    Selection::held_out, Selection::folds}) {
    FitOptions options = f64_options(selection);
    options.coding.task = Task::classification;
    options.coding.classes = 3;
    const Model whole = fit(map, options, problem);
    MemoryStream stream(problem.x(), problem.y(), {1, 7, 120, 33});
    const Model streamed = fit_stream(map, options, stream, 1, context);
    CAPTURE(static_cast<int>(selection));
    CHECK(streamed.fit.select.lambda == whole.fit.select.lambda);
    REQUIRE(streamed.path.size() == whole.path.size());
    double apart = 0;
    for (size_t k = 0; k < whole.path.size(); ++k)
      apart = std::max(apart, std::abs(streamed.path[k].score - whole.path[k].score));
    CHECK(apart < 1e-7);
    CHECK(largest_difference(predictions(streamed, problem.x()), predictions(whole, problem.x())) <
          1e-7);
  }
}

TEST_CASE("rows held out and folds by class are charged for the class numbers of a stream") {
  constexpr int64_t kRows = 200000;
  const Matrix<double> X = random_matrix(kRows, 3, 21);
  Matrix<double> Y(kRows, 1);
  for (int64_t i = 0; i < kRows; ++i) Y(i, 0) = static_cast<double>(i % 2);
  FitOptions options = f64_options(GENERATE(Selection::held_out, Selection::folds));
  options.coding.task = Task::classification;
  options.coding.classes = 2;
  Context context;
  // Enough for 8 features, and for a sample of the few rows that weigh anything.
  context.memory_cap = int64_t{2} << 20;
  std::vector<double> weights(kRows, 0.0);
  std::fill_n(weights.begin(), 100, 1.0);
  MemoryStream stream(X.view(), Y.view(), {1000});
  stream.weights = weights;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, fit_stream(gaussian_map(3, 8), options, stream, 1, context),
                "the class numbers of a stream's rows");
}

TEST_CASE("a stream fits a loss as its rows in memory do", "[loss]") {
  Problem problem = smooth_problem(400, 3, 1, 0.1, 3);
  Context context;
  for (const char* loss : {"logistic", "huber"}) {
    FitOptions options = f64_options(Selection::held_out);
    options.estimate.entry = &logistic_model();
    options.estimate.parameters = default_parameters(logistic_model());
    options.estimate.parameters.set("loss", loss);
    options.estimate.parameters.set("tolerance", 1e-9);
    if (std::string(loss) == "logistic") {
      options.coding.task = Task::classification;
      options.coding.classes = 2;
    }
    for (int64_t i = 0; i < 400 && options.coding.classes == 2; ++i)
      problem.Y(i, 0) = problem.Y(i, 0) > 0.2 ? 1 : 0;
    const auto map = gaussian_map(3, 32);
    const Model whole = fit(map, options, problem);
    MemoryStream stream(problem.x(), problem.y(), {1, 7, 120, 33});
    const Model streamed = fit_stream(map, options, stream, 1, context);
    CAPTURE(loss, whole.fit.select.lambda, streamed.fit.select.lambda);
    CHECK(largest_difference(predictions(streamed, problem.x()), predictions(whole, problem.x())) <
          1e-4);
    CHECK(std::abs(streamed.calibration.slope - whole.calibration.slope) <= 1e-4);
  }
}

TEST_CASE("a stream of sparse rows, of classes, and of fewer rows than features") {
  Context context;
  const auto X = sparse_rows<float>(300, 9, 5, 4);
  Matrix<double> Y(300, 1);
  for (int64_t i = 0; i < 300; ++i) Y(i, 0) = static_cast<double>(X.offsets[i + 1] % 3);
  FitOptions options = f64_options(Selection::gcv);
  options.coding.task = Task::classification;
  options.coding.classes = 3;
  const auto map = gaussian_map(9, 40, 2.0);
  MemoryStream stream(X.view(), Y.view(), {64});
  const Model streamed = fit_stream(map, options, stream, 1, context);
  const Model whole = fit(map, options, X.view(), Y.view(), context);
  CHECK(largest_difference(predictions(streamed, X.view()), predictions(whole, X.view())) < 1e-7);

  const Problem small = smooth_problem(20, 3, 1, 0.1, 2);
  MemoryStream few(small.x(), small.y(), {6});
  const auto wide = gaussian_map(3, 64);
  const Model a = fit_stream(wide, f64_options(Selection::fixed), few, 1, context);
  const Model b = fit(wide, f64_options(Selection::fixed), small);
  CHECK(largest_difference(predictions(a, small.x()), predictions(b, small.x())) < 1e-7);
}

TEST_CASE("moments of blocks are those of all rows") {
  Matrix<double> X = random_matrix(301, 4, 3);
  for (int64_t i = 0; i < 301; ++i) {
    X(i, 1) += 1e9;
    X(i, 2) = 5;
  }
  ColumnMoments moments(4);
  for (int64_t first = 0; first < 301; first += 43)
    moments.add(X.view().block_rows(first, std::min<int64_t>(301, first + 43)));
  const Preparation blocks = moments.preparation(), whole = fit_standardizer(X.view());
  for (size_t j = 0; j < 4; ++j) {
    // Of numbers of 1e9 with a deviation of 0.6 the mean is known to about 1e-7.
    CHECK(std::abs(blocks.mean[j] - whole.mean[j]) <= 1e-15 * std::abs(whole.mean[j]) + 1e-15);
    CHECK(std::abs(blocks.scale[j] / whole.scale[j] - 1) < 1e-7);
  }
  CHECK(blocks.scale[2] == 1);
}

TEST_CASE("streams are refused as rows in memory are") {
  Problem problem = smooth_problem(50, 3, 1, 0, 1);
  Context context;
  const auto map = gaussian_map(3, 16);
  const auto refused = [&](mercer_status status, const FitOptions& options, const char* part) {
    MemoryStream stream(problem.x(), problem.y(), {20});
    return refusal_fault(
        status, [&] { fit_stream(map, options, stream, 1, context); }, part);
  };
  FitOptions folds = f64_options(Selection::folds);
  folds.select.folds = 51;
  CHECK(refused(MERCER_INVALID_ARGUMENT, folds,
                "folds = 51, expected 2 to the number of rows, 50") == "");
  MemoryStream shorter(problem.x(), problem.y(), {20});
  shorter.drop_after_first = 3;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                fit_stream(map, f64_options(Selection::gcv), shorter, 1, context), "50 rows", "47");
  MemoryStream one(problem.x().block_rows(0, 1), problem.y().block_rows(0, 1), {20});
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                fit_stream(map, f64_options(Selection::gcv), one, 1, context), "source.n = 1");
  problem.X(33, 1) = std::nan("");
  CHECK(refused(MERCER_INVALID_ARGUMENT, f64_options(Selection::gcv),
                "the block after 20 rows: X: row 13, column 1 is nan, expected a finite number") ==
        "");
  problem.X(33, 1) = 0;
  problem.Y(49, 0) = 1e200;
  CHECK(refused(MERCER_INVALID_ARGUMENT, f64_options(Selection::gcv), "Y: row 9, column 0") == "");
}

void check_shared(const Rows& X, MatrixView<const double> Y, const std::vector<int64_t>& bounds,
                  Selection by = Selection::gcv) {
  FitOptions options;
  options.estimate.precision = feature::Precision::f64;
  options.select.selection = by;
  const auto map = gaussian_map(X.cols(), 24, 2.0);
  Context context;
  const Model whole = fit(map, options, X, Y, context);
  const auto processes = static_cast<int>(bounds.size()) - 1;
  std::vector<Model> models(processes);
  ThreadJob(processes).run([&](solver::Reduction& reduction, int process) {
    const int64_t first = bounds[process], last = bounds[static_cast<size_t>(process) + 1];
    MemoryStream rows(X.block_rows(first, last), Y.block_rows(first, last), {X.rows()});
    rows.shared = &reduction;
    Context own;
    models[process] = fit_stream(map, options, rows, Y.cols, own);
  });
  for (const Model& model : models) {
    CHECK(model.rows == X.rows());
    for (size_t j = 0; j < whole.ranges.inputs.size(); ++j) {
      const Range &one = model.ranges.inputs[j], &all = whole.ranges.inputs[j];
      CHECK((one.lowest == all.lowest && one.highest == all.highest));
      CHECK((one.low == all.low && one.high == all.high));
      // Sums of n numbers in another order: n 2^-52 of the largest.
      const double rounding = static_cast<double>(X.rows()) * 0x1p-52 *
                              std::max({1.0, std::abs(all.lowest), std::abs(all.highest)});
      CHECK(std::abs(model.preparation.mean[j] - whole.preparation.mean[j]) <= rounding);
      CHECK(std::abs(model.preparation.scale[j] / whole.preparation.scale[j] - 1) <= 1e-12);
      CHECK(model.preparation.mean[j] == models[0].preparation.mean[j]);
      CHECK(model.preparation.scale[j] == models[0].preparation.scale[j]);
    }
    CHECK(model.ranges.targets[0].low == whole.ranges.targets[0].low);
    CHECK(model.ranges.targets[0].highest == whole.ranges.targets[0].highest);
    CHECK(model.fit.select.lambda == whole.fit.select.lambda);
    CHECK(model.report.warnings == whole.report.warnings);
  }
}

TEST_CASE("processes find ranges, means and deviations of all rows together") {
  Problem problem = smooth_problem(200, 4, 1, 0.1, 31);
  for (int64_t i = 0; i < 200; ++i) {
    problem.X(i, 1) = problem.X(i, 1) > 0 ? 1 : 0;  // stays as it is
    problem.X(i, 2) = -1000 - problem.X(i, 2);
    if (i >= 150) problem.X(i, 0) += 5;  // the last process's alone
  }
  check_shared(problem.x(), problem.y(), {0, 90, 200});
  check_shared(problem.x(), problem.y(), {0, 0, 150, 200});
  const auto sparse = sparse_rows<double>(200, 6, 3, 9);
  check_shared(sparse.view(), problem.y(), {0, 90, 200});
}

TEST_CASE("processes share rows that miss targets") {
  Problem problem = smooth_problem(200, 4, 2, 0.1, 31);
  for (int64_t i = 0; i < 200; ++i)
    if (i % 3 == 0 || i < 90) problem.Y(i, 1) = std::nan("");  // the first process has none
  check_shared(problem.x(), problem.y(), {0, 90, 200}, Selection::leave_one_out);
  for (int64_t i = 0; i < 200; ++i) problem.Y(i, 1) = std::nan("");
  MemoryStream stream(problem.x(), problem.y(), {64});
  Context context;
  CHECK_REFUSED(
      MERCER_INVALID_ARGUMENT,
      fit_stream(gaussian_map(4, 24), f64_options(Selection::leave_one_out), stream, 2, context),
      "Y: column 1 (counted from 0) is NaN in every row that has a weight, expected some target");
}

TEST_CASE("every process refuses targets whose squares vanish in all of them") {
  const Problem problem = smooth_problem(40, 3, 1, 0.1, 31);
  const auto faults = [&](double unit, double of_last) {
    std::vector<std::string> each(2);
    ThreadJob(2).run([&](solver::Reduction& reduction, int process) {
      const Matrix<double> Y(20, 1);
      for (int64_t i = 0; i < 20; ++i)
        Y(i, 0) = problem.Y(20 * process + i, 0) * (process == 1 ? of_last : unit);
      MemoryStream rows(problem.X.view().block_rows(20 * process, 20 * process + 20), Y.view(),
                        {20});
      rows.shared = &reduction;
      Context context;
      each[static_cast<size_t>(process)] = refusal_fault(
          MERCER_INVALID_ARGUMENT,
          [&] { fit_stream(gaussian_map(3, 8), f64_options(Selection::gcv), rows, 1, context); },
          "numbers whose squares are not 0");
    });
    return each;
  };
  CHECK(faults(1e-170, 1e-170) == std::vector<std::string>{"", ""});
  CHECK(faults(1e-170, 0) == std::vector<std::string>{"", ""});
  CHECK(faults(1e-170, 1)[0].starts_with("status 0"));
}

TEST_CASE("the order of numbers in several processes is found by sums") {
  const std::vector<std::vector<double>> numbers = {{-1e300, -3, -0.0, 2.5}, {-3, 1e-310, 7}};
  // The k-th smallest of all seven, and of none.
  const std::vector<double> wanted = {1, 2, 3, 4, 5, 6, 7, 0};
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> expected = {-1e300, -3, -3, 0, 1e-310, 2.5, 7, -infinity};
  ThreadJob job(2);
  std::vector<std::vector<double>> found(2);
  job.run([&](solver::Reduction& reduction, int process) {
    const auto p = static_cast<size_t>(process);
    Context context;
    found[p] = shared_order(
        wanted,
        [&](size_t, double x) {
          return static_cast<double>(
              std::ranges::count_if(numbers[p], [&](double y) { return y <= x; }));
        },
        reduction, context);
  });
  CHECK(found[0] == expected);
  CHECK(found[1] == expected);
}

}  // namespace stream_test
