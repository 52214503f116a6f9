// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian processes by spec: searches, the honest coverage of their intervals, warnings, refusals.
#include <algorithm>
#include <cmath>
#include <string>

#include "model/posterior_prediction.h"
#include "random/distributions.h"
#include "spec/fit_plan.h"
#include "spec/report_spec.h"
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

TEST_CASE("gp: lambda by the evidence is near the noise that was drawn") {
  Wave rows(400, 7);
  const model::Model model =
      rows.fit(R"({"model":"gp","search":false,"select":{"by":"evidence"},"lengthscale":1,)"
               R"("map":{"features":512}})");
  CHECK(model.fit.select.selection == model::Selection::evidence);
  CHECK(std::abs(std::sqrt(model.posterior->noise(0)) / 0.3 - 1) < 0.15);
}

TEST_CASE("gp: what it cannot do is refused") {
  Wave rows(40, 11);
  const auto fault = [&](const char* keys, const char* says) {
    return refusal_fault(
        MERCER_UNSUPPORTED,
        [&] { rows.fit(std::string(R"({"model":"gp","search":false,)") + keys + "}"); }, says);
  };
  CHECK(fault(R"("task":"classification","classes":2)", "model = gp of a classification") == "");
  CHECK(fault(R"("prepare":{"target_transform":"rank"})", "target_transform") == "");
  CHECK(fault(R"("outputs":"covariance","select":{"by":"evidence"})", "evidence") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { rows.fit(R"({"model":"gp","noise":0})"); }, "noise") ==
        "");
}
