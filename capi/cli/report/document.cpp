// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "report/document.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "failure.h"
#include "json.h"
#include "message.h"
#include "output_file.h"
#include "relevance_measure.h"
#include "split.h"

namespace mercer::cli {

namespace {

constexpr int64_t kMostShown = 2000;

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

// Names of the header, those of levels of text included, else x1, x2, ...
Json names_of(const TrainingSet& set) {
  const std::vector<std::string> known = input_names(set.metadata);
  Json names = Json::array();
  for (int64_t j = 0; j < set.data.d; ++j) {
    const auto k = static_cast<size_t>(j);
    names.push_back(k < known.size() ? known[k] : std::string("x").append(std::to_string(j + 1)));
  }
  return names;
}

Json curve_json(const LearningCurve& curve) {
  Json features = Json::array(), scores = Json::array();
  for (const CurvePoint& point : curve.points) {
    features.push_back(point.features);
    scores.push_back(number_or_null(point.score));
  }
  return {{"train_rows", curve.train_rows},
          {"test_rows", curve.test_rows},
          {"features", features},
          {"score", scores}};
}

/// Null where rows weigh 1 each.
Json weights_json(const Dataset& data) {
  if (data.weights.empty()) return nullptr;
  const auto used = std::ranges::count_if(data.weights, [](double w) { return w > 0; });
  return {{"rows", used},
          {"sum", std::accumulate(data.weights.begin(), data.weights.end(), 0.0)},
          {"largest", *std::ranges::max_element(data.weights)}};
}

/// A row of weight 0 is left out of what is shown; other weights are not numbers of rows.
bool counts(const TrainingSet& set, const LearningCurve& curve, size_t i) {
  const auto row = static_cast<size_t>(curve.first_test_row) + i;
  return set.data.weights.empty() || set.data.weights[row] > 0;
}

Json residuals(const TrainingSet& set, const LearningCurve& curve) {
  Json truth = Json::array(), predicted = Json::array();
  for (int64_t i = 0; i < std::min(curve.predicted.rows(), kMostShown); ++i) {
    const double y = set.data.Y[static_cast<size_t>((curve.first_test_row + i) * set.data.m)];
    if (std::isnan(y) || !counts(set, curve, static_cast<size_t>(i))) continue;
    truth.push_back(y);
    predicted.push_back(number_or_null(curve.predicted(i, 0)));
  }
  return {{"truth", truth}, {"predicted", predicted}};
}

Json confusion(const TrainingSet& set, const LearningCurve& curve) {
  const auto K = static_cast<size_t>(set.K);
  std::vector<std::vector<int64_t>> table(K, std::vector<int64_t>(K));
  const std::vector<int32_t> classes = classes_of(curve.predicted);
  for (size_t i = 0; i < classes.size(); ++i) {
    const double truth = set.data.Y[static_cast<size_t>(curve.first_test_row) + i];
    table[static_cast<size_t>(truth)][static_cast<size_t>(classes[i])] += counts(set, curve, i);
  }
  return {{"confusion", table}};
}

// Rows by the probability of the class that they are given, in ten bins of equally many.
Json calibration(const TrainingSet& set, const LearningCurve& curve) {
  constexpr size_t kBins = 10;
  std::vector<std::pair<double, bool>> rows;
  const std::vector<int32_t> classes = classes_of(curve.probabilities);
  for (size_t i = 0; i < classes.size(); ++i) {
    const double truth = set.data.Y[static_cast<size_t>(curve.first_test_row) + i];
    if (!counts(set, curve, i)) continue;
    rows.emplace_back(curve.probabilities(static_cast<int64_t>(i), classes[i]),
                      truth == classes[i]);
  }
  std::sort(rows.begin(), rows.end());
  Json bins = Json::array();
  for (size_t bin = 0; bin < kBins; ++bin) {
    const size_t begin = bin * rows.size() / kBins, end = (bin + 1) * rows.size() / kBins;
    if (begin == end) continue;
    double probability = 0, right = 0;
    for (size_t i = begin; i < end; ++i) {
      probability += rows[i].first;
      right += rows[i].second;
    }
    const auto count = static_cast<double>(end - begin);
    bins.push_back(
        {{"probability", probability / count}, {"share", right / count}, {"rows", end - begin}});
  }
  return bins;
}

/// On at most 2,000 rows; null where predictions have no derivatives.
Json importance(const Model& model, const TrainingSet& set, Session& session) {
  Dataset rows = set.data;
  std::vector<int64_t> order(static_cast<size_t>(std::min(rows.n, kMostShown)));
  std::iota(order.begin(), order.end(), int64_t{0});
  arrange_rows(&rows, order);
  try {
    const Relevance found = relevance_of(model, set.metadata, rows, session);
    return {{"inputs", found.names}, {"relevance", found.values}};
  } catch (const Failure&) {
  } catch (const Error& error) {
    if (error.status() != MERCER_UNSUPPORTED) throw;
  }
  return nullptr;
}

}  // namespace

Json report_document(const Model& model, const TrainingSet& set, const LearningCurve* curve,
                     double seconds, Session& session) {
  const Dataset& data = set.data;
  Json document = {{"version", version()},
                   {"train", data.name},
                   {"rows", data.n},
                   {"inputs", names_of(set)},
                   {"task", set.K > 0 ? "classification" : "regression"},
                   {"targets", data.target_names},
                   {"weights", weights_json(data)},
                   {"classes", set.metadata.classes},
                   {"seconds", seconds},
                   {"spec", parse_json(model.spec())},
                   {"fit", parse_json(model.report())}};
  if (curve == nullptr) return document;
  document["importance"] = importance(model, set, session);
  if (curve->points.empty()) return document;
  document["learning_curve"] = curve_json(*curve);
  document["held_out"] = set.K > 0 ? confusion(set, *curve) : residuals(set, *curve);
  if (curve->probabilities.rows() > 0)
    document["held_out"]["calibration"] = calibration(set, *curve);
  document["held_out"]["outside"] = curve->outside;
  return document;
}

void write_report(const std::string& path, const Json& document) {
  OutputFile file(path);
  file.write(path.ends_with(".html") ? report_page(document) : json_text(document, 1) + "\n");
  file.commit();
}

void after_model(const std::string& model, const std::function<void()>& report) {
  std::string fault;
  try {
    return report();
  } catch (const Error& error) {
    fault = message_of(error);
  } catch (const std::bad_alloc&) {
    fault = "out of memory";
  } catch (const std::exception& error) {
    fault = error.what();
  }
  throw Failure("--report: " + fault + " (the model is written: " + model + ")");
}

}  // namespace mercer::cli
