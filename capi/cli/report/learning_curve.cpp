// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "report/learning_curve.h"

#include <algorithm>
#include <utility>

#include "fitting.h"
#include "json.h"
#include "operator_option.h"
#include "scoring.h"
#include "split.h"
#include "table_rows.h"

namespace mercer::cli {

namespace {

constexpr int64_t kMostRows = 10000;
constexpr int64_t kLeastRows = 20;
constexpr double kTestShare = 0.2;
constexpr int64_t kLeastFeatures = 32;
constexpr size_t kMostPoints = 6;

// D and its halves, ascending.
std::vector<int64_t> widths_of(int64_t D) {
  std::vector<int64_t> widths{D};
  while (widths.size() < kMostPoints && widths.back() / 2 >= kLeastFeatures &&
         widths.back() % 2 == 0)
    widths.push_back(widths.back() / 2);
  std::reverse(widths.begin(), widths.end());
  return widths;
}

// The kernel that was found in the place of the one that was searched.
Plan found_plan(Plan plan, const std::string& spec) {
  Json map = parse_json(plan.map);
  const Json kernel = parse_json(spec).at("kernel");
  map["kernel"] = kernel.value("scalar", kernel);
  if (kernel.contains("scalar")) map["kernel"].erase("variance");  // a search sets it
  plan.map = json_text(map);
  const Json lengthscale = map["kernel"].value("lengthscale", Json());
  plan.lengthscale = lengthscale.is_number() ? lengthscale.get<double>() : 0;
  plan.per_input = lengthscale.is_array();
  return plan;
}

void predict_into(const Model& model, const Rows& test, Session& session, LearningCurve* curve) {
  mercer_predict_options options = predict_options();
  // A report says what lay outside, whatever the model does with it.
  if (model.spec().find("\"extrapolation\":\"refuse\"") != std::string::npos)
    options.extrapolation = MERCER_EXTRAPOLATION_CLIP;
  curve->outside.assign(static_cast<size_t>(model.inputs()), 0);
  options.inputs_outside = curve->outside.data();
  curve->predicted = model.predict(test, options, session.context());
  if (model.classes() > 0 && model.has_probabilities())
    curve->probabilities = model.predict(test, options, session.context(), "probability");
}

}  // namespace

LearningCurve learning_curve(const FitRequest& request, const Plan& plan, const Model& model,
                             TrainingSet* set, int64_t n, Session& session) {
  LearningCurve curve;
  Dataset& data = set->data;
  if (n < kLeastRows) return curve;
  curve.first_test_row =
      hold_out(&data, n, kTestShare, {request.learn.seed, request.learn.ordered});
  curve.test_rows = std::min(kMostRows, n - curve.first_test_row);
  curve.train_rows = std::min(kMostRows, curve.first_test_row);
  const Map map = model.map();
  const Plan found = found_plan(plan, map.spec());
  const Rows test = rows_of(data.X, curve.first_test_row, curve.test_rows, data.d);
  const Rows truth = targets_of(data.Y, curve.first_test_row, curve.test_rows, data.m);
  const Scoring by = scoring_of(model);
  const mercer_score_options scoring =
      by.options(score_options_of(data.weights, curve.first_test_row));
  FitRequest one = request;
  one.ard = "auto";  // what was learnt is in the plan
  const Json known = parse_json(model.spec());
  one.learn.preparation.transform = known.at("prepare").value("transform", "none");
  one.operation = found_operator(known);
  for (const int64_t D : widths_of(map.features())) {
    if (found.needs_rows && D > curve.train_rows) continue;
    one.features = D;
    try {
      const Model fitted =
          fit_by_search(one, found, *set, curve.train_rows, false, session, nullptr);
      predict_into(fitted, test, session, &curve);
      curve.points.push_back({D, prediction_score(curve.predicted, truth, set->K, scoring)});
    } catch (const Error& error) {  // some maps want whole blocks
      if (error.status() != MERCER_INVALID_ARGUMENT || D == map.features()) throw;
    }
  }
  curve.predicted = by.means(std::move(curve.predicted));
  return curve;
}

}  // namespace mercer::cli
