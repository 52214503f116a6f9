// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "report/document.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "failure.h"
#include "output_file.h"
#include "scoring.h"
#include "split.h"

namespace mercer::cli {
namespace {

constexpr int64_t kMostShown = 2000;
constexpr int64_t kMostRows = 10000;  // fitted on, and scored
constexpr int64_t kLeastDivided = 20;
constexpr double kTestShare = 0.2;
constexpr int64_t kLeastFeatures = 32;
constexpr size_t kMostPoints = 6;

// Names of the header, those of levels of text included, else x1, x2, ...
Json names_of(const TrainingSet& set) {
  const std::vector<std::string> known = input_names(set.metadata);
  Json names = Json::array();
  for (int64_t j = 0; j < set.data.d; ++j)
    names.push_back(name_or_number(known, static_cast<size_t>(j), "x"));
  return names;
}

/// On at most 2,000 rows; null where it cannot be measured.
Json importance(const Model& model, const TrainingSet& set, Session& session) {
  Dataset rows = set.data;
  std::vector<int64_t> order(std::min(rows.n, kMostShown));
  std::iota(order.begin(), order.end(), int64_t{0});
  arrange_rows(&rows, order);
  try {
    const Relevance found = relevance_of(model, set.metadata, rows, session);
    return {{"inputs", found.names}, {"relevance", found.values}};
  } catch (const Failure&) {
    return nullptr;
  }
}

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

/// Scores of rows [first, first + count) by fits on rows before, and the errors of the widest.
struct Curve {
  int64_t first, count, train_rows;
  Json features = Json::array(), scores = Json::array();
  Matrix<double> predicted{0, 0};  // by the widest, the last
};

Curve learning_curve(const Model& model, const TrainingSet& set, int64_t n, int64_t first,
                     Session& session) {
  Curve curve{first, std::min(kMostRows, n - first), std::min(kMostRows, first)};
  const Rows test = inputs_of(set.data, first, curve.count);
  const Rows truth = targets_of(set.data, first, curve.count);
  const Scoring by = scoring_of(model);
  const mercer_score_options scoring = by.options(score_options_of(set.data.weights, first));
  mercer_predict_options options = predict_options();
  // A report says how predictions go wrong, whatever the model does outside its range.
  if (model.spec().find("\"extrapolation\":\"refuse\"") != std::string::npos)
    options.extrapolation = MERCER_EXTRAPOLATION_CLIP;
  const int64_t widest = model.map().features();
  for (const int64_t D : widths_of(widest)) {
    try {
      const Model fitted = fit_rows(spec_of(model, D), set, curve.train_rows, session);
      curve.predicted = fitted.predict(test, "value", options, session.context());
      curve.features.push_back(D);
      curve.scores.push_back(prediction_score(curve.predicted, truth, set.K, scoring));
    } catch (const Failure&) {  // some maps want whole blocks, others a row for each feature
      if (curve.features.empty() && D == widest) throw;
    }
  }
  curve.predicted = by.means(std::move(curve.predicted));
  return curve;
}

Json residuals(const TrainingSet& set, const Curve& curve) {
  Json truth = Json::array(), predicted = Json::array();
  for (int64_t i = 0; i < std::min(curve.count, kMostShown); ++i) {
    const double y = set.data.Y[(curve.first + i) * set.data.m];
    if (std::isnan(y)) continue;
    truth.push_back(y);
    predicted.push_back(curve.predicted(i, 0));
  }
  return {{"truth", truth}, {"predicted", predicted}};
}

}  // namespace

Json report_document(const Model& model, const TrainingSet& set, double seconds) {
  const Dataset& data = set.data;
  return {{"version", version()},
          {"train", data.name},
          {"rows", data.n},
          {"inputs", names_of(set)},
          {"task", set.K > 0 ? "classification" : "regression"},
          {"targets", data.target_names},
          {"weights", data.weights_name.empty() ? Json() : Json(data.weights_name)},
          {"classes", set.metadata.classes},
          {"seconds", seconds},
          {"spec", parse_json(model.spec())},
          {"fit", parse_json(model.report())}};
}

void add_errors(const LearnRequest& request, const Model& model, TrainingSet* set, int64_t n,
                Session& session, Json* document) {
  int64_t first = 0;
  if (n >= kLeastDivided)
    first = hold_out(&set->data, n, kTestShare, {request.seed, request.ordered});
  (*document)["importance"] = importance(model, *set, session);
  if (n < kLeastDivided) return;
  const Curve curve = learning_curve(model, *set, n, first, session);
  (*document)["learning_curve"] = {{"train_rows", curve.train_rows},
                                   {"test_rows", curve.count},
                                   {"features", curve.features},
                                   {"score", curve.scores}};
  const Rows truth = targets_of(set->data, first, curve.count);
  (*document)["held_out"] =
      set->K > 0 ? Json{{"confusion", table_of(confusion(curve.predicted, truth, set->K))}}
                 : residuals(*set, curve);
}

void write_report(const std::string& path, const Json& document,
                  std::string (*page_of)(const Json&)) {
  OutputFile file(path);
  const std::string name = lower(path);
  const bool page = name.ends_with(".html") || name.ends_with(".htm");
  file.write(page ? page_of(document) : json_text(document, 1) + "\n");
  file.commit();
}

}  // namespace mercer::cli
