// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Losses by callback: those that the library has, too, end in the same fits; what callbacks may not do.
#include "kernel/custom.h"
#include "model/estimator/model_entry.h"
#include "model_problem.h"
#include "solver/loss.h"
#include "support/refusal.h"

namespace custom_loss_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

/// One score's value, slope and curvature.
using OfScore = std::array<double, 3> (*)(double s, double y);

std::array<double, 3> logistic(double s, double y) {
  const double p = 1 / (1 + std::exp(-s));
  return {std::max(s, 0.0) + std::log1p(std::exp(-std::fabs(s))) - y * s, p - y, p * (1 - p)};
}
std::array<double, 3> squared_hinge(double s, double y) {
  const double t = 2 * y - 1, gap = std::max(0.0, 1 - t * s);
  return {gap * gap, -2 * t * gap, gap > 0 ? 2.0 : 0.0};
}
std::array<double, 3> squared(double s, double y) { return {(s - y) * (s - y) / 2, s - y, 1}; }
std::array<double, 3> huber(double s, double y) {
  const double u = s - y, size = std::fabs(u);
  return size > 0.5 ? std::array{0.5 * (size - 0.25), std::copysign(0.5, u), 0.0}
                    : std::array{u * u / 2, u, 1.0};
}
std::array<double, 3> poisson(double s, double y) {
  return {std::exp(s) - y * s, std::exp(s) - y, std::exp(s)};
}

/// A registered loss.
class Registered {
 public:
  Registered(const char* name, OfScore of, int32_t answer = 0) : of_(of), answer_(answer) {
    mercer_custom_options options = {};
    options.struct_size = sizeof options;
    options.name = name;
    options.user = this;
    options.loss = [](void* user, int64_t n, int64_t p, const double* S, const double* Y,
                      double* value, double* slope, double* curvature) {
      const auto& own = *static_cast<const Registered*>(user);
      for (int64_t k = 0; k < n * p; ++k) {
        const auto [f, first, second] = own.of_(S[k], Y[k]);
        value[k] = f, slope[k] = first, curvature[k] = second;
      }
      return own.answer_;
    };
    custom_ = std::make_shared<kernel::Custom>(options);
    kernel::register_custom(custom_);
  }
  ~Registered() { kernel::unregister_custom(*custom_); }
  Registered(const Registered&) = delete;

 private:
  OfScore of_;
  int32_t answer_;
  std::shared_ptr<kernel::Custom> custom_;
};

FitOptions options_of(const char* loss, const char* name = "", int64_t classes = 0) {
  FitOptions options;
  options.estimate.entry = &logistic_model();
  options.estimate.parameters = default_parameters(logistic_model());
  options.estimate.parameters.set("loss", loss);
  options.estimate.parameters.set("loss_name", std::string(name));
  options.estimate.parameters.set("tolerance", 1e-20);
  options.estimate.parameters.set("iterations", int64_t{20000});
  options.select.selection = Selection::fixed;
  options.select.lambda = 1e-3;
  options.estimate.precision = feature::Precision::f64;
  if (classes == 0) return options;
  options.coding.task = Task::classification;
  options.coding.classes = classes;
  return options;
}

Model fitted(const FitOptions& options, const Problem& problem,
             std::span<const double> weights = {}) {
  return fit(gaussian_map(3, 64), options, problem, weights);
}
Matrix<double> scores(const FitOptions& options, const Problem& problem,
                      std::span<const double> weights = {}) {
  return predictions(fitted(options, problem, weights), problem.x());
}

Problem in_classes(int64_t n, int64_t classes, uint64_t seed) {
  Problem problem = smooth_problem(n, 3, 1, 0.3, seed);
  for (int64_t i = 0; i < n; ++i)
    problem.Y(i, 0) =
        std::clamp(std::floor(problem.Y(i, 0) + 0.5 * double(classes)), 0.0, double(classes - 1));
  return problem;
}

TEST_CASE("losses by callback end where the library's own end", "[loss]") {
  const Registered a("of-logistic", logistic), b("of-hinge", squared_hinge), c("of-huber", huber),
      d("of-counts", poisson);
  const Problem two = in_classes(300, 2, 1), three = in_classes(300, 3, 2);
  CHECK(largest_difference(scores(options_of("custom_class", "of-logistic", 2), two),
                           scores(options_of("logistic", "", 2), two)) <= 1e-9);
  CHECK(largest_difference(scores(options_of("custom_class", "of-hinge", 3), three),
                           scores(options_of("squared_hinge", "", 3), three)) <= 1e-9);
  Problem smooth = smooth_problem(300, 3, 2, 0.5, 3);
  FitOptions own = options_of("huber");
  own.estimate.parameters.set("delta", 0.5);
  Problem one = smooth_problem(300, 3, 1, 0.5, 3);
  CHECK(largest_difference(scores(options_of("custom", "of-huber"), one), scores(own, one)) <=
        1e-9);
  for (int64_t i = 0; i < 300; ++i)
    for (int64_t k = 0; k < 2; ++k) smooth.Y(i, k) = std::round(std::exp(smooth.Y(i, k)));
  CHECK(largest_difference(scores(options_of("custom", "of-counts"), smooth),
                           predictions(fitted(options_of("poisson"), smooth), smooth.x())) <= 1e-9);
}

TEST_CASE("a callback's squares are ridge", "[loss]") {
  const Registered own("of-squares", squared);
  const Problem problem = smooth_problem(300, 3, 2, 0.5, 3);
  FitOptions ridge;
  ridge.select.selection = Selection::fixed;
  ridge.select.lambda = 1e-3;
  ridge.estimate.precision = feature::Precision::f64;
  CHECK(largest_difference(scores(options_of("custom", "of-squares"), problem),
                           scores(ridge, problem)) <= 1e-9);
}

/// Three outputs, each missing in a third of the rows, and all of them in one row.
Problem with_gaps(double (*of)(double) = [](double y) { return y; }) {
  Problem problem = smooth_problem(240, 3, 3, 0.5, 4);
  for (int64_t i = 0; i < 240; ++i)
    for (int64_t k = 0; k < 3; ++k)
      problem.Y(i, k) = (i + k) % 3 == 0 || i == 5 ? kNaN : of(problem.Y(i, k) + double(k));
  return problem;
}

/// Of rows beyond those fitted, too.
Matrix<double> free_scores(const Model& model, const Problem& at) {
  Matrix<double> scores(at.X.rows(), model.outputs());
  Context context;
  predict(model, at.x(), context, scores.view(), Extrapolation::free);
  return scores;
}

TEST_CASE("targets that miss in a loss: each output is that of its own rows", "[loss]") {
  const Registered bent("bent-by-row", huber);
  const Problem numbers = with_gaps(),
                counts = with_gaps([](double y) { return std::round(std::exp(y)); });
  for (const char* loss : {"quantile", "custom", "poisson"}) {
    const bool poisson = std::string(loss) == "poisson";
    const Problem& problem = poisson ? counts : numbers;
    FitOptions options = options_of(loss, std::string(loss) == "custom" ? "bent-by-row" : "");
    options.prepare.standardize = false;
    const Model joint = fitted(options, problem);
    const Matrix<double> f = free_scores(joint, problem);
    CHECK(joint.report.warnings.size() == 1);
    for (int64_t k = 0; k < 3; ++k) {
      std::vector<int64_t> rows;
      for (int64_t i = 0; i < 240; ++i)
        if (!std::isnan(problem.Y(i, k))) rows.push_back(i);
      Problem own{rows_of(problem.X, rows), Matrix<double>(std::ssize(rows), 1)};
      for (int64_t i = 0; i < own.Y.rows(); ++i) own.Y(i, 0) = problem.Y(rows[i], k);
      FitOptions alone = options;  // n lambda is the same, of the rows with a target
      alone.select.lambda *= 239.0 / static_cast<double>(rows.size());
      const Matrix<double> g = free_scores(fitted(alone, own), problem);
      CAPTURE(loss, k);
      for (int64_t i = 0; i < 240; ++i) CHECK(std::abs(f(i, k) - g(i, 0)) <= 1e-6);
    }
  }
}

TEST_CASE("targets that miss in a callback's squares of joined outputs: ridge", "[loss]") {
  const Registered own("of-known-squares", squared);
  FitOptions options = options_of("custom", "of-known-squares"), ridge = options;
  for (FitOptions* one : {&options, &ridge})
    one->outputs = {.structure = OutputStructure::given,
                    .matrix = {1, 0.8, 0.1, 0.8, 1, -0.2, 0.1, -0.2, 1}};
  ridge.estimate.entry = &ridge_model();
  ridge.estimate.parameters = default_parameters(ridge_model());
  const Problem problem = with_gaps();
  CHECK(largest_difference(scores(options, problem), scores(ridge, problem)) <= 1e-8);
}

TEST_CASE("targets that miss are no part of a search of lambda and delta", "[loss]") {
  // Half of the rows lack the second output, and where it lacks it is far off: nothing may be moved.
  Problem problem = smooth_problem(600, 3, 2, 0.1, 12), far = smooth_problem(600, 3, 2, 0.1, 12);
  for (int64_t i = 0; i < 600; i += 2) problem.Y(i, 1) = kNaN;
  for (const char* loss : {"huber", "epsilon_insensitive", "log_cosh"}) {
    FitOptions options = options_of(loss);
    options.select.selection = Selection::held_out;
    options.estimate.parameters.set("tolerance", 1e-8);
    const Model model = fitted(options, problem);
    const Matrix<double> f = predictions(model, problem.x());
    double error = 0;
    for (int64_t i = 0; i < 600; i += 2) error += std::pow(f(i, 1) - far.Y(i, 1), 2) / 300;
    CAPTURE(loss, model.fit.select.lambda);
    CHECK(std::sqrt(error) <=
          0.12);  // noise has 0.1 / sqrt(3) = 0.058, of 64 coefficients twice that
  }
}

TEST_CASE("a loss by callback is not shown rows of weight 0, and its lambda is searched",
          "[loss]") {
  const Registered own("of-logistic", [](double s, double y) {
    return y == 0 || y == 1 ? logistic(s, y) : std::array{kNaN, kNaN, kNaN};
  });
  const Problem problem = in_classes(300, 2, 1);
  FitOptions options = options_of("custom_class", "of-logistic", 2),
             known = options_of("logistic", "", 2);
  for (FitOptions* one : {&options, &known}) {
    one->select.selection = Selection::held_out;
    one->estimate.parameters.set("tolerance", 1e-12);
  }
  std::vector<double> weights(300, 1.0);
  weights[3] = weights[150] = 0;
  const Model a = fitted(options, problem, weights), b = fitted(known, problem, weights);
  CHECK(a.fit.select.lambda == b.fit.select.lambda);
  CHECK(largest_difference(predictions(a, problem.x()), predictions(b, problem.x())) <= 1e-5);
}

TEST_CASE("what a loss by callback may not do", "[loss]") {
  const Problem problem = smooth_problem(60, 3, 1, 0.5, 3);
  const auto fault = [&](mercer_status status, const FitOptions& options, const char* text) {
    return refusal_fault(
        status, [&] { fitted(options, problem); }, text);
  };
  const Registered bent("bent", [](double s, double y) {
    return std::array{-std::cos(s - y), std::sin(s - y), std::cos(s - y)};
  });
  CHECK(fault(MERCER_CALLBACK, options_of("custom", "bent"),
              "loss of custom \"bent\" has the curvature -") == "");
  const Registered hollow("hollow", [](double, double) { return std::array{0.0, kNaN, 1.0}; });
  CHECK(fault(MERCER_CALLBACK, options_of("custom", "hollow"), "slope nan") == "");
  const Registered failing("failing", squared, 7);
  CHECK(fault(MERCER_CALLBACK, options_of("custom", "failing"),
              "loss of custom \"failing\" returned 7, expected 0") == "");
  CHECK(fault(MERCER_NOT_REGISTERED, options_of("custom", "nobody"),
              "name = \"nobody\" of loss custom") == "");
  mercer_custom_options options = {};
  options.struct_size = sizeof options;
  options.name = "values";
  options.gram = [](void*, int64_t, int64_t, int64_t, const double*, const double*,
                    double*) -> int32_t { return 0; };
  const auto values = std::make_shared<kernel::Custom>(options);
  kernel::register_custom(values);
  CHECK(fault(MERCER_UNSUPPORTED, options_of("custom", "values"),
              "loss_name = \"values\", expected a custom that has a loss") == "");
  kernel::unregister_custom(*values);
  CHECK(fault(MERCER_INVALID_ARGUMENT, options_of("custom"), "loss_name = \"\" with loss") == "");
  CHECK(fault(MERCER_INVALID_ARGUMENT, options_of("huber", "bent"), "loss_name = \"bent\"") == "");
  CHECK(fault(MERCER_INVALID_ARGUMENT, options_of("custom_class", "bent"),
              "loss = \"custom_class\" is of classification") == "");
  CHECK(fault(MERCER_INVALID_ARGUMENT, options_of("custom", "bent", 2), "is of regression") == "");
  CHECK_REFUSED(MERCER_UNSUPPORTED, kernel::make_kernel({{"kernel", "custom"}, {"name", "bent"}}),
                "that one is a loss");
}

}  // namespace custom_loss_test
