// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What processes that share the rows find out together: extremes and quantiles to the bit, means
// and deviations to rounding, of dense and sparse rows.
#include "model/prepare/shared_order.h"
#include "model/row_stream.h"
#include "model_problem.h"
#include "support/catch.h"
#include "support/sparse.h"
#include "support/thread_reduction.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

/// The rows of one process, all at once.
class PartStream final : public RowStream {
 public:
  PartStream(Rows X, MatrixView<const double> Y, solver::Reduction* reduction)
      : X_(X), Y_(Y), reduction_(reduction) {}
  void rewind() override { read_ = false; }
  Block next() override {
    if (read_) return {X_.block_rows(0, 0), Y_.block_rows(0, 0)};
    read_ = true;
    return {X_, Y_};
  }
  solver::Reduction* reduction() const override { return reduction_; }

 private:
  Rows X_;
  MatrixView<const double> Y_;
  solver::Reduction* reduction_;
  bool read_ = false;
};

void check_shared(const Rows& X, MatrixView<const double> Y, const std::vector<int64_t>& bounds) {
  Fitting options;
  options.estimate.precision = feature::Precision::f64;
  options.select.selection = Selection::gcv;
  const auto map = gaussian_map(X.cols(), 24, 2.0);
  Context context;
  const Model whole = fit(map, options, X, Y, context);
  const auto processes = static_cast<int>(bounds.size()) - 1;
  std::vector<Model> models(static_cast<size_t>(processes));
  ThreadJob(processes).run([&](solver::Reduction& reduction, int process) {
    const int64_t first = bounds[static_cast<size_t>(process)],
                  last = bounds[static_cast<size_t>(process) + 1];
    PartStream rows(X.block_rows(first, last), Y.block_rows(first, last), &reduction);
    Context own;
    models[static_cast<size_t>(process)] = fit_stream(map, options, rows, Y.cols, own);
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
  }
}

}  // namespace

TEST_CASE("processes find ranges, means and deviations of all rows together", "[model]") {
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

TEST_CASE("the order of numbers in several processes is found by sums", "[model]") {
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
