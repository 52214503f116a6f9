// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Models of a loss: what they find, what they refuse.
#include "model/estimator/model_entry.h"
#include "model_problem.h"
#include "solver/loss.h"
#include "support/refusal.h"

namespace logistic_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

FitOptions loss_options(const char* loss, Selection selection = Selection::held_out) {
  FitOptions options;
  options.estimate.entry = &logistic_model();
  options.estimate.parameters = default_parameters(logistic_model());
  options.estimate.parameters.set("loss", loss);
  options.select.selection = selection;
  options.estimate.precision = feature::Precision::f64;
  return options;
}

FitOptions class_options(const char* loss, int64_t classes,
                         Selection selection = Selection::held_out) {
  FitOptions options = loss_options(loss, selection);
  options.coding.task = Task::classification;
  options.coding.classes = classes;
  return options;
}

/// Class 1 with probability 1 / (1 + exp(-3 f)), f the smooth function; known to the test.
struct Coins {
  Problem problem;
  std::vector<double> probability;
  Coins(int64_t n, uint64_t seed) : problem(smooth_problem(n, 3, 1, 0, seed)) {
    const Matrix<double> uniform = random_matrix(n, 1, seed + 7);
    for (int64_t i = 0; i < n; ++i) {
      probability.push_back(1 / (1 + std::exp(-3 * problem.Y(i, 0))));
      problem.Y(i, 0) = (uniform(i, 0) + 1) / 2 < probability.back() ? 1 : 0;
    }
  }
};

Model fitted(const FitOptions& options, const Problem& problem, int64_t D = 200,
             std::span<const double> weights = {}) {
  return fit(gaussian_map(3, D), options, problem, weights);
}

Matrix<double> probabilities(const Model& model, const Problem& problem) {
  Matrix<double> p = predictions(model, problem.x());
  model.calibration.apply(p.view());
  return p;
}

std::string fit_fault(mercer_status status, const FitOptions& options, const Problem& problem,
                      const char* text) {
  return refusal_fault(
      status, [&] { fitted(options, problem); }, text);
}

TEST_CASE("logistic regression finds probabilities that coins were thrown with", "[loss]") {
  const Coins train(3000, 3), test(1000, 4);
  for (const char* loss : {"logistic", "squared_hinge"}) {
    const Model model = fitted(class_options(loss, 2), train.problem);
    REQUIRE(!model.calibration.empty());
    CHECK(model.path.size() >= 4);
    const Matrix<double> p = probabilities(model, test.problem);
    double square = 0;
    for (int64_t i = 0; i < 1000; ++i) square += std::pow(p(i, 1) - test.probability[i], 2) / 1000;
    CAPTURE(loss, model.fit.select.lambda);
    // Of about 50 effective parameters: sqrt(50 p (1 - p) / n) = 0.058; half as much again.
    CHECK(std::sqrt(square) <= 0.09);
  }
}

TEST_CASE("probabilities of few rows are not made worse by calibration", "[loss]") {
  const Coins test(500, 4);
  double calibrated = 0, plain = 0;
  constexpr int kTimes = 20;
  for (uint64_t seed = 0; seed < kTimes; ++seed) {
    const Coins train(30, 100 + seed);
    Model model = fitted(class_options("logistic", 2), train.problem, 64);
    const auto loss = [&] {  // expected over coins
      const Matrix<double> p = probabilities(model, test.problem);
      double sum = 0;
      for (int64_t i = 0; i < 500; ++i) {
        const double q = test.probability[i];
        sum -= (q * std::log(p(i, 1)) + (1 - q) * std::log(p(i, 0))) / 500;
      }
      return sum / kTimes;
    };
    calibrated += loss();
    model.calibration = plain_softmax(2);
    plain += loss();
  }
  CAPTURE(calibrated, plain);
  CHECK(calibrated <= plain + 0.01);
  CHECK(calibrated <= std::log(2.0));
}

TEST_CASE("multinomial regression tells several classes apart", "[loss]") {
  Problem train = smooth_problem(900, 3, 1, 0.02, 5), test = smooth_problem(300, 3, 1, 0, 6);
  for (Problem* problem : {&train, &test})
    for (int64_t i = 0; i < problem->Y.rows(); ++i)
      problem->Y(i, 0) = std::clamp(std::floor(2 * problem->Y(i, 0) + 2), 0.0, 3.0);
  for (const char* loss : {"logistic", "squared_hinge"}) {
    const Model model = fitted(class_options(loss, 4), train);
    std::vector<int32_t> classes(300);
    Context context;
    classify(model, test.x(), context, classes);
    int64_t right = 0;
    for (int64_t i = 0; i < 300; ++i) right += classes[i] == test.Y(i, 0);
    CAPTURE(loss, model.fit.select.lambda);
    CHECK(right >= 270);  // only rows near a border may go either way
  }
}

TEST_CASE("quantiles: the share of targets below is tau", "[loss]") {
  // Noise of a width that grows: the quantile is no shift of the mean.
  const int64_t n = 2000;
  Problem problem = smooth_problem(n, 3, 1, 0, 8);
  const Matrix<double> noise = random_matrix(n, 1, 9);
  for (int64_t i = 0; i < n; ++i)
    problem.Y(i, 0) = 1000 * (problem.Y(i, 0) + (1.5 + problem.X(i, 0)) * noise(i, 0));
  double below_of[2] = {};
  int which = 0;
  for (const double tau : {0.2, 0.5}) {
    FitOptions options = loss_options("quantile");
    options.estimate.parameters.set("tau", tau);
    const Model model = fitted(options, problem, 64);
    const Matrix<double> f = predictions(model, problem.x());
    double below = 0;
    for (int64_t i = 0; i < n; ++i) below += problem.Y(i, 0) < f(i, 0) ? 1.0 / double(n) : 0;
    below_of[which++] = below;
    // At the minimum the intercept's gradient is 0: the share is tau, but for the rounded part.
    CAPTURE(tau, model.fit.select.lambda);
    CHECK(std::abs(below - tau) <= 0.01);
  }
  CHECK(below_of[0] < below_of[1]);
}

TEST_CASE("Huber's loss is not moved by outliers, in any unit of the targets", "[loss]") {
  Problem problem = smooth_problem(800, 3, 1, 0.05, 12);
  const Problem test = smooth_problem(200, 3, 1, 0, 13);
  for (int64_t i = 0; i < 800; i += 10) problem.Y(i, 0) += 1000;
  for (const double unit : {1.0, 1e6}) {
    Problem scaled = smooth_problem(800, 3, 1, 0, 12);
    for (int64_t i = 0; i < 800; ++i) scaled.Y(i, 0) = unit * problem.Y(i, 0);
    for (const bool given : {false, true}) {
      FitOptions options = loss_options("huber");
      if (given) options.estimate.parameters.set("delta", 0.1 * unit);
      const Matrix<double> f = predictions(fitted(options, scaled, 64), test.x());
      double square = 0;
      for (int64_t i = 0; i < 200; ++i) square += std::pow(f(i, 0) / unit - test.Y(i, 0), 2) / 200;
      CAPTURE(unit, given, square);
      CHECK(std::sqrt(square) <= 0.15);  // the outliers move least squares by 100
    }
  }
}

TEST_CASE("Poisson's loss finds the mean of counts", "[loss]") {
  const int64_t n = 2000;
  Problem problem = smooth_problem(n, 3, 1, 0, 15);
  std::vector<double> mean;
  const Matrix<double> uniform = random_matrix(n, 1, 16);
  for (int64_t i = 0; i < n; ++i) {
    mean.push_back(std::exp(problem.Y(i, 0) + 1));
    // By inversion.
    double left = (uniform(i, 0) + 1) / 2 - std::exp(-mean.back()), p = std::exp(-mean.back());
    double count = 0;
    while (left > 0 && count < 200) left -= p *= mean.back() / ++count;
    problem.Y(i, 0) = count;
  }
  FitOptions options = loss_options("poisson");
  options.estimate.parameters.set("tolerance", 1e-10);
  const Matrix<double> f = predictions(fitted(options, problem, 64), problem.x());
  double total = 0, counts = 0, square = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double found = std::exp(f(i, 0));
    total += found;
    counts += problem.Y(i, 0);
    square += std::pow(f(i, 0) - std::log(mean[i]), 2) / double(n);
  }
  CHECK(std::abs(total / counts - 1) <= 1e-4);  // the intercept's gradient is 0
  CHECK(std::sqrt(square) <= 0.15);             // 20 parameters, 3 counts each row: 0.06; twice
}

TEST_CASE("predictions of rare counts are limited as means, not as logs", "[loss]") {
  const int64_t n = 1000;
  Problem problem = smooth_problem(n, 3, 1, 0, 17);
  const Matrix<double> uniform = random_matrix(n, 1, 18);
  for (int64_t i = 0; i < n; ++i) problem.Y(i, 0) = uniform(i, 0) > 0.9 ? 1 : 0;  // 5 %
  FitOptions options = loss_options("poisson");
  options.estimate.parameters.set("tolerance", 1e-12);
  const Model model = fitted(options, problem, 64);
  Context context;
  double sums[2] = {}, counts = 0;
  for (const Extrapolation how : {Extrapolation::clip, Extrapolation::free}) {
    Matrix<double> f(n, 1);
    const RangeViolations outside = predict(model, problem.x(), context, f.view(), how);
    CHECK(outside.predictions == 0);
    for (int64_t i = 0; i < n; ++i) sums[static_cast<int>(how)] += std::exp(f(i, 0));
  }
  for (int64_t i = 0; i < n; ++i) counts += problem.Y(i, 0);
  CHECK(sums[0] == sums[1]);
  CHECK(std::abs(sums[0] / counts - 1) <= 1e-4);
  // Half of the range above the largest count, whose log is the limit; none below a mean of 0.
  const std::vector<Limits> limits = target_limits(std::vector<Range>{{0, 0, 1, 1}}, Link::log);
  CHECK(limits[0].lowest == -INFINITY);
  CHECK(limits[0].highest == std::log(1.5));
  Matrix<double> scores(1, 1);
  scores(0, 0) = 3;
  CHECK(limit_scores(limits, scores.view()) == 1);
  CHECK(scores(0, 0) == std::log(1.5));
  const std::vector<Limits> high = target_limits(std::vector<Range>{{10, 10, 14, 14}}, Link::log);
  CHECK(high[0].lowest == std::log(8.0));
}

TEST_CASE("logistic: a weight is as many rows, classes balanced are weighed rows", "[loss]") {
  const Coins coins(200, 22);
  const int64_t n = 200;
  FitOptions options = class_options("logistic", 2, Selection::fixed);
  options.select.lambda = 1e-2;
  options.prepare.standardize = false;
  options.estimate.parameters.set("tolerance", 1e-15);
  std::vector<double> weights;
  std::vector<int64_t> repeated;
  double ones = 0;
  for (int64_t i = 0; i < n; ++i) {
    weights.push_back(static_cast<double>(i % 3));
    for (int64_t c = 0; c < i % 3; ++c) repeated.push_back(i);
    ones += coins.problem.Y(i, 0);
  }
  const Problem rows{rows_of(coins.problem.X, repeated), rows_of(coins.problem.Y, repeated)};
  const Matrix<double> expected = predictions(fitted(options, rows, 40), coins.problem.x());
  CHECK(largest_difference(
            predictions(fitted(options, coins.problem, 40, weights), coins.problem.x()),
            expected) <= 1e-6);
  for (int64_t i = 0; i < n; ++i)
    weights[i] = double(n) / 2 / (coins.problem.Y(i, 0) == 1 ? ones : n - ones);
  const Matrix<double> weighed =
      predictions(fitted(options, coins.problem, 40, weights), coins.problem.x());
  options.estimate.parameters.set("class_weight", "balanced");
  CHECK(largest_difference(predictions(fitted(options, coins.problem, 40), coins.problem.x()),
                           weighed) <= 1e-6);
}

TEST_CASE("logistic: separable classes stay finite, without a penalty they do not converge",
          "[loss]") {
  Problem problem = smooth_problem(60, 3, 1, 0, 25);
  for (int64_t i = 0; i < 60; ++i) problem.Y(i, 0) = problem.X(i, 0) > 0 ? 1 : 0;
  FitOptions options = class_options("logistic", 2, Selection::fixed);
  options.select.lambda = 1e-4;
  const Model model = fitted(options, problem);
  CHECK(std::isfinite(largest(predictions(model, problem.x()).view())));
  options.select.lambda = 1e-12;
  options.estimate.parameters.set("tolerance", 1e-12);
  options.estimate.parameters.set("iterations", int64_t{20});
  CHECK(fit_fault(MERCER_NOT_CONVERGED, options, problem,
                  "raise lambda, iterations or tolerance") == "");
}

TEST_CASE("losses: a fit with a searched lambda that uses up its iterations says so", "[loss]") {
  const Problem problem = smooth_problem(80, 3, 1, 0.1, 26);
  FitOptions options = loss_options("quantile", Selection::held_out);
  options.estimate.parameters.set("tolerance", 1e-12);
  for (const int64_t iterations : {3, 2000}) {
    CAPTURE(iterations);
    options.estimate.parameters.set("iterations", iterations);
    const std::vector<std::string> warnings = fitted(options, problem).report.warnings;
    CHECK(std::ranges::any_of(warnings, [](const std::string& text) {
            return text.find("at most as many as asked for") != std::string::npos;
          }) == (iterations == 3));
  }
}

TEST_CASE("losses without lambda want features that do not depend on each other", "[loss]") {
  Problem problem = smooth_problem(20, 3, 1, 0.5, 25);  // of fewer rows than features
  FitOptions options = loss_options("huber", Selection::fixed);
  options.estimate.parameters.set("delta", 1.0);
  options.select.lambda = 0;
  CHECK(fit_fault(MERCER_NOT_POSITIVE_DEFINITE, options, problem,
                  "features that depend on each other in these rows, expected lambda > 0") == "");
}

TEST_CASE("losses: the order of rows moves a fit by less than its tolerance allows", "[loss]") {
  for (const solver::Loss& loss : solver::loss_table())
    for (const int64_t n : {16, 300}) {
      if (loss.by_scores) continue;
      CAPTURE(loss.name, n);
      Problem problem = smooth_problem(n, 3, 1, 0.5, 21), moved = smooth_problem(n, 3, 1, 0, 21);
      for (int64_t i = 0; i < n && (loss.classes || loss.counts); ++i)
        problem.Y(i, 0) =
            loss.classes ? problem.Y(i, 0) > 0 : std::round(std::exp(problem.Y(i, 0)));
      for (int64_t i = 0; i < n; ++i) {
        const int64_t from = (7 * i + 5) % n;
        std::copy_n(problem.X.view().row(from), 3, moved.X.view().row(i));
        moved.Y(i, 0) = problem.Y(from, 0);
      }
      // Shares of the objective. Its second derivative is at least that of the penalty, so that
      // weights move by at most sqrt(2 share f / lambda), and predictions, of features of norm 1,
      // too; what rows know moves less. Huber's delta is found from rows that are held out.
      for (const auto& [tolerance, most] : {std::pair{1e-5, 0.1}, std::pair{1e-11, 2e-3}}) {
        FitOptions options = loss.classes ? class_options(loss.name, 2, Selection::fixed)
                                          : loss_options(loss.name, Selection::fixed);
        options.select.lambda = 1e-4;
        options.estimate.parameters.set("tolerance", tolerance);
        CAPTURE(tolerance);
        const Matrix<double> one = predictions(fitted(options, problem, 64), problem.x());
        CHECK(largest_difference(predictions(fitted(options, moved, 64), problem.x()), one) < most);
      }
    }
}

TEST_CASE("losses refuse what they are not for", "[loss]") {
  const Problem numbers = smooth_problem(40, 3, 1, 0.1, 31);
  Problem classes = smooth_problem(40, 3, 1, 0.1, 31);
  for (int64_t i = 0; i < 40; ++i) classes.Y(i, 0) = i % 2;
  const auto invalid = MERCER_INVALID_ARGUMENT;
  CHECK(fit_fault(invalid, loss_options("logistic"), numbers,
                  "loss = \"logistic\" is of classification, the task is regression") == "");
  CHECK(fit_fault(invalid, class_options("huber", 2), classes,
                  "loss = \"huber\" is of regression, the task is classification") == "");
  CHECK(fit_fault(invalid, loss_options("poisson"), numbers, "expected counts") == "");
  FitOptions options = loss_options("poisson");
  options.prepare.target_transform = Transform::log;
  CHECK(fit_fault(invalid, options, classes, "target_transform with loss = \"poisson\"") == "");
  options = class_options("logistic", 2);
  options.select.selection = Selection::gcv;
  CHECK(fit_fault(MERCER_UNSUPPORTED, options, classes, "chooses lambda on held-out rows") == "");
  options = class_options("logistic", 2);
  options.estimate.parameters.set("tau", 0.5);
  CHECK(fit_fault(invalid, options, classes, "tau is of loss = \"quantile\"") == "");
  options = loss_options("quantile");
  options.estimate.parameters.set("delta", 1.0);
  CHECK(fit_fault(invalid, options, numbers, "delta is of loss = \"huber\"") == "");
  options = loss_options("huber");
  options.estimate.parameters.set("class_weight", "balanced");
  CHECK(fit_fault(invalid, options, numbers, "class_weight = \"balanced\"") == "");
  for (int64_t i = 0; i < 40; ++i) classes.Y(i, 0) = 1;
  CHECK(fit_fault(invalid, class_options("logistic", 3), classes,
                  "rows of 1 of the 3 classes, expected at least two") == "");
}

}  // namespace logistic_test
