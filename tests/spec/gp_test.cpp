// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian processes by spec: searches, the honest coverage of their intervals, warnings, refusals.
#include <algorithm>
#include <cmath>
#include <string>

#include "feature/derivatives.h"
#include "feature/map_entry.h"
#include "linalg/blas.h"
#include "model/model_derivative.h"
#include "model/predict.h"
#include "model/search/ard.h"
#include "random/distributions.h"
#include "solver/profiled_likelihood.h"
#include "spec/json.h"
#include "spec/report_spec.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/reference.h"
#include "support/refusal.h"

namespace gp_test {
using namespace mercer;
using mercer::test::refusal_fault;

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
    return test::fit(spec::fit_plan(json), nullptr, Rows(X.view()), Y.view(), {}, context);
  }
};

bool warns(const model::Model& model, const char* words) {
  return std::ranges::any_of(model.report.warnings, [&](const std::string& text) {
    return text.find(words) != std::string::npos;
  });
}

// Of targets that hardly depend on two inputs the likelihood takes a length for each; it pays for
// them, and the report says what is kept.
TEST_CASE("gp: what the report says of lengthscales is true of the kernel") {
  for (const uint64_t seed : {11, 12, 13, 14}) {
    CAPTURE(seed);
    Wave rows(60, seed);
    for (int64_t i = 0; i < 60; ++i) rows.Y(i, 0) = 0.3 * rows.X(i, 0) + (i % 2 == 0 ? 1 : -1);
    const model::Model model =
        rows.fit(R"({"model":"gp","ard":"on","map":{"features":64},"select":{"by":"evidence"},)"
                 R"("assess":false})");
    const std::span<const double> l = model.map->kernel().lengthscale();
    REQUIRE(l.size() == 2);
    CHECK(warns(model, "relevances are equal") == (l[0] == l[1]));
    CHECK(model.report.relevance == model::relevance(l));
  }
}

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

TEST_CASE("gp: features of landmarks, which know nothing far from these, are warned of") {
  Wave rows(100, 5);
  for (const char* map : {"nystroem", "fourier"})
    for (const char* how : {R"("search":false,"lengthscale":1)", R"("assess":false,"ard":"off")"}) {
      CAPTURE(map, how);
      const std::string spec =
          R"({"model":"gp","map":{"features":64,"kernel":{"kernel":"gaussian"},"map":")" +
          std::string(map) + "\"}," + how + "}";
      CHECK(warns(rows.fit(spec), "vanish away from its landmarks") ==
            (map == std::string("nystroem")));
    }
}

TEST_CASE("gp: few features of many rows are sure everywhere, and a warning says so") {
  Wave rows(1200, 5);
  const auto fitted = [&](int features) {
    return rows.fit(R"({"model":"gp","assess":false,"ard":"off","map":{"features":)" +
                    std::to_string(features) + "}}");
  };
  const model::Model few = fitted(32), many = fitted(2048);
  CHECK(warns(few, "32 features are too few"));
  CHECK(!warns(many, "are too few"));
}

TEST_CASE(
    "gp: a lambda that rows chose which all rows refuse is chosen anew, a given one is refused") {
  Wave rows(5100, 3);
  for (int64_t j = 0; j < 2; ++j) rows.X(5099, j) = 3e5;  // of those that no choice sees
  for (int64_t i = 0; i < 5100; ++i) rows.Y(i, 0) = rows.X(i, 0) + rows.X(i, 1);
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

/// f of solver/profiled_likelihood.h with a kernel itself: features are a root of K.
double exact_evidence(const Wave& rows, const std::string& kernel_spec, double lambda) {
  Context context;
  const int64_t n = rows.X.rows();
  Matrix<double> K(n, n);
  const auto kernel = spec::kernel_from_spec(kernel_spec);
  kernel::gram(*kernel, rows.X.view(), rows.X.view(), context, K.view());
  for (int64_t i = 0; i < n; ++i) K(i, i) += 1e-9;
  REQUIRE(linalg::cholesky(K.view()) == 0);
  for (int64_t i = 0; i < n; ++i) std::fill_n(K.view().row(i) + i + 1, n - i - 1, 0.0);
  return solver::ProfiledLikelihood(rows.Y.view(), n, context).at(K.view(), lambda).value;
}

std::string gaussian(double lengthscale) {
  return R"({"kernel":"gaussian","lengthscale":)" + std::to_string(lengthscale) + "}";
}
std::string quadratic(double lengthscale) {
  return R"({"kernel":"polynomial","offset":1,"gamma":)" +
         std::to_string(1 / (lengthscale * lengthscale)) + "}";
}

/// Where it is least, on a grid of steps of 4 % in both.
std::pair<double, double> most_likely(const Wave& rows, std::string (*kernel)(double),
                                      double lengthscale, double lambda) {
  double least = kInfinity;
  std::pair<double, double> best;
  for (int a = -5; a <= 5; ++a)
    for (int b = -8; b <= 8; ++b) {
      const double l = lengthscale * std::exp(0.04 * a), at = lambda * std::exp(0.08 * b);
      const double value = exact_evidence(rows, kernel(l), at);
      if (value < least) least = value, best = {l, at};
    }
  return best;
}

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
  const auto [lengthscale, lambda] = most_likely(rows, gaussian, report.lengthscale, report.lambda);
  CHECK(std::abs(std::log(report.lengthscale / lengthscale)) < 0.1);
  // Of the deviation: lambda is noise over amplitude, both squared.
  CHECK(std::abs(std::log(report.lambda / lambda)) < 0.3);
  CHECK(std::abs(std::sqrt(model.posterior->noise(0)) / 0.3 - 1) < 4 * std::sqrt(0.5 / 150) + 0.05);
  CHECK(!warns(model, "effective degrees of freedom"));
  CHECK(warns(few, "through 32 features may be far from the kernel's own"));
}

TEST_CASE("gp: gamma and offset by the evidence are those of the exact polynomial process") {
  Wave rows(150, 3);
  for (int64_t i = 0; i < 150; ++i) {
    const double a = rows.X(i, 0), b = rows.X(i, 1);
    rows.Y(i, 0) = 1 + 2 * b + 0.5 * a * b - 0.3 * a * a +
                   0.5 * (rows.Y(i, 0) - std::sin(2 * a) * std::cos(b));
  }
  const auto fitted = [&](const std::string& map, const std::string& kernel) {
    return rows.fit(
        R"({"model":"gp","assess":false,"select":{"by":"evidence"},"prepare":{"standardize":false,)"
        R"("transform":"none"},"map":{"map":")" +
        map + R"(","kernel":{"kernel":"polynomial")" + kernel + "}}}");
  };
  const auto ratio_of = [](const model::Model& model) {
    const Parameters& kernel = model.map->kernel().parameters();
    return kernel.number("gamma") / kernel.number("offset");
  };
  const model::Model model = fitted("exact_polynomial", "");
  const double found = 1 / std::sqrt(ratio_of(model));
  CHECK(model.report.lengthscale == Approx(found));
  const auto [lengthscale, lambda] = most_likely(rows, quadratic, found, model.report.lambda);
  // A step of the grid, and what log |K| has of its ridge of 1e-9.
  CHECK(std::abs(std::log(found / lengthscale)) < 0.05);
  CHECK(std::abs(std::log(model.report.lambda / lambda)) < 0.3);
  CHECK(std::abs(std::sqrt(model.posterior->noise(0)) / 0.15 - 1) < 4 * std::sqrt(0.5 / 150));
  // The amplitude is free: the ratio is the same beside another offset, and through a sketch near.
  CHECK(ratio_of(fitted("exact_polynomial", R"(,"offset":2)")) ==
        Approx(ratio_of(model)).epsilon(0.02));
  CHECK(std::abs(std::log(ratio_of(fitted("tensor_srht", "")) / ratio_of(model))) < 0.3);
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
    std::vector<double> slope(feature::log_parameter_count(*map));
    feature::pull_back_to_log_parameters<double>(*map, rows.X.view(), by_Z.view(), rows.context,
                                                 slope);
    const double step = 1e-3;  // of the six digits of the specs
    const double difference = (at(1.25 + step, nullptr) - at(1.25 - step, nullptr)) / (2 * step);
    CHECK(slope[0] == Approx(1.25 * difference).epsilon(1e-4).margin(1e-7));
  }
}

TEST_CASE("gp: derivatives of the evidence in gamma and offset agree with differences") {
  Wave rows(40, 5);
  for (const char* sketch :
       {R"("tensor_srht")", R"("exact_polynomial")",
        R"("product_sketch","field":"complex_to_real")",
        R"("hierarchical_sketch","base":{"map":"tensor_srht"})", R"("craft")"}) {
    CAPTURE(sketch);
    const auto map_at = [&](double gamma, double offset) {
      Parameters kernel{{"kernel", "polynomial"}};
      kernel.set("degree", int64_t{3});
      kernel.set("gamma", gamma);
      kernel.set("offset", offset);
      Parameters given = spec::parse_object(R"({"inputs":2,"features":10,"seed":1,"map":)" +
                                            std::string(sketch) + "}");
      given.set("kernel", std::make_shared<const Parameters>(kernel));
      return feature::make_map(feature::canonical_map(given, "", feature::Data::refused));
    };
    const auto at = [&](const feature::FeatureMap& map, Matrix<double>* by_Z) {
      Context context;
      Matrix<double> Z(40, map.features());
      map.apply(MatrixView<const double>(rows.X.view()), {0, map.features()}, context, Z.view());
      solver::ProfiledLikelihood f(rows.Y.view(), map.features(), context);
      const auto point = f.at(Z.view(), 1e-3);
      if (by_Z != nullptr) *by_Z = test::copy(MatrixView<const double>(point.by_Z));
      return point.value;
    };
    Matrix<double> by_Z;
    const auto map = map_at(0.4, 0.7);
    at(*map, &by_Z);
    std::vector<double> slope(feature::log_parameter_count(*map));
    REQUIRE(slope.size() == 2);
    feature::pull_back_to_log_parameters<double>(*map, rows.X.view(), by_Z.view(), rows.context,
                                                 slope);
    const double up = std::exp(1e-5), down = 1 / up;
    const double by_gamma =
        (at(*map_at(0.4 * up, 0.7), nullptr) - at(*map_at(0.4 * down, 0.7), nullptr)) / 2e-5;
    const double by_offset =
        (at(*map_at(0.4, 0.7 * up), nullptr) - at(*map_at(0.4, 0.7 * down), nullptr)) / 2e-5;
    CHECK(slope[0] == Approx(by_gamma).epsilon(1e-6).margin(1e-8));
    CHECK(slope[1] == Approx(by_offset).epsilon(1e-6).margin(1e-8));
  }
}

TEST_CASE("gp: variances of a gradient are those of differences of f") {
  Wave rows(60, 13);
  const model::Model model = rows.fit(
      R"({"model":"gp","search":false,"lambda":0.001,"lengthscale":1,"map":{"features":64}})");
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
  CHECK(search_fault(R"("model":"gp","map":{"kernel":{"kernel":"polynomial","gamma":1}})",
                     "without a lengthscale") == "");
  CHECK(search_fault(R"("model":"gp","lengthscale":2)", "lengthscale that is given") == "");
  CHECK(search_fault(R"("model":"gp","map":"nystroem")", "one lengthscale for all") == "");
  CHECK(fault(R"("task":"classification","classes":2)", "model = gp of a classification") == "");
  CHECK(fault(R"("prepare":{"target_transform":"rank"})", "target_transform") == "");
  CHECK(fault(R"("outputs":"covariance","noise":1,"select":{"by":"evidence"})",
              "evidence with noise of outputs that are coupled") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { rows.fit(R"({"model":"gp","noise":0})"); }, "noise") ==
        "");
}

}  // namespace gp_test
