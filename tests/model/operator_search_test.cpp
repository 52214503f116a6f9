// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Searches for models of several outputs: fields stay what they are whatever their units, scores
// are honest, structure is taken where there is some, gaps do no harm.
#include "model/outputs/operator_search.h"

#include <cmath>
#include <limits>

#include "support/catch.h"
#include "support/dense.h"
#include "support/field_maps.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::test;
using feature::FieldKind;
using model::OperatorModel;
using model::OperatorPlan;
using model::OperatorReport;
using model::OperatorSearchOptions;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// x -> (-x_2, x_1) exp(-|x|^2 / 2) + (2, -1), without sources.
Matrix<double> vortex(const Matrix<double>& X) {
  return filled(X.rows(), 2, [&](int64_t i, int64_t k) {
    const double size = X(i, 0) * X(i, 0) + X(i, 1) * X(i, 1);
    return (k == 0 ? 2 - X(i, 1) * std::exp(-size / 2) : X(i, 0) * std::exp(-size / 2) - 1);
  });
}

OperatorPlan plan_of(const char* name, int64_t features = 60) {
  OperatorPlan plan;
  plan.spec = field_spec({{"operator", name}, {"features", features}});
  return plan;
}

OperatorModel searched(const OperatorPlan& plan, const Matrix<double>& X, const Matrix<double>& Y,
                       OperatorReport& report, const OperatorSearchOptions& options = {}) {
  Context context;
  report = {};
  return search_operator(plan, options, X.view(), Y.view(), context, report);
}

Matrix<double> predicted(const OperatorModel& model, const Matrix<double>& X,
                         FieldKind kind = FieldKind::value) {
  Matrix<double> out(X.rows(), feature::field_numbers(kind, model.map->outputs(), X.cols()));
  Context context;
  predict(model, X.view(), kind, context, out.view());
  return out;
}

bool warns(const OperatorReport& report, const char* words) {
  for (const std::string& warning : report.warnings)
    if (warning.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("operator search: a field is found, and stays without sources", "[model]") {
  const Matrix<double> X = random_matrix(120, 2, 31), T = random_matrix(40, 2, 32);
  OperatorReport report;
  const OperatorModel model = searched(plan_of("divergence_free"), X, vortex(X), report);
  CHECK(difference(predicted(model, T).view(), vortex(T).view(), 0.02) == "");
  const Matrix<double> J = predicted(model, T, FieldKind::jacobian);
  CHECK(largest(predicted(model, T, FieldKind::divergence).view()) < 1e-10 * largest(J.view()));
  CHECK((report.score.nested && report.score.rows == 120 && report.score.score > 0.999));
  CHECK((report.score.constant < 0.01 && report.score.independent > 0.5));
  CHECK(report.chosen.left_out);
  // Gradients do not turn: a warning says that independent outputs are better.
  searched(plan_of("curl_free"), X, vortex(X), report);
  CHECK(report.score.score < report.score.independent);
  CHECK(warns(report, "does not beat independent outputs"));
  // A mixture finds out which it is.
  searched(plan_of("helmholtz"), X, vortex(X), report, {.assess = false});
  CHECK((report.has_shape && report.chosen.shape <= 0.1 && report.score.rows == 0));
}

TEST_CASE("operator search: units of inputs and targets do not matter", "[model]") {
  const Matrix<double> X = random_matrix(60, 2, 33), noise = random_matrix(60, 2, 43);
  const Matrix<double> field = vortex(X);
  const Matrix<double> Y =
      filled(60, 2, [&](int64_t i, int64_t k) { return field(i, k) + 0.1 * noise(i, k); });
  const Matrix<double> far =
      filled(60, 2, [&](int64_t i, int64_t j) { return 500 * X(i, j) + 70; });
  const Matrix<double> tall = filled(60, 2, [&](int64_t i, int64_t k) { return 30 * Y(i, k) - 4; });
  for (const char* name : {"divergence_free", "decomposable"}) {
    OperatorReport here, there;
    const OperatorModel one = searched(plan_of(name), X, Y, here, {.assess = false});
    const OperatorModel other = searched(plan_of(name), far, tall, there, {.assess = false});
    CHECK((here.chosen.lambda == there.chosen.lambda && here.chosen.shape == there.chosen.shape));
    CHECK(std::abs(here.chosen.lengthscale - there.chosen.lengthscale) < 1e-9);
    const Matrix<double> f = predicted(one, X), g = predicted(other, far);
    for (int64_t i = 0; i < 60; ++i)
      for (int64_t k = 0; k < 2; ++k) CHECK(std::abs(30 * f(i, k) - 4 - g(i, k)) < 1e-5);
  }
}

TEST_CASE("operator search: stream function and potential have the field as derivatives",
          "[model]") {
  const Matrix<double> X = random_matrix(50, 2, 34), T = random_matrix(5, 2, 35);
  for (const bool turns : {true, false}) {
    OperatorReport report;
    const OperatorModel model = searched(plan_of(turns ? "divergence_free" : "curl_free"), X,
                                         vortex(X), report, {.assess = false});
    const FieldKind kind = turns ? FieldKind::stream : FieldKind::potential;
    const Matrix<double> f = predicted(model, T);
    for (int64_t j = 0; j < 2; ++j) {
      const double h = 1e-5;
      const auto moved = [&](double by) {
        return predicted(
            model, filled(5, 2, [&](int64_t i, int64_t k) { return T(i, k) + (k == j ? by : 0); }),
            kind);
      };
      const Matrix<double> above = moved(h), below = moved(-h);
      for (int64_t i = 0; i < 5; ++i) {
        const double slope = (above(i, 0) - below(i, 0)) / (2 * h);
        const double expected = !turns ? f(i, j) : j == 0 ? -f(i, 1) : f(i, 0);
        CHECK(std::abs(slope - expected) < 1e-6 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST_CASE("operator search: outputs of one hidden function help each other through gaps",
          "[model]") {
  // Three noisy copies, of which each row has one.
  const std::vector<double> all(9, 1.0);
  OperatorPlan plan = plan_of("decomposable", 40);
  plan.structure = model::OutputStructure::laplacian;
  plan.graph = {all.data(), 3, 3};
  OperatorReport report;
  double gain = 0;
  for (const uint64_t seed : {51, 52, 53}) {
    const Matrix<double> X = random_matrix(90, 2, seed), noise = random_matrix(90, 3, seed + 10);
    const Matrix<double> Y = filled(90, 3, [&](int64_t i, int64_t k) {
      return i % 3 == k ? std::sin(2 * X(i, 0)) + 0.5 * X(i, 1) + noise(i, k) : kMissing;
    });
    searched(plan, X, Y, report);
    CHECK((report.chosen.shape > 0 && report.has_shape && report.score.rows == 90));
    gain += report.score.score - report.score.independent;
    plan.structure = model::OutputStructure::covariance;
    CHECK(refusal_fault(
              MERCER_INVALID_ARGUMENT, [&] { searched(plan, X, Y, report); },
              "never observed in the same row") == "");
    plan.structure = model::OutputStructure::laplacian;
  }
  CHECK(gain > 0);
}

TEST_CASE("operator search: outputs that correlate are learnt together", "[model]") {
  OperatorReport report;
  OperatorPlan plan = plan_of("decomposable", 40);
  for (const auto structure :
       {model::OutputStructure::covariance, model::OutputStructure::similarity}) {
    plan.structure = structure;
    double gain = 0;
    for (const uint64_t seed : {61, 62, 63}) {
      const Matrix<double> X = random_matrix(90, 3, seed), noise = random_matrix(90, 4, seed + 10);
      const Matrix<double> Y = filled(90, 4, [&](int64_t i, int64_t k) {
        return (1 + static_cast<double>(k)) * (std::sin(2 * X(i, 0) + 2 * X(i, 1)) + noise(i, k));
      });
      const OperatorModel model = searched(plan, X, Y, report);
      gain += report.score.score - report.score.independent;
      REQUIRE(model.scale.size() == 4);
      CHECK(model.scale[3] > 2 * model.scale[0]);
      Matrix<double> out(90, 1);
      Context context;
      CHECK(refusal_fault(
                MERCER_UNSUPPORTED,
                [&] { predict(model, X.view(), FieldKind::divergence, context, out.view()); },
                "scale of its own") == "");
    }
    CHECK(gain > 0);
  }
}

TEST_CASE("operator search: what is given is kept, what cannot be is refused", "[model]") {
  const Matrix<double> X = random_matrix(30, 2, 40), Y = vortex(X);
  OperatorReport report;
  const OperatorPlan free = plan_of("divergence_free", 20), mixed = plan_of("helmholtz", 20);
  const OperatorModel model =
      searched(mixed, X, Y, report,
               {.lengthscales = {0.7}, .lambdas = {1e-3}, .shapes = {0.25}, .assess = false});
  CHECK((report.chosen.lengthscale == 0.7 && model.lambda == 1e-3 && report.chosen.shape == 0.25));
  CHECK(model.map->kernel().parameters().number("alpha") == 0.25);
  const auto refused = [&](const OperatorPlan& plan, const OperatorSearchOptions& options,
                           const char* words) {
    return refusal_fault(
        MERCER_INVALID_ARGUMENT, [&] { searched(plan, X, Y, report, options); }, words);
  };
  CHECK(refused(free, {.lengthscales = {0}}, "lengthscales") == "");
  CHECK(refused(free, {.lambdas = {0}}, "lambdas") == "");
  CHECK(refused(free, {.shapes = {1}}, "expected none") == "");
  CHECK(refused(mixed, {.shapes = {2}}, "from 0 to 1") == "");
  OperatorPlan own = free;
  const Value two =
      std::make_shared<const Parameters>(Parameters{{"kernel", "gaussian"}, {"lengthscale", 2.0}});
  own.spec =
      field_spec({{"operator", "divergence_free"}, {"kernel", two}, {"features", int64_t{60}}});
  CHECK(refused(own, {.lengthscales = {1}}, "has its own") == "");
  const OperatorModel kept = searched(own, X, Y, report, {.assess = false});
  CHECK(kept.map->kernel().matrix()->scalar().lengthscale()[0] == 2);
  CHECK(refusal_fault(
            MERCER_DIMENSION_MISMATCH, [&] { searched(free, X, random_matrix(30, 3, 41), report); },
            "3 columns") == "");
  OperatorPlan graph = free;
  graph.structure = model::OutputStructure::laplacian;
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED, [&] { searched(graph, X, Y, report); }, "field") == "");
}

TEST_CASE("operator search: it can be stopped, and keeps to its memory", "[model]") {
  const Matrix<double> X = random_matrix(40, 2, 42), Y = vortex(X);
  OperatorReport report;
  int calls = 0;
  Context stopped;
  stopped.user = &calls;
  stopped.progress = [](void* user, int64_t done, int64_t total) {
    return static_cast<int32_t>(done > total / 4 && ++*static_cast<int*>(user) > 0);
  };
  const auto run = [&](Context& context) {
    search_operator(plan_of("divergence_free", 200), {}, X.view(), Y.view(), context, report);
  };
  CHECK(refusal_fault(
            MERCER_CANCELLED, [&] { run(stopped); }, "") == "");
  CHECK(calls > 0);
  Context small;
  small.memory_cap = 20000;
  CHECK(refusal_fault(
            MERCER_OUT_OF_MEMORY, [&] { run(small); }, "20000") == "");
}
