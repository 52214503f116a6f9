// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "report/document.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "failure.h"
#include "output_file.h"
#include "relevance.h"
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
constexpr int64_t kMostSteps = 4;  // of rows, each half of the next
constexpr int64_t kMostDependences = 4;
constexpr int64_t kMostRocs = 6;  // of classes
constexpr double kIntervalShare = 0.9;

// Names of the header, those of levels of text included, else x1, x2, ...
Json names_of(const TrainingSet& set) {
  const std::vector<std::string> known = input_names(set.metadata);
  Json names = Json::array();
  for (int64_t j = 0; j < set.data.d; ++j)
    names.push_back(name_or_number(known, static_cast<size_t>(j), "x"));
  return names;
}

/// The mean response over the values of an input.
Json dependence(const Model& model, const TrainingSet& set, const std::string& name, int64_t input,
                Session& session) {
  const Dependence found = dependence_of(model, set.metadata, set.data, input, session);
  Json one = {{"input", name}, {"means", table_of(found.means)}};
  if (found.levels.empty()) {
    one["values"] = found.numbers;
  } else {
    one["values"] = found.levels;
  }
  return one;
}

/// On at most 2,000 rows; null where it cannot be measured. With the dependence on the first ones.
Json importance(const Model& model, const TrainingSet& set, Session& session) {
  Dataset rows = set.data;
  std::vector<int64_t> order(std::min(rows.n, kMostShown));
  std::iota(order.begin(), order.end(), int64_t{0});
  arrange_rows(&rows, order);
  try {
    const Relevance found = relevance_of(model, set.metadata, rows, session);
    Json dependences = Json::array();
    for (int64_t k = 0; k < std::min(kMostDependences, std::ssize(found.names)); ++k)
      dependences.push_back(dependence(model, set, found.names[k], found.inputs[k], session));
    return {{"inputs", found.names}, {"relevance", found.values}, {"dependence", dependences}};
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

/// What a fit of the same with D features reads, if n rows were fitted: lambda is chosen anew.
Json spec_of(const Model& model, int64_t D, int64_t n) {
  Json spec = parse_json(model.spec());
  const bool of_all_rows = D == n && spec["map"].contains("needs");  // then D is not for a spec
  for (const char* key : {"mercer", "needs", "lambda"}) spec.erase(key);
  for (const char* key : {"needs", "rank", "inputs", "features"}) spec["map"].erase(key);
  if (!of_all_rows) spec["map"]["features"] = D;
  return spec;
}

/// Scores of rows [first, first + count) by fits on rows before, and the errors of the widest.
struct Curve {
  int64_t first, count, train_rows;
  Json features = Json::array(), scores = Json::array(), errors = Json::array();
  Json rows = Json::array(), row_scores = Json::array(), row_errors = Json::array();
  std::optional<Model> widest = {};
  Matrix<double> predicted{0, 0};  // by the widest, the last
};

/// The standard error of a score of squares or classes; null of another loss.
Json error_of(const Matrix<double>& predicted, const Scoring& by, const TrainingSet& set,
              const Curve& curve) {
  if (by.loss != nullptr || curve.count < 2) return nullptr;
  Dataset test = set.data;
  std::vector<int64_t> order(curve.count);
  std::iota(order.begin(), order.end(), curve.first);
  arrange_rows(&test, order);
  return mean_of(row_losses(predicted, test, set.K), test.weights).standard_error;
}

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
      curve.widest = fit_rows(spec_of(model, D, n), set, curve.train_rows, session);
      curve.predicted = curve.widest->predict(test, "value", options, session.context());
      curve.features.push_back(D);
      curve.scores.push_back(prediction_score(curve.predicted, truth, set.K, scoring));
      curve.errors.push_back(error_of(curve.predicted, by, set, curve));
    } catch (const Failure&) {  // some maps want whole blocks, others a row for each feature
      if (curve.features.empty() && D == widest) throw;
    }
  }
  for (int64_t step = kMostSteps; step-- > 1;) {
    const int64_t rows = curve.train_rows >> step;
    if (rows < kLeastDivided) continue;
    try {
      const Model fitted = fit_rows(spec_of(model, widest, n), set, rows, session);
      const Matrix<double> predicted = fitted.predict(test, "value", options, session.context());
      curve.row_scores.push_back(prediction_score(predicted, truth, set.K, scoring));
      curve.row_errors.push_back(error_of(predicted, by, set, curve));
      curve.rows.push_back(rows);
    } catch (const Failure&) {  // of so few rows a class may be missing
    }
  }
  if (!curve.scores.empty()) {
    curve.rows.push_back(curve.train_rows);
    curve.row_scores.push_back(curve.scores.back());
    curve.row_errors.push_back(curve.errors.back());
  }
  curve.predicted = by.means(std::move(curve.predicted));
  return curve;
}

/// The share of each other class's rows and of its own above thresholds of its probability, at most
/// some 200 of them.
Json roc_of(const std::vector<std::pair<double, bool>>& descending) {
  constexpr size_t kPoints = 200;
  double own = 0, others = 0;
  for (const auto& [probability, is_own] : descending) (is_own ? own : others) += 1;
  if (own == 0 || others == 0) return nullptr;
  Json x = Json::array({0.0}), y = Json::array({0.0});
  double found = 0, wrong = 0, area = 0, last_x = 0, last_y = 0;
  const size_t step = std::max<size_t>(1, descending.size() / kPoints);
  for (size_t i = 0, kept = 0; i < descending.size(); ++i) {
    (descending[i].second ? found : wrong) += 1;
    if (i + 1 < descending.size() && descending[i + 1].first == descending[i].first) continue;
    area += (wrong / others - last_x) * (found / own + last_y) / 2;
    last_x = wrong / others, last_y = found / own;
    if (i + 1 < kept + step && i + 1 < descending.size()) continue;
    kept = i + 1;
    x.push_back(last_x);
    y.push_back(last_y);
  }
  return {{"false", x}, {"true", y}, {"area", area}};
}

/// Of each class against the others, of two classes the second; and how often the predicted class
/// is right, by its probability.
void add_probabilities(const TrainingSet& set, const Curve& curve, const Matrix<double>& p,
                       Json* held_out) {
  const auto truth = [&](int64_t i) { return set.data.Y[(curve.first + i) * set.data.m]; };
  Json roc = Json::array();
  for (int64_t k = set.K == 2 ? 1 : 0; k < std::min(set.K, kMostRocs); ++k) {
    std::vector<std::pair<double, bool>> descending;
    for (int64_t i = 0; i < p.rows(); ++i)
      descending.emplace_back(p(i, k), truth(i) == static_cast<double>(k));
    std::ranges::sort(descending, std::greater<>());
    Json one = roc_of(descending);
    if (one.is_null()) continue;
    one["class"] = k;
    roc.push_back(std::move(one));
  }
  constexpr int64_t kBins = 10;
  std::vector<double> sure(kBins), right(kBins), rows(kBins);
  for (int64_t i = 0; i < p.rows(); ++i) {
    int64_t best = 0;
    for (int64_t k = 1; k < set.K; ++k) best = p(i, k) > p(i, best) ? k : best;
    if (std::isnan(p(i, best))) continue;
    const int64_t bin = std::min(kBins - 1, static_cast<int64_t>(p(i, best) * kBins));
    sure[bin] += p(i, best);
    right[bin] += truth(i) == static_cast<double>(best) ? 1 : 0;
    rows[bin] += 1;
  }
  Json bins = Json::array();
  for (int64_t b = 0; b < kBins; ++b)
    if (rows[b] > 0)
      bins.push_back(
          {{"rows", rows[b]}, {"probability", sure[b] / rows[b]}, {"right", right[b] / rows[b]}});
  (*held_out)["roc"] = roc;
  (*held_out)["reliability"] = bins;
}

/// Two ends for each target; no rows of a model that is no process.
Matrix<double> intervals(const TrainingSet& set, const Curve& curve, int64_t rows,
                         Session& session) {
  const double levels[] = {(1 - kIntervalShare) / 2, (1 + kIntervalShare) / 2};
  mercer_predict_options options = predict_options();
  options.extrapolation = MERCER_EXTRAPOLATION_CLIP;
  options.quantiles = levels;
  options.quantile_count = 2;
  Matrix<double> ends(rows, 2 * set.data.m);
  try {
    curve.widest->predict(inputs_of(set.data, curve.first, rows), "quantile", ends, options,
                          session.context());
  } catch (const Error& error) {
    if (error.status() != MERCER_UNSUPPORTED) throw;
    return Matrix<double>(0, 0);
  }
  return ends;
}

/// Of a process with the ends of its intervals.
Json residuals(const TrainingSet& set, const Curve& curve, Session& session) {
  const int64_t rows = std::min(curve.count, kMostShown);
  const Matrix<double> ends = intervals(set, curve, rows, session);
  const bool process = ends.rows() > 0;
  Json truth = Json::array(), predicted = Json::array(), low = Json::array(), high = Json::array();
  for (int64_t i = 0; i < rows; ++i) {
    const double y = set.data.Y[(curve.first + i) * set.data.m];
    if (std::isnan(y)) continue;
    truth.push_back(y);
    predicted.push_back(curve.predicted(i, 0));
    if (!process) continue;
    low.push_back(ends(i, 0));
    high.push_back(ends(i, 1));
  }
  Json found = {{"truth", truth}, {"predicted", predicted}};
  if (process) found.update({{"low", low}, {"high", high}});
  return found;
}

Json errors_of_classes(const TrainingSet& set, const Curve& curve, Session& session) {
  const Rows truth = targets_of(set.data, curve.first, curve.count);
  Json found = {{"confusion", table_of(confusion(curve.predicted, truth, set.K))}};
  if (!curve.widest->has_probabilities()) return found;
  mercer_predict_options options = predict_options();
  options.extrapolation = MERCER_EXTRAPOLATION_CLIP;
  const Rows X = inputs_of(set.data, curve.first, curve.count);
  add_probabilities(set, curve, curve.widest->predict(X, "probability", options, session.context()),
                    &found);
  return found;
}

}  // namespace

Json report_document(const Model& model, const TrainingSet& set, double seconds) {
  const Dataset& data = set.data;
  return {{"version", version()},
          {"train", data.name},
          {"rows", data.n},
          {"inputs", names_of(set)},
          {"file_inputs", file_inputs(set.metadata, data.d)},
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
  (*document)["learning_curve"] = {
      {"train_rows", curve.train_rows}, {"test_rows", curve.count},
      {"features", curve.features},     {"score", curve.scores},
      {"standard_error", curve.errors}, {"rows", curve.rows},
      {"rows_score", curve.row_scores}, {"rows_standard_error", curve.row_errors}};
  (*document)["held_out"] =
      set->K > 0 ? errors_of_classes(*set, curve, session) : residuals(*set, curve, session);
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
