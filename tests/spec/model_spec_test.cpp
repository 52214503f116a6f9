// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <string>

#include "base/aligned.h"
#include "base/context.h"
#include "feature/map_entry.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/refusal.h"

using namespace mercer;
using mercer::test::refusal_fault;

namespace {

constexpr const char* kMap =
    R"({"map":"fourier","kernel":{"kernel":"laplacian"},"inputs":2,"features":4})";

std::string ridge_with(const std::string& more) {
  return std::string(R"({"model":"ridge","map":)") + kMap + more + "}";
}

template <class... Part>
std::string refused(mercer_status status, const std::string& json, const Part&... parts) {
  return refusal_fault(
      status, [&] { spec::model_plan_from_spec(json); }, parts...);
}

}  // namespace

TEST_CASE("a model spec is a map and how to fit it", "[spec]") {
  const spec::ModelPlan plan = spec::model_plan_from_spec(ridge_with(
      R"(,"lambda":1e-4,"standardize":false,"center":false,"task":"classification","precision":"f64")"));
  CHECK(plan.map.integer("inputs") == 2);
  CHECK(plan.map.object("kernel").text("kernel") == "laplacian");
  CHECK(plan.fit.select.selection == model::Selection::fixed);
  CHECK(plan.fit.select.lambda == 1e-4);
  CHECK_FALSE(plan.fit.prepare.standardize);
  CHECK_FALSE(plan.fit.estimate.center);
  CHECK(plan.fit.coding.task == model::Task::classification);
  CHECK(plan.fit.estimate.precision == feature::Precision::f64);
}

TEST_CASE("without lambda it is chosen by generalised cross-validation; the rest has defaults",
          "[spec]") {
  const spec::ModelPlan plan = spec::model_plan_from_spec(ridge_with(R"(,"mercer":1)"));
  CHECK(plan.fit.select.selection == model::Selection::loo);
  CHECK(plan.fit.prepare.standardize);
  CHECK(plan.fit.estimate.center);
  CHECK(plan.fit.coding.task == model::Task::regression);
  CHECK(plan.fit.estimate.precision == feature::Precision::f32);
}

TEST_CASE("the map of a model's spec may be left to its kernel", "[spec]") {
  const spec::ModelPlan plan = spec::model_plan_from_spec(
      R"({"model":"ridge","map":{"kernel":{"kernel":"arc_cosine"},"inputs":2,"features":4}})");
  CHECK(plan.map.text("map") == "arc_cosine");
}

TEST_CASE("a logistic model's spec: its own fields, lambda on held-out rows where it is absent",
          "[spec]") {
  const std::string map =
      R"("map":{"map":"fourier","kernel":{"kernel":"cauchy"},"inputs":2,"features":4})";
  const auto plan_of = [&](const std::string& rest) {
    return spec::model_plan_from_spec(R"({"model":"logistic",)" + map + rest + "}");
  };
  const spec::ModelPlan plan = plan_of(R"(,"task":"classification")");
  CHECK(plan.fit.select.selection == model::Selection::held_out);
  CHECK(plan.fit.estimate.parameters.text("loss") == "logistic");
  CHECK(plan.fit.estimate.parameters.text("class_weight") == "none");
  CHECK(plan.fit.estimate.parameters.find("tau") == nullptr);
  const spec::ModelPlan fixed = plan_of(R"(,"loss":"quantile","tau":0.9,"lambda":0.001)");
  CHECK(fixed.fit.select.selection == model::Selection::fixed);
  CHECK(fixed.fit.estimate.parameters.number("tau") == 0.9);
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { plan_of(R"(,"loss":"absolute")"); },
            "loss = \"absolute\", expected one of \"logistic\"") == "");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { plan_of(R"(,"tau":1.5)"); }, "tau = 1.5") == "");
}

TEST_CASE("a fitted model prints the lambda it has and that its spec is not all of it", "[spec]") {
  const spec::ModelPlan plan = spec::model_plan_from_spec(ridge_with(""));
  model::Model model;
  model.map = feature::make_map(plan.map);
  model.fit = plan.fit;
  model.fit.select.lambda = 0.1;
  const std::string text = spec::to_spec(model);
  CHECK(
      text ==
      R"({"mercer":1,"model":"ridge","map":{"map":"fourier","kernel":{"kernel":"laplacian","lengthscale":1,"variance":1},)"
      R"("inputs":2,"features":4,"seed":0,"projection":"dense","form":"pair","radius":"drawn",)"
      R"("scramble":"owen","whole_blocks":false},"lambda":0.1,"class_weight":"none","standardize":true,)"
      R"("center":true,"task":"regression","precision":"f32","scale":"standard",)"
      R"("missing":"refuse","transform":"none","target_transform":"none","unit_rows":false,)"
      R"("extrapolation":"clip","needs":"data"})");
  CHECK(refused(MERCER_UNSUPPORTED, text, "needs = \"data\"", "fitted") == "");
}

TEST_CASE("a spec says how rows are prepared, in the words that it prints", "[spec]") {
  const spec::ModelPlan plan = spec::model_plan_from_spec(
      ridge_with(R"(,"scale":"robust","missing":"flag","transform":"rank",)"
                 R"("target_transform":"log","unit_rows":true,"extrapolation":"free")"));
  CHECK(plan.fit.prepare.scale == model::Scale::robust);
  CHECK(plan.fit.prepare.missing == model::Missing::flag);
  CHECK(plan.fit.prepare.transform == model::Transform::rank);
  CHECK(plan.fit.prepare.target_transform == model::Transform::log);
  CHECK(plan.fit.prepare.unit_rows);
  CHECK(plan.fit.extrapolation == model::Extrapolation::free);
  model::Model model;
  model.map = feature::make_map(plan.map);
  model.fit = plan.fit;
  CHECK(spec::to_spec(model).find(
            R"("scale":"robust","missing":"flag","transform":"rank","target_transform":"log",)"
            R"("unit_rows":true,"extrapolation":"free",)") != std::string::npos);
}

TEST_CASE("a scale without standardising is refused when it is fitted", "[spec]") {
  Matrix<double> X(4, 2), Y(4, 1);
  for (int64_t i = 0; i < 4; ++i) X(i, 0) = X(i, 1) = Y(i, 0) = static_cast<double>(i);
  Context context;
  const auto fit = [&](const std::string& rest) {
    spec::fit(spec::model_plan_from_spec(ridge_with(rest)), Rows(X.view()), Y.view(), context);
  };
  fit(R"(,"standardize":false)");
  fit(R"(,"standardize":false,"scale":"standard")");
  CHECK(refusal_fault(
            MERCER_INVALID_ARGUMENT, [&] { fit(R"(,"standardize":false,"scale":"robust")"); },
            "scale = robust and standardize = false, expected scale = standard") == "");
}

TEST_CASE("what is wrong with a model spec is said", "[spec]") {
  const mercer_status invalid = MERCER_INVALID_ARGUMENT;
  CHECK(refused(invalid, "{}", "key \"model\" is missing") == "");
  CHECK(refused(invalid, R"({"model":"lasso"})", "model = \"lasso\", expected one of \"ridge\"") ==
        "");
  CHECK(refused(invalid, R"({"model":"ridge"})", "key \"map\" is missing", "a map spec") == "");
  CHECK(refused(invalid, ridge_with(R"(,"lambda":-1)"), "lambda = -1", ">= 0") == "");
  CHECK(refused(invalid, ridge_with(R"(,"lambda":"auto")"), "lambda = \"auto\"") == "");
  CHECK(refused(invalid, ridge_with(R"(,"standardize":1)"),
                "standardize = 1, expected true or false") == "");
  CHECK(refused(invalid, ridge_with(R"(,"task":"ranking")"), "task = \"ranking\"",
                "\"classification\"") == "");
  CHECK(refused(invalid, ridge_with(R"(,"precision":"f16")"), "precision = \"f16\"") == "");
  CHECK(refused(invalid, ridge_with(R"(,"scale":"none")"), "scale = \"none\"", "\"robust\"") == "");
  CHECK(refused(invalid, ridge_with(R"(,"missing":true)"), "missing = true") == "");
  CHECK(refused(invalid, ridge_with(R"(,"transform":"sqrt")"), "transform = \"sqrt\"") == "");
  CHECK(refused(invalid, ridge_with(R"(,"extrapolation":"hold")"), "extrapolation = \"hold\"",
                "\"refuse\"") == "");
  CHECK(refused(invalid, ridge_with(R"(,"alpha":1)"), "unknown key \"alpha\"") == "");
  CHECK(refused(MERCER_NEWER_VERSION, R"({"mercer":2,"model":"deep"})", "mercer = 2") == "");
  const char* nested =
      R"({"model":"ridge","map":{"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":0},"inputs":1,"features":2}})";
  CHECK(refused(invalid, nested, "map.kernel.lengthscale = 0") == "");
  const char* data =
      R"({"model":"ridge","map":{"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":1,"features":2,"needs":"data"}})";
  CHECK(refused(MERCER_UNSUPPORTED, data, "map.needs = \"data\"") == "");
}
