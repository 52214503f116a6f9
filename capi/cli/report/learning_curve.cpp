// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "report/learning_curve.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "table_rows.h"

namespace mercer::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostRows = 10000;
constexpr int64_t kLeastRows = 10;
constexpr int64_t kLeastFeatures = 32;
constexpr size_t kMostPoints = 6;

// D and its halves, ascending. Some maps want whole blocks: what they refuse is left out later.
std::vector<int64_t> widths_of(int64_t D) {
  std::vector<int64_t> widths{D};
  while (widths.size() < kMostPoints && widths.back() / 2 >= kLeastFeatures &&
         widths.back() % 2 == 0)
    widths.push_back(widths.back() / 2);
  std::reverse(widths.begin(), widths.end());
  return widths;
}

std::string spec_with(const std::string& spec, int64_t features) {
  Json json = Json::parse(spec);
  json["features"] = features;
  return json.dump();
}

}  // namespace

LearningCurve learning_curve(const Model& model, const TrainingSet& set,
                             const mercer_fit_options& options, Session& session) {
  LearningCurve curve;
  const Dataset& data = set.data;
  const std::string spec = model.map().spec();
  curve.test_rows = std::min(kMostRows, data.n / 5);
  curve.train_rows = std::min(kMostRows, data.n - curve.test_rows);
  curve.first_test_row = data.n - curve.test_rows;
  if (data.n < kLeastRows || Json::parse(spec).contains("needs")) return curve;
  const Rows X = rows_of(data.X, 0, curve.train_rows, data.d);
  const Rows Y = targets_of(data.Y, 0, curve.train_rows, data.m);
  const Rows test = rows_of(data.X, curve.first_test_row, curve.test_rows, data.d);
  const Rows truth = targets_of(data.Y, curve.first_test_row, curve.test_rows, data.m);
  for (const int64_t D : widths_of(model.map().features())) {
    try {
      const Map map = Map::from_spec(spec_with(spec, D));
      const Model fitted = Model::fit(map, X, Y, set.K, options, session.context());
      curve.predicted = fitted.predict(test, session.context());
      curve.points.push_back({D, prediction_score(curve.predicted, truth, set.K)});
    } catch (const Error& error) {
      if (error.status() != MERCER_INVALID_ARGUMENT || D == model.map().features()) throw;
    }
  }
  return curve;
}

}  // namespace mercer::cli
