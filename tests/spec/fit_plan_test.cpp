// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <algorithm>
#include <limits>

#include "../model/memory_stream.h"
#include "model/rows/median_lengthscale.h"
#include "model/rows/row_sets.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/fit.h"
#include "support/refusal.h"

namespace fit_plan_test {
using namespace mercer;
using mercer::test::refusal_fault;

constexpr mercer_status kInvalid = MERCER_INVALID_ARGUMENT;

template <class... Part>
std::string refused(mercer_status status, const std::string& json, const Part&... parts) {
  return refusal_fault(
      status, [&] { spec::fit_plan(json); }, parts...);
}

/// Forty rows of three inputs, the first of which is the target.
struct Line {
  Matrix<double> X = test::random_matrix(40, 3, 5);
  Matrix<double> Y{40, 1};
  Context context;
  Line() {
    for (int64_t i = 0; i < 40; ++i) Y(i, 0) = X(i, 0);
  }
  model::Model fit(const std::string& json, const model::GivenMap& map = nullptr) {
    return test::fit(spec::fit_plan(json), map, Rows(X.view()), Y.view(), {}, context);
  }
  template <class... Part>
  std::string refused(mercer_status status, const std::string& json, const Part&... parts) {
    return refusal_fault(
        status, [&] { fit(json); }, parts...);
  }
};

model::GivenMap small_map() {
  return spec::map_from_spec(
      R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":3,"features":16})");
}

TEST_CASE("the spec of a fit says what is given and leaves the rest open") {
  const model::FitPlan plan = spec::fit_plan(
      R"({"model":"ridge","lambda":1e-4,"center":false,"task":"classification","precision":"f64",)"
      R"("prepare":{"standardize":false,"missing":"flag","transform":"rank","unit_rows":true,)"
      R"("target_transform":"log","extrapolation":"free"},"lengthscale":3,"ard":"off","seed":7,)"
      R"("assess":false,"map":{"features":64}})");
  const model::FitOptions& fit = plan.search.fit;
  CHECK(fit.select.selection == model::Selection::fixed);
  CHECK(fit.select.lambda == 1e-4);
  CHECK(plan.search.lambda == 1e-4);
  CHECK_FALSE(fit.prepare.standardize);
  CHECK_FALSE(fit.estimate.center);
  CHECK(fit.coding.task == model::Task::classification);
  CHECK(fit.estimate.precision == feature::Precision::f64);
  CHECK(fit.prepare.missing == model::Missing::flag);
  CHECK(fit.prepare.transform == model::Transform::rank);
  CHECK_FALSE(plan.search.choose_transform);
  CHECK(fit.prepare.target_transform == model::Transform::log);
  CHECK(fit.prepare.unit_rows);
  CHECK(fit.prepare.extrapolation == model::Extrapolation::free);
  CHECK(fit.select.seed == 7);
  CHECK(plan.search.lengthscale == 3);
  CHECK(plan.search.per_input == model::PerInput::off);
  CHECK(plan.search.estimator == model::Estimator::ridge);
  CHECK_FALSE(plan.search.assess);
  CHECK(plan.search.features == 64);
  const model::FitPlan open = spec::fit_plan("{}");
  CHECK(open.searches);
  CHECK(open.search.choose_transform);
  CHECK(open.search.fit.select.selection == model::Selection::leave_one_out);
  CHECK(open.search.lambda < 0);
  CHECK(open.search.estimator == model::Estimator::automatic);
  CHECK(open.search.assess);
  CHECK(open.search.most_features == 0);
  CHECK_FALSE(open.search.quick);
  CHECK(spec::fit_plan(R"({"most_features":4096})").search.most_features == 4096);
  CHECK(Line().refused(MERCER_UNSUPPORTED, R"({"most_features":4096,"map":{"features":64}})",
                       "key \"most_features\"", "one of the two") == "");
  CHECK(Line().refused(MERCER_UNSUPPORTED, R"({"most_features":4096,"search":false})",
                       "key \"most_features\"") == "");
}

TEST_CASE("effort quick searches what the spec asks for by itself, and is of a search") {
  const model::FitPlan quick = spec::fit_plan(R"({"effort":"quick"})");
  CHECK(quick.search.quick);
  CHECK(quick.search.per_input == model::PerInput::off);
  CHECK_FALSE(quick.search.choose_transform);
  CHECK_FALSE(quick.search.choose_target_transform);
  CHECK(quick.search.estimator == model::Estimator::ridge);
  const model::FitPlan asked = spec::fit_plan(
      R"({"effort":"quick","ard":"on","model":"logistic","prepare":{"transform":"log"}})");
  CHECK(asked.search.per_input == model::PerInput::on);
  CHECK(asked.search.estimator == model::Estimator::logistic);
  CHECK(asked.search.fit.prepare.transform == model::Transform::log);
  CHECK(Line().refused(MERCER_UNSUPPORTED, R"({"effort":"quick","search":false})",
                       "key \"effort\"") == "");
}

TEST_CASE("a quick search takes fewer trials, and scores rows held out once") {
  Line line;
  const model::FitReport full = line.fit(R"({"map":{"features":32}})").report;
  const model::FitReport quick = line.fit(R"({"effort":"quick","map":{"features":32}})").report;
  CHECK(quick.trials.size() < full.trials.size());
  CHECK(quick.assessment.rows == (full.assessment.rows + 2) / 5);
}

TEST_CASE("a budget leaves out choices, says which, and ends with a model and its score") {
  Line line;
  const model::FitReport whole = line.fit("{}").report;
  const model::FitReport ample = line.fit(R"({"budget":1e6})").report;
  CHECK(ample.lambda == whole.lambda);
  CHECK(ample.warnings == whole.warnings);
  const model::FitReport none = line.fit(R"({"budget":1e-9})").report;
  CHECK(none.trials.size() < whole.trials.size());
  CHECK(none.assessment.rows > 0);
  CHECK(none.assessment.rows < whole.assessment.rows);
  CHECK(std::ranges::any_of(none.warnings, [](const std::string& warning) {
    return warning.starts_with("a budget of 1e-09 s left out: other ");
  }));
  CHECK(Line().refused(MERCER_UNSUPPORTED, R"({"budget":1,"search":false})", "key \"budget\"") ==
        "");
  CHECK(Line().refused(MERCER_INVALID_ARGUMENT, R"({"budget":0})", "budget") == "");
}

TEST_CASE("folds whose training rows weigh nothing are refused, of fields, too") {
  const Matrix<double> X = test::random_matrix(6, 2, 3);
  const std::vector<double> weights = {0, 0, 0, 0, 0, 1};
  Context context;
  const auto refused = [&](const std::string& map) {
    const std::string json = R"({"search":false,"select":{"by":"folds"},"map":)" + map + "}";
    return refusal_fault(
        kInvalid,
        [&] {
          test::fit(spec::fit_plan(json), nullptr, Rows(X.view()), X.view(), weights, context);
        },
        "weights of", "sum to 0");
  };
  CHECK(refused(R"({"kernel":"curl_free","features":64})") == "");
  CHECK(refused(R"({"kernel":"curl_free","features":4})") == "");
  CHECK(refused(R"({"map":"exact","kernel":{"kernel":"curl_free"}})") == "");
  CHECK(refused(R"({"kernel":"gaussian","features":4})") == "");
}

// Centred, the Gram matrix of equal rows is 0 up to the rounding of what it was.
TEST_CASE("a posterior of equal rows at a lambda below their rounding is refused") {
  Matrix<double> X(16, 2);
  X.fill(1);
  const Matrix<double> Y = test::random_matrix(16, 1, 4);
  Context context;
  const auto fit = [&](const char* lambda) {
    const std::string json =
        R"({"model":"gp","map":"exact","search":false,"lengthscale":1,"lambda":)" +
        std::string(lambda) + "}";
    test::fit(spec::fit_plan(json), nullptr, Rows(X.view()), Y.view(), {}, context);
  };
  CHECK(refusal_fault(
            MERCER_NOT_POSITIVE_DEFINITE, [&] { fit("1e-300"); }, "lost in the rounding") == "");
  CHECK_NOTHROW(fit("1e-3"));
}

TEST_CASE("a large column that varies by its last digits is scaled like others") {
  Line line;
  for (int64_t i = 0; i < 40; ++i) line.X(i, 2) = 1e18 + 128.0 * static_cast<double>(7 * i % 40);
  const model::Model model =
      line.fit(R"({"search":false,"lambda":1e-3,"lengthscale":1,"map":{"features":64}})");
  CHECK(model.preparation.scale[2] > 1000);
  CHECK(model.preparation.scale[2] < 2000);  // the deviation is 1,478
}

TEST_CASE("a fit makes a map of frequencies kept by leverage from its rows") {
  for (const char* how : {R"("search":false,"lambda":1e-3)", R"("assess":false)"}) {
    Line line;
    const model::Model model =
        line.fit("{" + std::string(how) +
                 R"(,"map":{"map":"fourier","weights":"leverage","pool":3,"features":16}})");
    const Parameters said = model.map->parameters();
    CHECK(said.text("projection") == "supplied");
    CHECK(said.integer("features") == 16);
  }
}

TEST_CASE("a row without its target is left out and told, and forbids no lengthscale per input") {
  Line line;
  line.Y(7, 0) = std::numeric_limits<double>::quiet_NaN();
  for (const char* json : {R"({"map":{"features":32},"assess":false,"ard":"on"})",
                           R"({"map":{"features":32},"search":false})"}) {
    const model::Model model = line.fit(json);
    const auto told = [](const std::string& warning) {
      return warning.starts_with("1 of 40 targets are NaN");
    };
    INFO(json);
    CHECK(std::ranges::count_if(model.report.warnings, told) == 1);
  }
}

TEST_CASE("a repeated search that ends far from the others is told, and none where they agree") {
  // The fold of the row with the wrong target cannot foresee it, and it is most of the variance there.
  const Matrix<double> X = test::random_matrix(100, 2, 8);
  Matrix<double> Y(100, 1);
  Context context;
  for (const double wrong : {0.0, 8.0}) {
    for (int64_t i = 0; i < 100; ++i) Y(i, 0) = X(i, 0) + (i == 17 ? wrong : 0);
    const model::Model model = test::fit(spec::fit_plan(R"({"map":{"features":32},"ard":"off"})"),
                                         nullptr, Rows(X.view()), Y.view(), {}, context);
    const auto told = [](const std::string& warning) {
      return warning.starts_with("one of the 5 searches that the honest score repeats");
    };
    CHECK(std::ranges::count_if(model.report.warnings, told) == (wrong > 0 ? 1 : 0));
  }
}

TEST_CASE("how lambda is chosen is an object of its own") {
  const auto chosen = [](const char* select) {
    return spec::fit_plan(std::string(R"({"select":)") + select + "}").search.fit.select;
  };
  CHECK(chosen(R"({"by":"gcv"})").selection == model::Selection::gcv);
  CHECK(chosen(R"({"by":"leave_one_out"})").selection == model::Selection::leave_one_out);
  CHECK(chosen(R"({"by":"folds","folds":7})").folds == 7);
  const model::SelectionOptions held_out =
      chosen(R"({"by":"held_out","fraction":0.25,"largest":1,"smallest":0.01,"count":3})");
  CHECK(held_out.held_out_fraction == 0.25);
  CHECK(held_out.lambda_largest == 1);
  CHECK(held_out.lambda_count == 3);
  CHECK(refused(kInvalid, R"({"select":{"folds":7}})", "select.folds", "leave_one_out") == "");
  CHECK(refused(kInvalid, R"({"search":false,"select":{"by":"folds","fraction":0.5}})",
                "select.fraction") == "");
  CHECK(refused(kInvalid, R"({"select":{"fraction":1}})", "select.fraction = 1", "< 1") == "");
  CHECK(chosen(R"({"fraction":0.3})").held_out_fraction == 0.3);  // of a search
  CHECK(refused(kInvalid, R"({"select":{"by":"chance"}})", "select.by = \"chance\"") == "");
  CHECK(refused(kInvalid, R"({"select":{"smallest":2,"largest":1}})", "select.smallest = 2") == "");
  CHECK(refused(MERCER_UNSUPPORTED, R"({"lambda":1,"select":{"by":"gcv"}})", "key \"select\"",
                "one of the two") == "");
}

TEST_CASE("models of other losses choose lambda on rows held out, and have fields of their own") {
  const auto fit_of = [](const std::string& rest) {
    return spec::fit_plan(R"({"model":"logistic")" + rest + "}").search.fit;
  };
  const model::FitOptions open = fit_of(R"(,"task":"classification")");
  CHECK(open.select.selection == model::Selection::held_out);
  CHECK(open.estimate.parameters.text("loss") == "logistic");
  CHECK(open.estimate.parameters.find("tau") == nullptr);
  const model::FitOptions fixed = fit_of(R"(,"loss":"quantile","tau":0.9,"lambda":0.001)");
  CHECK(fixed.select.selection == model::Selection::fixed);
  CHECK(fixed.estimate.parameters.number("tau") == 0.9);
  CHECK_REFUSED(kInvalid, fit_of(R"(,"loss":"absolute")"),
                "loss = \"absolute\", expected one of \"logistic\"");
  CHECK_REFUSED(kInvalid, fit_of(R"(,"loss":"quantile","tau":1)"),
                "tau = 1, expected a number > 0 and < 1");
}

TEST_CASE("what is wrong with the spec of a fit is said with its path") {
  CHECK(refused(kInvalid, R"({"model":"lasso"})", "model = \"lasso\", expected one of \"auto\"") ==
        "");
  CHECK(refused(kInvalid, R"({"lambda":-1})", "lambda = -1", ">= 0") == "");
  CHECK(refused(kInvalid, R"({"lambda":"auto"})", "lambda = \"auto\"") == "");
  CHECK(refused(kInvalid, R"({"prepare":{"standardize":1}})",
                "prepare.standardize = 1, expected true or false") == "");
  CHECK(refused(kInvalid, R"({"prepare":{"scale":"none"}})", "prepare.scale = \"none\"",
                "\"robust\"") == "");
  CHECK(refused(kInvalid, R"({"prepare":7})", "prepare = 7, expected an object") == "");
  CHECK(refused(kInvalid, R"({"task":"ranking"})", "task = \"ranking\"", "\"classification\"") ==
        "");
  CHECK(refused(kInvalid, R"({"precision":"f16"})", "precision = \"f16\"") == "");
  CHECK(refused(kInvalid, R"({"alpha":1})", "unknown key \"alpha\"") == "");
  CHECK(refused(kInvalid, R"({"map":7})", "map = 7") == "");
  CHECK(refused(MERCER_NEWER_VERSION, R"({"mercer":2,"model":"deep"})", "mercer = 2") == "");
  CHECK(refused(MERCER_UNSUPPORTED, R"({"needs":"data"})", "needs = \"data\"", "fitted") == "");
  Line line;
  CHECK(line.refused(kInvalid, R"({"map":{"kernel":{"kernel":"gaussian","lengthscale":0}}})",
                     "map.kernel.lengthscale = 0") == "");
  CHECK(line.refused(MERCER_UNSUPPORTED, R"({"map":{"needs":"data"}})", "map.needs") == "");
  CHECK(line.refused(MERCER_DIMENSION_MISMATCH, R"({"map":{"inputs":4}})", "map.inputs = 4") == "");
  CHECK(line.refused(kInvalid,
                     R"({"search":false,"prepare":{"standardize":false,)"
                     R"("scale":"robust"}})",
                     "scale = robust and standardize = false") == "");
}

TEST_CASE("a kernel's own lengthscale stands, with a search and without") {
  Line line;
  for (const char* rest : {R"("search":false)", R"("ard":"off","assess":false)"}) {
    const std::string given =
        R"({"map":{"kernel":{"kernel":"matern","lengthscale":3},"features":32},)";
    const model::Model model = line.fit(given + rest + "}");
    CHECK(model.map->kernel().lengthscale()[0] == 3);
    CHECK(model.map->features() == 32);
  }
  const model::Model other =
      line.fit(R"({"map":"fourier","lengthscale":2,"search":false,"lambda":1e-3})");
  CHECK(other.map->kernel().lengthscale()[0] == 2);
  CHECK(line.refused(MERCER_UNSUPPORTED, R"({"map":"linear","lengthscale":2})",
                     "lengthscale = 2") == "");
}

TEST_CASE("keys of a search that ask for nothing stand beside \"search\": false") {
  const std::string rest = R"(,"search":false,"lambda":1e-3,"map":{"kernel":"rbf","features":8}})";
  for (const char* key : {R"("assess":false)", R"("ard":"off")", R"("spectrum":"drawn")"}) {
    CAPTURE(key);
    CHECK_NOTHROW(Line().fit(std::string("{") + key + rest));
  }
}

TEST_CASE("keys that a fit cannot follow are refused, not ignored") {
  const std::string own = R"(,"lambda":1e-3,"search":false,"map":{"features":8,"kernel":)"
                          R"({"kernel":"gaussian","lengthscale":3}}})";
  CHECK(Line().refused(kInvalid, R"({"lengthscale":1)" + own,
                       "lengthscale = 1 beside map.kernel.lengthscale = 3") == "");
  CHECK_NOTHROW(Line().fit(R"({"lengthscale":3)" + own));
  Line line;
  const auto with_map = [&](const char* json, const char* part) {
    return refusal_fault(
        MERCER_UNSUPPORTED, [&] { line.fit(json, small_map()); }, part);
  };
  CHECK(with_map(R"({"map":"fourier"})", "key \"map\"") == "");
  CHECK(with_map(R"({"search":true})", "search = true") == "");
  CHECK(with_map(R"({"assess":true})", "key \"assess\"") == "");
  CHECK(with_map(R"({"lengthscale":1})", "key \"lengthscale\"") == "");
  const auto unsupported = [&](const char* json, const char* part) {
    return line.refused(MERCER_UNSUPPORTED, json, part);
  };
  CHECK(unsupported(R"({"search":false,"ard":"on"})", "key \"ard\"") == "");
  CHECK(unsupported(R"({"model":"logistic","iterations":9})",
                    "key \"iterations\" of a search of logistic regression") == "");
  CHECK(unsupported(R"({"select":{"by":"gcv"}})", "select.by") == "");
  CHECK(line.refused(kInvalid, R"({"classes":3})", "classes = 3") == "");
}

TEST_CASE("rows that are not in memory have maps of the spec as others do") {
  Line line;
  const auto pulled = [&](const char* json) {
    test::MemoryStream stream(Rows(line.X.view()), line.Y.view(), {9, 30});
    return test::fit_stream(spec::fit_plan(json), nullptr, stream, 3, 1, line.context).map;
  };
  for (const char* json : {R"({"search":false,"map":{"features":256}})",
                           R"({"search":false,"map":{"map":"tensor_srht","features":256}})"}) {
    CHECK(pulled(json)->inputs() == 3);
    CHECK(pulled(json)->features() >= 256);
  }
  CHECK_REFUSED(MERCER_UNSUPPORTED, pulled(R"({"search":false,"map":"nystroem"})"),
                "made from rows");
  CHECK_REFUSED(MERCER_UNSUPPORTED, pulled(R"({"search":false,"prepare":{"transform":"auto"}})"),
                "prepare.transform = auto");
}

TEST_CASE("classes that begin at 1 are refused unless their number is given") {
  Matrix<double> Y(3, 1);
  for (int64_t i = 0; i < 3; ++i) Y(i, 0) = static_cast<double>(1 + i % 2);
  const Matrix<double> X = test::random_matrix(3, 2, 5);
  Context context;
  const auto fitted = [&](const char* json) {
    return test::fit(spec::fit_plan(json), nullptr, Rows(X.view()), Y.view(), {}, context);
  };
  CHECK_REFUSED(kInvalid, fitted(R"({"task":"classification"})"), "no row of class 0");
  CHECK_NOTHROW(fitted(
      R"({"task":"classification","classes":3,"search":false,"lambda":1,"map":{"features":8}})"));
}

TEST_CASE("without a search a lengthscale that nobody gives is the rows' median distance") {
  Line line;
  const auto lengthscale = [&](const std::string& kernel, const std::string& more = "") {
    const auto model = line.fit(R"({"search":false,"lambda":0.1,)" + more +
                                R"("map":{"features":4,"kernel":)" + kernel + "}}");
    const Parameters& made = model.map->kernel().parameters();
    const bool whole = made.find("parts") == nullptr;
    return (whole ? made : *made.objects("parts").front()).numbers("lengthscale").front();
  };
  const model::Model plain = line.fit(R"({"search":false,"lambda":1,"map":{"features":4}})");
  const double median = model::median_lengthscale<double>(plain.preparation, line.X.view(),
                                                          model::all_rows(40), 0, line.context);
  CHECK(median > 1.5);
  CHECK(lengthscale(R"({"kernel":"gaussian"})") == Approx(median).epsilon(1e-12));
  CHECK(lengthscale(R"({"kernel":"gaussian","lengthscale":1})") == 1);
  CHECK(lengthscale(R"({"kernel":"gaussian"})", R"("lengthscale":3,)") == 3);
  CHECK(lengthscale(R"({"kernel":"sum","parts":[{"kernel":"gaussian"},{"kernel":"laplacian"}]})") ==
        1);
}

TEST_CASE("a fitted model prints what it was fitted by, and that its spec is not all of it") {
  Line line;
  const model::Model model = line.fit(
      R"({"search":false,"lambda":0.1,"seed":2,"ordered":true,"map":{"map":"fourier","projection":"dense",)"
      R"("kernel":{"kernel":"laplacian","lengthscale":1},"inputs":3,"features":4,"seed":0}})");
  const std::string text = spec::to_spec(model);
  CHECK(
      text ==
      R"({"mercer":1,"model":"ridge","map":{"map":"fourier","kernel":{"kernel":"laplacian","lengthscale":1,"variance":1},)"
      R"("inputs":3,"features":4,"seed":0,"projection":"dense","form":"pair","radius":"drawn",)"
      R"("scramble":"owen","whole_blocks":false,"weights":"given"},"lambda":0.1,"class_weight":"none","solver":"direct","search":false,)"
      R"("prepare":{"standardize":true,"scale":"standard","missing":"refuse","transform":"none",)"
      R"("target_transform":"none","unit_rows":false,"extrapolation":"clip"},"center":true,)"
      R"("task":"regression","classes":0,"precision":"f32","seed":2,"ordered":true,"keep":"nothing","needs":"data"})");
  CHECK(refused(MERCER_UNSUPPORTED, text, "needs = \"data\"", "fitted") == "");
}

}  // namespace fit_plan_test
