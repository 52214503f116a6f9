// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which transform of the targets a search keeps: of targets whose logarithms are smooth with even
// noise, and of targets that need none. Predictions are judged as they come back.
#include "fresh_score.h"
#include "spec/spec.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/refusal.h"

namespace target_choice_test {
using namespace mercer;
using model::Transform;

/// f(x) + noise, x uniform on (-1, 1)^3, or the exponential of it.
struct Problem {
  Matrix<double> X, Y;
  Problem(int64_t n, uint64_t seed, bool exponential)
      : X(test::random_matrix(n, 3, seed)), Y(test::random_matrix(n, 1, seed + 1)) {
    for (int64_t i = 0; i < n; ++i) {
      const double* x = X.view().row(i);
      const double t = 2 * std::sin(2 * x[0] + x[1]) + 2 * x[1] * x[2] + 0.1 * Y(i, 0);
      Y(i, 0) = exponential ? std::exp(t) : t;
    }
  }
};

model::Model fitted(const Problem& problem, const std::string& more = "") {
  Context context;
  return test::fit(
      spec::fit_plan(R"({"ard":"off","map":{"features":128,"kernel":{"kernel":"gaussian"}})" +
                     more + "}"),
      nullptr, Rows(problem.X.view()), problem.Y.view(), {}, context);
}

double r_squared(const model::Model& model, const Problem& fresh) {
  return test::r_squared(model, fresh.X, fresh.Y);
}

std::set<Transform> tried(const model::Model& model) {
  std::set<Transform> found;
  for (const model::SearchCandidate& trial : model.report.trials)
    found.insert(trial.target_transform);
  return found;
}

constexpr const char* kPlainTargets =
    R"(,"prepare":{"target_transform":"none","transform":"none"},"assess":false)";

TEST_CASE("a search transforms skewed targets where that wins, on their own scale") {
  const Problem fresh(4000, 31, true);
  for (const int64_t n : {400, 3400}) {  // by leave-one-out, on rows held out
    const Problem train(n, 33, true);
    const model::Model model = fitted(train, R"(,"prepare":{"transform":"none"})");
    CHECK(model.report.target_transform == Transform::log);
    CHECK(model.fit.prepare.target_transform == Transform::log);
    CHECK(tried(model) == std::set<Transform>{Transform::none, Transform::log, Transform::rank});
    const double after = r_squared(model, fresh);
    CHECK(1 - after < 0.7 * (1 - r_squared(fitted(train, kPlainTargets), fresh)));
    // The criterion and the honest score are of targets as they are given.
    CHECK(std::abs(1 - model.report.criterion_score - after) < 0.05);
    CHECK(std::abs(model.report.assessment.score - after) <
          0.02 + 4 * model.report.assessment.standard_error);
  }
}

TEST_CASE("the trial that is kept has the loss of its predictions carried back") {
  Problem train(60, 35, true);
  const model::Model model =
      fitted(train, R"(,"lambda":1e-3,"lengthscale":1,"precision":"f64","assess":false,)"
                    R"("prepare":{"transform":"none","target_transform":"log"})");
  // Each row by a fit of the others with the same curve, lengthscale and lambda n.
  double squares = 0, deviations = 0, mean = 0, lowest = 1e300, highest = 0;
  for (int64_t i = 0; i < 60; ++i) {
    mean += train.Y(i, 0) / 60;
    lowest = std::min(lowest, train.Y(i, 0));
    highest = std::max(highest, train.Y(i, 0));
  }
  const auto& curve = model.preparation.targets.at(0);
  for (int64_t left = 0; left < 60; ++left) {
    Problem others(59, 1, true);
    for (int64_t i = 0; i < 59; ++i) {
      const int64_t from = i < left ? i : i + 1;
      for (int64_t j = 0; j < 3; ++j)
        others.X(i, j) =
            (train.X(from, j) - model.preparation.mean[j]) / model.preparation.scale[j];
      others.Y(i, 0) = curve(train.Y(from, 0));
    }
    model::FitOptions plain = model.fit;
    plain.prepare = {.standardize = false};
    plain.prepare.extrapolation = model::Extrapolation::free;
    plain.select.lambda = model.fit.select.lambda * 60 / 59;  // n lambda is what leaving out keeps
    Context context;
    const model::Model part =
        test::fit(model.map, plain, Rows(others.X.view()), others.Y.view(), context);
    Matrix<double> at(1, 3), score(1, 1);
    for (int64_t j = 0; j < 3; ++j)
      at(0, j) = (train.X(left, j) - model.preparation.mean[j]) / model.preparation.scale[j];
    model::predict(part, Rows(at.view()), context, score.view());
    const double half = 0.5 * (highest - lowest);
    const double restored = std::clamp(curve.inverse(score(0, 0)), lowest - half, highest + half);
    squares += std::pow(restored - train.Y(left, 0), 2);
    deviations += std::pow(train.Y(left, 0) - mean, 2);
  }
  CHECK(model.report.criterion_score == Approx(squares / deviations).epsilon(1e-6));
}

TEST_CASE("targets that are not skewed, negative or given a transform are left alone") {
  CHECK(tried(fitted(Problem(300, 37, false))) == std::set<Transform>{Transform::none});
  Problem negative(300, 39, true);
  for (int64_t i = 0; i < 300; ++i) negative.Y(i, 0) = -negative.Y(i, 0);
  CHECK(tried(fitted(negative, R"(,"assess":false)")) ==
        std::set<Transform>{Transform::none, Transform::rank});
  const Problem train(300, 41, true);
  CHECK(tried(fitted(train, kPlainTargets)) == std::set<Transform>{Transform::none});
  CHECK(tried(fitted(train, R"(,"prepare":{"target_transform":"rank"},"assess":false)")) ==
        std::set<Transform>{Transform::rank});
  CHECK(tried(fitted(train, R"(,"model":"gp","assess":false)")) ==
        std::set<Transform>{Transform::none});
}

TEST_CASE("a transform of targets is chosen by searches alone") {
  const Problem train(40, 43, true);
  const auto plain = [&](const std::string& more) {
    Context context;
    return test::fit(spec::fit_plan(R"({"search":false,"map":{"features":16})" + more + "}"),
                     nullptr, Rows(train.X.view()), train.Y.view(), {}, context);
  };
  CHECK_REFUSED(MERCER_UNSUPPORTED, plain(R"(,"prepare":{"target_transform":"auto"})"),
                "prepare.target_transform = auto");
  CHECK(plain("").fit.prepare.target_transform == Transform::none);
}

}  // namespace target_choice_test
