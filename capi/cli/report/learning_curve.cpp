// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "report/learning_curve.h"

#include <algorithm>
#include <utility>

#include "failure.h"
#include "fitting.h"
#include "json.h"
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

/// What a fit of the same with D features reads: lambda is chosen anew.
Json spec_of(const Model& model, int64_t D) {
  Json spec = parse_json(model.spec());
  for (const char* key : {"mercer", "needs", "lambda"}) spec.erase(key);
  for (const char* key : {"needs", "rank", "inputs"}) spec["map"].erase(key);
  spec["map"]["features"] = D;
  return spec;
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

LearningCurve learning_curve(const LearnRequest& request, const Model& model, TrainingSet* set,
                             int64_t n, Session& session) {
  LearningCurve curve;
  Dataset& data = set->data;
  if (n < kLeastRows) return curve;
  curve.first_test_row = hold_out(&data, n, kTestShare, {request.seed, request.ordered});
  curve.test_rows = std::min(kMostRows, n - curve.first_test_row);
  curve.train_rows = std::min(kMostRows, curve.first_test_row);
  const Rows test = inputs_of(data, curve.first_test_row, curve.test_rows);
  const Rows truth = targets_of(data, curve.first_test_row, curve.test_rows);
  const Scoring by = scoring_of(model);
  const mercer_score_options scoring =
      by.options(score_options_of(data.weights, curve.first_test_row));
  const int64_t widest = model.map().features();
  for (const int64_t D : widths_of(widest)) {
    try {
      const Model fitted = fit_rows(spec_of(model, D), *set, curve.train_rows, session);
      predict_into(fitted, test, session, &curve);
      curve.points.push_back({D, prediction_score(curve.predicted, truth, set->K, scoring)});
    } catch (const Failure&) {  // some maps want whole blocks, others a row for each feature
      if (curve.points.empty() && D == widest) throw;
    }
  }
  curve.predicted = by.means(std::move(curve.predicted));
  return curve;
}

}  // namespace mercer::cli
