// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Predictions outside the range of the training rows.
#include "feature/linear.h"
#include "model/row_stream.h"
#include "model_problem.h"
#include "support/refusal.h"
#include "support/sparse.h"

namespace clipping_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

struct Predicted {
  Matrix<double> scores;
  RangeViolations outside;
};
Predicted predicted(const Model& model, const Rows& X, std::optional<Extrapolation> how = {}) {
  Predicted result{Matrix<double>(X.rows(), model.outputs()), {}};
  Context context;
  result.outside = predict(model, X, context, result.scores.view(), how);
  return result;
}

/// By hand: every number to the nearest of its column's range in `train`.
Matrix<double> clipped_by_hand(const Matrix<double>& X, const Matrix<double>& train) {
  Matrix<double> out = copy(X.view());
  for (int64_t j = 0; j < X.cols(); ++j) {
    double lowest = HUGE_VAL, highest = -HUGE_VAL;
    for (int64_t i = 0; i < train.rows(); ++i) {
      lowest = std::min(lowest, train(i, j));
      highest = std::max(highest, train(i, j));
    }
    for (int64_t i = 0; i < X.rows(); ++i) out(i, j) = std::min(std::max(X(i, j), lowest), highest);
  }
  return out;
}

RangeViolations differences(const Matrix<double>& X, const Matrix<double>& clipped) {
  RangeViolations found;
  found.inputs.assign(X.cols(), 0);
  for (int64_t i = 0; i < X.rows(); ++i) {
    const int64_t before = found.values;
    for (int64_t j = 0; j < X.cols(); ++j) {
      found.values += X(i, j) != clipped(i, j);
      found.inputs[j] += X(i, j) != clipped(i, j);
    }
    found.rows += found.values > before;
  }
  return found;
}

void check_same(const RangeViolations& a, const RangeViolations& b) {
  CHECK(a.rows == b.rows);
  CHECK(a.values == b.values);
  CHECK(a.inputs == b.inputs);
}

/// A map of the inputs as they are, so that a fit is a straight line, which leaves every range.
std::shared_ptr<const feature::FeatureMap> straight(int64_t d) {
  return feature::make_linear(*kernel::make_polynomial(1, 1.0, 0.0, 1.0), d, 16, {});
}

TEST_CASE("predictions k deviations away stay within twice the range of the targets") {
  const int64_t d = 3;
  const Problem problem = smooth_problem(80, d, 2, 0.3, 5);
  double lowest[2] = {HUGE_VAL, HUGE_VAL}, highest[2] = {-HUGE_VAL, -HUGE_VAL};
  for (int64_t i = 0; i < 80; ++i)
    for (int64_t o = 0; o < 2; ++o) {
      lowest[o] = std::min(lowest[o], problem.Y(i, o));
      highest[o] = std::max(highest[o], problem.Y(i, o));
    }
  for (const auto& map : {gaussian_map(d, 512, 0.2), gaussian_map(d, 64, 3.0), straight(d)}) {
    FitOptions options = f64_options(Selection::fixed);
    options.select.lambda = 1e-12;  // interpolates, and wildly so between and beyond the rows
    const Model model = fit(map, options, problem);
    int64_t limited = 0;
    for (int64_t k = 1; k <= 1000; k += k < 20 ? 1 : 49) {
      Matrix<double> far = copy(problem.x());
      for (int64_t i = 0; i < 80; ++i)
        for (int64_t j = 0; j < d; ++j)
          far(i, j) += static_cast<double>((i + j) % 2 == 0 ? k : -k) * 0.577;
      const Predicted found = predicted(model, far.view());
      limited += found.outside.predictions;
      int64_t beyond = 0;
      for (int64_t i = 0; i < 80; ++i)
        for (int64_t o = 0; o < 2; ++o) {
          const double half = (highest[o] - lowest[o]) / 2, f = found.scores(i, o);
          beyond += !(f >= lowest[o] - half && f <= highest[o] + half);
        }
      CHECK(beyond == 0);
      if (k >= 4) CHECK(found.outside.rows == 80);  // x is within (-1, 1)
    }
    if (map->features() == 64) CHECK(limited > 0);
  }
}

TEST_CASE("clipped rows are predicted as the rows clipped by hand, and counted") {
  const Problem problem = smooth_problem(200, 3, 2, 0.1, 7);
  const Matrix<double> X = random_matrix(900, 3, 8);
  for (int64_t i = 0; i < 900; i += 2) X(i, i % 3) *= 3;
  const Matrix<double> byhand = clipped_by_hand(X, problem.X);
  const Model model = fit(gaussian_map(3, 96), f64_options(Selection::gcv), problem);
  const Predicted found = predicted(model, X.view());
  check_same(found.outside, differences(X, byhand));
  CHECK(found.outside.rows > 100);
  CHECK(largest_difference(found.scores, predicted(model, byhand.view()).scores) == 0);

  const Predicted free = predicted(model, X.view(), Extrapolation::free);
  check_same(free.outside, found.outside);
  CHECK(free.outside.predictions == 0);
  CHECK(largest_difference(free.scores, found.scores) > 1e-3);

  // Training rows are inside, and in single precision, too.
  Matrix<float> single(200, 3);
  for (int64_t i = 0; i < 600; ++i) single.data()[i] = static_cast<float>(problem.X.data()[i]);
  CHECK(predicted(model, problem.x()).outside.rows == 0);
  CHECK(predicted(model, single.view()).outside.rows == 0);
  CHECK(largest_difference(predicted(model, problem.x()).scores,
                           predicted(model, problem.x(), Extrapolation::free).scores) == 0);
}

TEST_CASE("ranges of few rows are widened to those expected of a hundred") {
  // Expected ranges of n normal numbers in deviations (Tippett 1925): 10: 3.078, 20: 3.735,
  // 100: 5.015.
  const std::vector<Range> ranges = {{-1, -1, 3, 3}, {5, 5, 5, 5}};
  for (const auto& [rows, range] : {std::pair{int64_t{10}, 3.078}, {int64_t{20}, 3.735}}) {
    const std::vector<Range> wide = widened(ranges, rows);
    CHECK((wide[0].highest - wide[0].lowest) / 4 == Approx(5.015 / range).epsilon(0.02));
    CHECK(wide[0].highest + wide[0].lowest == Approx(2));
    CHECK(wide[1].lowest == 5);
    CHECK(wide[1].highest == 5);
  }
  CHECK(widened(ranges, 100)[0].highest == 3);
  // A line through 20 rows goes on as far, not farther.
  Problem problem{random_matrix(20, 1, 3), Matrix<double>(20, 1)};
  for (int64_t i = 0; i < 20; ++i) problem.Y(i, 0) = 2 * problem.X(i, 0);
  FitOptions options = f64_options(Selection::fixed);
  options.select.lambda = 1e-12;
  const Model model = fit(straight(1), options, problem);
  const Range wide = widened(model.ranges.inputs, 20)[0];
  Matrix<double> X(2, 1);
  X(0, 0) = (wide.highest + model.ranges.inputs[0].highest) / 2;
  X(1, 0) = wide.highest + 1;
  const Predicted found = predicted(model, X.view());
  CHECK(found.outside.rows == 1);
  CHECK(found.scores(0, 0) == Approx(2 * X(0, 0)).epsilon(1e-6));
  CHECK(found.scores(1, 0) == Approx(2 * wide.highest).epsilon(1e-6));
}

TEST_CASE("NaN is inside and stays in its row; infinities are clipped") {
  const Problem problem = smooth_problem(100, 3, 1, 0.1, 9);
  const Model model = fit(gaussian_map(3, 32), f64_options(Selection::fixed), problem);
  Matrix<double> X = copy(problem.x());
  X(3, 1) = std::nan("");
  X(5, 0) = HUGE_VAL;
  const Predicted found = predicted(model, X.view());
  CHECK(found.outside.rows == 1);
  CHECK(found.outside.inputs == std::vector<int64_t>{1, 0, 0});
  CHECK(std::isnan(found.scores(3, 0)));
  X(3, 1) = 0;
  CHECK(largest_difference(predicted(model, clipped_by_hand(X, problem.X).view()).scores,
                           predicted(model, X.view()).scores) == 0);
}

TEST_CASE("sparse rows are clipped as the dense rows they stand for") {
  // Columns 0 and 1 are never 0 in training, above and below it; what a row does not list of them
  // is outside. Some rows list a column twice.
  const auto shifted = [](int64_t n, uint64_t seed, double size) {
    auto X = sparse_rows<double>(n, 6, 5, seed);
    SparseRows<double> out;
    out.cols = 6;
    for (int64_t i = 0; i < n; ++i) {
      const bool whole = size == 1 || i % 3 > 0;
      if (whole) {
        out.add(0, 2 + 0.25 * static_cast<double>(i % 5));
        out.add(1, -3);
      }
      for (int64_t p = X.offsets[i]; p < X.offsets[static_cast<size_t>(i) + 1]; ++p)
        out.add(2 + X.indices[p] % 4, size * X.values[p]);
      out.end_row();
    }
    return out;
  };
  const auto train = shifted(150, 1, 1), test = shifted(90, 2, 2);
  const Matrix<double> train_dense = train.dense(), dense = test.dense();
  Matrix<double> Y(150, 1);
  for (int64_t i = 0; i < 150; ++i) Y(i, 0) = std::sin(train_dense(i, 0) + train_dense(i, 3));
  Context context;
  for (const bool standardize : {true, false}) {
    FitOptions options = f64_options(Selection::fixed);
    options.prepare.standardize = standardize;
    const Model model = fit(gaussian_map(6, 48, 2.0), options, train.view(), Y.view(), context);
    const Matrix<double> byhand = clipped_by_hand(dense, train_dense);
    const Predicted of_sparse = predicted(model, test.view()),
                    of_dense = predicted(model, dense.view());
    check_same(of_sparse.outside, differences(dense, byhand));
    check_same(of_dense.outside, of_sparse.outside);
    CHECK(of_sparse.outside.inputs[0] == 30);
    CHECK(of_sparse.outside.inputs[1] == 30);
    CHECK(of_sparse.outside.inputs[4] > 0);
    CHECK(largest_difference(of_dense.scores, predicted(model, byhand.view()).scores) == 0);
    CHECK(largest_difference(of_sparse.scores, of_dense.scores) < 1e-12);
    CHECK(predicted(model, train.view()).outside.rows == 0);
  }
}

TEST_CASE("a model without ranges predicts freely and refuses to clip") {
  const Problem problem = smooth_problem(60, 3, 1, 0.1, 3);
  Model model = fit(gaussian_map(3, 16), f64_options(Selection::fixed), problem);
  Matrix<double> X = copy(problem.x());
  X(0, 0) = 50;
  const Predicted free = predicted(model, X.view(), Extrapolation::free);
  model.ranges = {};
  CHECK(largest_difference(predicted(model, X.view()).scores, free.scores) == 0);
  for (const auto how : {Extrapolation::clip, Extrapolation::refuse})
    CHECK_REFUSED(MERCER_UNSUPPORTED, predicted(model, X.view(), how), "keeps no ranges");
}

TEST_CASE("classes of clipped rows; scores of a classification are not limited") {
  const Problem problem = smooth_problem(120, 3, 1, 0.1, 3);
  Matrix<double> labels(120, 1);
  for (int64_t i = 0; i < 120; ++i) labels(i, 0) = problem.X(i, 0) > 0 ? 1 : 0;
  FitOptions options = f64_options(Selection::fixed);
  options.coding.task = Task::classification;
  options.coding.classes = 2;
  Context context;
  const Model model = fit(straight(3), options, problem.x(), labels.view(), context);
  CHECK(model.ranges.targets.empty());
  Matrix<double> X = copy(problem.x());
  for (int64_t i = 0; i < 360; ++i) X.data()[i] *= 100;
  std::vector<int32_t> far(120), near(120);
  const RangeViolations outside = classify(model, X.view(), context, far);
  CHECK(outside.rows > 100);
  CHECK(outside.predictions == 0);
  classify(model, clipped_by_hand(X, problem.X).view(), context, near);
  CHECK(far == near);
}

TEST_CASE("fits of streams, weights and searches keep the ranges of the same rows") {
  const Problem problem = smooth_problem(90, 3, 1, 0.1, 4);
  std::vector<double> weights(90, 1.0);
  const auto extreme = [&](int64_t i) { problem.X(i, 0) = i == 10 ? 40.0 : -30.0; };
  extreme(10);
  extreme(20);
  weights[10] = 0;  // not there
  const auto map = gaussian_map(3, 16);
  const Model model = fit(map, f64_options(Selection::fixed), problem, weights);
  CHECK(model.ranges.inputs[0].highest < 1);
  CHECK(model.ranges.inputs[0].lowest == -30);

  SearchOptions options;
  options.features = 32;
  const Model found = search(OneLengthscale{3}, options, problem);
  CHECK(found.ranges.inputs[0].highest == 40);
  CHECK(found.ranges.targets.size() == 1);
}

}  // namespace clipping_test
