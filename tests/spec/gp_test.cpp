// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian processes by spec: searches, the honest coverage of their intervals, warnings, refusals.
#include <algorithm>
#include <cmath>
#include <string>

#include "feature/lengthscale_gradient.h"
#include "linalg/blas.h"
#include "model/model_derivative.h"
#include "model/posterior_prediction.h"
#include "random/distributions.h"
#include "solver/profiled_likelihood.h"
#include "spec/fit_plan.h"
#include "spec/report_spec.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/reference.h"
#include "support/refusal.h"

using namespace mercer;
using mercer::test::refusal_fault;

namespace {

/// sin(2 a) cos(b) and noise of deviation 0.3.
struct Wave {
  Matrix<double> X, Y;
  Context context;
  Wave(int64_t n, uint64_t seed) : X(test::random_matrix(n, 2, seed)), Y(n, 1) {
    Matrix<double> noise(n, 1);
    random::fill_normal({seed, random::Tag::generated, 1}, 0,
                        {noise.data(), static_cast<size_t>(n)});
    for (int64_t i = 0; i < 2 * n; ++i) X.data()[i] *= 3;
    for (int64_t i = 0; i < n; ++i)
      Y(i, 0) = std::sin(2 * X(i, 0)) * std::cos(X(i, 1)) + 0.3 * noise(i, 0);
  }
  model::Model fit(const std::string& json) {
    return spec::fit(spec::fit_plan(json), nullptr, Rows(X.view()), Y.view(), {}, context);
  }
};

bool warns(const model::Model& model, const char* words) {
  return std::ranges::any_of(model.report.warnings, [&](const std::string& text) {
    return text.find(words) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("gp: a search's noise is that of the rows, its intervals hold what they say") {
  for (const int64_t n : {200, 1500}) {
    Wave rows(n, 3), fresh(2000, 9);
    CAPTURE(n);
    const model::Model model = rows.fit(R"({"model":"gp","map":{"features":256}})");
    const double deviation = std::sqrt(model.posterior->noise(0));
    // The error of a variance of n rows is sqrt(2/n) of it: four of them, and a degree of bias.
    CHECK(std::abs(deviation / 0.3 - 1) < 4 * std::sqrt(0.5 / static_cast<double>(n)) + 0.05);
    Context context;
    Matrix<double> bounds(2000, 2);
    const double levels[] = {0.05, 0.95};
    model::quantiles(model, Rows(fresh.X.view()), levels, context, bounds.view());
    int64_t inside = 0;
    for (int64_t i = 0; i < 2000; ++i)
      inside += fresh.Y(i, 0) >= bounds(i, 0) && fresh.Y(i, 0) <= bounds(i, 1);
    CHECK(std::abs(static_cast<double>(inside) / 2000 - 0.9) < 0.05);
    const test::Reference score =
        test::Reference::parse(spec::print_report(model.report, model.fit.coding.task)).at("score");
    CHECK(score.at("coverage") == model.report.assessment.coverage);
    CHECK(std::abs(model.report.assessment.coverage - 0.9) < 0.1);
    // Of a deviation of .3: its entropy is log .3 + log(2 pi e)/2 = .215.
    CHECK(score.at("nll") == model.report.assessment.nll);
    CHECK((model.report.assessment.nll > 0.1 && model.report.assessment.nll < 0.5));
    CHECK(!warns(model, "intervals of"));
  }
}

TEST_CASE("gp: few features of many rows are sure everywhere, and a warning says so") {
  Wave rows(1200, 5);
  const auto fitted = [&](int features) {
    return rows.fit(R"({"model":"gp","assess":false,"ard":"off","map":{"features":)" +
                    std::to_string(features) + "}}");
  };
  const model::Model few = fitted(32), many = fitted(2048);
  Context context;
  CHECK(model::share_far_away(few, context) < 0.1);
  CHECK(warns(few, "32 features are too few"));
  CHECK(model::share_far_away(many, context) > 0.5);
  CHECK(!warns(many, "are too few"));
}

TEST_CASE(
    "gp: a lambda that rows chose which all rows refuse is chosen anew, a given one is refused") {
  Wave rows(1200, 3);
  for (int64_t j = 0; j < 2; ++j) rows.X(1199, j) = 3e4;  // of those that no choice sees
  for (int64_t i = 0; i < 1200; ++i) rows.Y(i, 0) = rows.X(i, 0) + rows.X(i, 1);
  const std::string asked =
      R"({"model":"gp","map":{"map":"linear","features":16},"ordered":true,"ard":"off")";
  const model::Model model = rows.fit(asked + "}");
  CHECK(model.posterior != nullptr);
  CHECK(model.fit.select.lambda < 1e-3);
  CHECK(refusal_fault(
            MERCER_NOT_POSITIVE_DEFINITE, [&] { rows.fit(asked + R"(,"lambda":1e-10})"); },
            "lost in the rounding", "expected a larger lambda") == "");
}

TEST_CASE("gp: lambda by the evidence is near the noise that was drawn") {
  Wave rows(400, 7);
  const model::Model model =
      rows.fit(R"({"model":"gp","search":false,"select":{"by":"evidence"},"lengthscale":1,)"
               R"("map":{"features":512}})");
  CHECK(model.fit.select.selection == model::Selection::evidence);
  CHECK(std::abs(std::sqrt(model.posterior->noise(0)) / 0.3 - 1) < 0.15);
}

namespace {

/// f of solver/profiled_likelihood.h with the Gaussian kernel itself: features are a root of K.
double exact_evidence(const Wave& rows, double lengthscale, double lambda) {
  Context context;
  const int64_t n = rows.X.rows();
  Matrix<double> K(n, n);
  const auto kernel = spec::kernel_from_spec(R"({"kernel":"gaussian","lengthscale":)" +
                                             std::to_string(lengthscale) + "}");
  kernel::gram(*kernel, rows.X.view(), rows.X.view(), context, K.view());
  for (int64_t i = 0; i < n; ++i) K(i, i) += 1e-9;
  REQUIRE(linalg::cholesky(K.view()) == 0);
  for (int64_t i = 0; i < n; ++i) std::fill_n(K.view().row(i) + i + 1, n - i - 1, 0.0);
  return solver::ProfiledLikelihood(rows.Y.view(), n, context).at(K.view(), lambda).value;
}

/// Where it is least, on a grid of steps of 4 % in both.
std::pair<double, double> most_likely(const Wave& rows, double lengthscale, double lambda) {
  double least = kInfinity;
  std::pair<double, double> best;
  for (int a = -5; a <= 5; ++a)
    for (int b = -8; b <= 8; ++b) {
      const double l = lengthscale * std::exp(0.04 * a), at = lambda * std::exp(0.08 * b);
      const double value = exact_evidence(rows, l, at);
      if (value < least) least = value, best = {l, at};
    }
  return best;
}

}  // namespace

TEST_CASE("gp: a search by the evidence ends at the exact process's, or says that it does not") {
  Wave rows(150, 3);
  const auto fitted = [&](int features) {
    return rows.fit(
        R"({"model":"gp","assess":false,"ard":"off","select":{"by":"evidence"},"prepare":)"
        R"({"standardize":false},"map":{"kernel":{"kernel":"gaussian"},"features":)" +
        std::to_string(features) + "}}");
  };
  const model::Model model = fitted(2048), few = fitted(32);
  const model::FitReport& report = model.report;
  const auto [lengthscale, lambda] = most_likely(rows, report.lengthscale, report.lambda);
  CHECK(std::abs(std::log(report.lengthscale / lengthscale)) < 0.1);
  // Of the deviation: lambda is noise over amplitude, both squared.
  CHECK(std::abs(std::log(report.lambda / lambda)) < 0.3);
  CHECK(std::abs(std::sqrt(model.posterior->noise(0)) / 0.3 - 1) < 4 * std::sqrt(0.5 / 150) + 0.05);
  CHECK(!warns(model, "effective degrees of freedom"));
  CHECK(warns(few, "through 32 features may be far from the kernel's own"));
}

TEST_CASE("gp: derivatives of the evidence in every lengthscale agree with differences") {
  Wave rows(40, 5);
  for (const char* kernel : {"gaussian", "laplacian", "cauchy", "matern", "rational_quadratic",
                             "generalized_gaussian_spectrum", "exponential"}) {
    CAPTURE(kernel);
    const auto map_at = [&](double first) {
      const std::string scale = std::string(kernel) == "exponential"
                                    ? std::to_string(first)
                                    : "[" + std::to_string(first) + ",1.5]";
      return spec::map_from_spec(R"({"inputs":2,"features":32,"seed":1,"kernel":{"kernel":")" +
                                 std::string(kernel) + R"(","lengthscale":)" + scale + "}}");
    };
    const auto at = [&](double first, Matrix<double>* by_Z) {
      Context context;
      const auto map = map_at(first);
      Matrix<double> Z(40, map->features());
      map->apply(MatrixView<const double>(rows.X.view()), {0, map->features()}, context, Z.view());
      solver::ProfiledLikelihood f(rows.Y.view(), map->features(), context);
      const auto point = f.at(Z.view(), 1e-3);
      if (by_Z != nullptr) *by_Z = test::copy(MatrixView<const double>(point.by_Z));
      return point.value;
    };
    Matrix<double> by_Z;
    at(1.25, &by_Z);
    const auto map = map_at(1.25);
    std::vector<double> slope(feature::lengthscale_count(*map));
    feature::pull_back_to_lengthscale<double>(*map, rows.X.view(), by_Z.view(), rows.context,
                                              slope);
    const double step = 1e-3;  // of the six digits of the specs
    const double difference = (at(1.25 + step, nullptr) - at(1.25 - step, nullptr)) / (2 * step);
    CHECK(slope[0] == Approx(1.25 * difference).epsilon(1e-4).margin(1e-7));
  }
}

TEST_CASE("gp: variances of a gradient are those of differences of f") {
  Wave rows(60, 13);
  const model::Model model =
      rows.fit(R"({"model":"gp","search":false,"lambda":0.001,"map":{"features":64}})");
  Context context;
  const double step = 1e-3;
  Matrix<double> X(3, 2), at(2, 2), found(3, 2), joint(2, 2);
  for (int64_t i = 0; i < 3; ++i) X(i, 0) = rows.X(i, 0), X(i, 1) = rows.X(i, 1);
  model::gradient_variance(model, X.view(), context, found.view());
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 2; ++j) {
      for (int64_t side = 0; side < 2; ++side) {
        at(side, 0) = X(i, 0), at(side, 1) = X(i, 1);
        at(side, j) += side == 0 ? -step : step;
      }
      model::joint_covariance(model, Rows(at.view()), context, joint.view());
      const double expected = (joint(0, 0) + joint(1, 1) - 2 * joint(0, 1)) / (4 * step * step);
      CHECK(found(i, j) == Approx(expected).epsilon(1e-4));
    }
  const model::Model curved = rows.fit(
      R"({"model":"gp","search":false,"lambda":0.1,"prepare":{"transform":"rank"},"map":{"features":8}})");
  CHECK_REFUSED(MERCER_UNSUPPORTED,
                model::gradient_variance(curved, X.view(), context, found.view()),
                "transforms inputs");
}

TEST_CASE("gp: what it cannot do is refused") {
  Wave rows(40, 11);
  const auto fault = [&](const char* keys, const char* says) {
    return refusal_fault(
        MERCER_UNSUPPORTED,
        [&] { rows.fit(std::string(R"({"model":"gp","search":false,)") + keys + "}"); }, says);
  };
  const auto search_fault = [&](const char* keys, const char* says) {
    return refusal_fault(
        MERCER_UNSUPPORTED,
        [&] {
          rows.fit(std::string(R"({"assess":false,"select":{"by":"evidence"},)") + keys + "}");
        },
        says);
  };
  CHECK(search_fault(R"("model":"ridge")", "select.by of a search") == "");
  CHECK(search_fault(R"("model":"gp","map":{"kernel":{"kernel":"polynomial"}})",
                     "without a lengthscale") == "");
  CHECK(search_fault(R"("model":"gp","lengthscale":2)", "lengthscale that is given") == "");
  CHECK(search_fault(R"("model":"gp","map":"nystroem")", "one lengthscale for all") == "");
  CHECK(fault(R"("task":"classification","classes":2)", "model = gp of a classification") == "");
  CHECK(fault(R"("prepare":{"target_transform":"rank"})", "target_transform") == "");
  CHECK(fault(R"("outputs":"covariance","select":{"by":"evidence"})", "evidence") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { rows.fit(R"({"model":"gp","noise":0})"); }, "noise") ==
        "");
}
