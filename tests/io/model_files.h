// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Models made by hand, and files of them with one section changed.
#pragma once
#include "io/corrupt_file.h"
#include "io/object_file.h"
#include "model/estimator/model_entry.h"
#include "spec/spec.h"
#include "support/catch.h"
#include "support/forge.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace mercer::test {

inline constexpr int64_t kInputs = 3, kFeatures = 8;

/// Made by hand: numbers of every size, every option away from its default.
inline model::Model small_model(int64_t outputs) {
  model::Model model;
  model.map = spec::map_from_spec(
      R"({"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":0.3},"inputs":3,"features":8,"seed":"9007199254740993"})");
  model.preparation = {{0.1, -1e300, 1.0 / 3}, {5e-324, 7, 1e300}};
  solver::Weights weights{Matrix<double>(kFeatures, outputs), {}};
  for (int64_t i = 0; i < kFeatures * outputs; ++i) {
    weights.w.data()[i] =
        std::sin(static_cast<double>(i)) * std::pow(10.0, static_cast<double>(i % 7 - 3));
  }
  weights.intercept.assign(outputs, -0.0);
  model.predictor = model::make_linear(std::move(weights));
  model.fit.estimate.precision = feature::Precision::f64;
  model.fit.select.selection = model::Selection::kfold;
  model.fit.estimate.center = false;
  model.fit.select.lambda = 0.1 + 0.2;
  model.fit.select.lambda_largest = 2;
  model.fit.select.lambda_smallest = 1e-17;
  model.fit.select.lambda_count = 5;
  model.fit.select.folds = 7;
  model.fit.select.held_out_fraction = 0.25;
  model.fit.select.seed = ~uint64_t{0};
  model.fit.select.ordered = true;
  model.rows = 12345;
  model.path = {{0.1, 3.5}, {0.01, std::numeric_limits<double>::infinity()}};
  model.metadata = "{\"columns\":[\"\xc3\xa9t\xc3\xa9\",\"b\"]}\n";
  return model;
}

/// The same with ranges, of two targets.
inline model::Model guarded_model() {
  model::Model model = small_model(2);
  model.fit.prepare.extrapolation = model::Extrapolation::refuse;
  model.ranges.inputs = {{-1, -0.5, 0.5, 1}, {-1e-300, 0, 0.1, 1e300}, {7, 7, 7, 7}};
  model.ranges.targets = {{0, 0.1, 0.2, 0.3}, {0.2, 0.2, 0.3, 0.3}};
  return model;
}

/// Two inputs, of which the second has a flag; curves of it and of both targets.
inline model::Model prepared_model(model::Transform kind) {
  model::Model model = guarded_model();
  model.ranges.inputs.pop_back();
  model.fit.prepare.scale = model::Scale::robust;
  model.fit.prepare.missing = model::Missing::flag;
  model.fit.prepare.transform = model.fit.prepare.target_transform = kind;
  model.fit.prepare.unit_rows = true;
  model.preparation = {{0.1, -0.2, 0}, {1.5, 0.5, 1}};
  model.preparation.fill = {1.0 / 3, -7};
  model.preparation.flagged = {1};
  model.preparation.row_norm = 1;
  if (kind == model::Transform::none) return model;
  model::Curve curve{kind, {0.25}};
  if (kind == model::Transform::rank) {
    curve.knots.clear();
    for (size_t k = 0; k < model::kRankKnots; ++k)
      curve.knots.push_back(std::sqrt(static_cast<double>(k / 3)));
  }
  model.preparation.curves = {{}, curve};
  model.preparation.targets = {curve, curve};
  return model;
}

inline std::shared_ptr<const model::Predictor> constant_weights(int64_t features, int64_t outputs,
                                                                double value, size_t intercepts) {
  solver::Weights weights{Matrix<double>(features, outputs), std::vector<double>(intercepts, 1.0)};
  weights.w.fill(value);
  return model::make_linear(std::move(weights));
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

inline std::vector<double> predictions(const model::Model& model) {
  std::vector<double> X(60), scores(20 * model.outputs());
  for (size_t i = 0; i < X.size(); ++i) X[i] = 0.1 * static_cast<double>(i * i % 17) - 0.8;
  Context context;
  model::predict(model, MatrixView<const double>(X.data(), 20, kInputs), context,
                 {scores.data(), 20, model.outputs()});
  return scores;
}

inline std::string options_fault(const model::FitOptions& a, const model::FitOptions& b) {
  if (a.coding.task != b.coding.task || a.coding.classes != b.coding.classes) return "task";
  if (a.prepare.standardize != b.prepare.standardize || a.estimate.center != b.estimate.center ||
      a.estimate.precision != b.estimate.precision)
    return "flags";
  if (a.select.selection != b.select.selection || a.select.folds != b.select.folds ||
      a.select.seed != b.select.seed || a.select.ordered != b.select.ordered)
    return "selection";
  if (a.select.lambda != b.select.lambda || a.select.lambda_largest != b.select.lambda_largest ||
      a.select.lambda_smallest != b.select.lambda_smallest)
    return "lambda";
  return a.select.lambda_count == b.select.lambda_count &&
                 a.select.held_out_fraction == b.select.held_out_fraction
             ? ""
             : "path";
}

/// "" if after `change` to one section loading and describing refuse alike, naming path and `part`.
template <class Change>
inline std::string corrupt(const model::Model& model, const char* section, Change change,
                           const char* part) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("model");
  io::save(model, path);
  forge_section(path, section, change);
  return corruption_fault(
      path, [](const std::string& name) { io::load_model(name); }, part);
}

inline auto substitute(const std::string& from, const std::string& to) {
  return [=](const std::string& text) { return replaced(text, from, to); };
}

inline std::string as_bytes(double value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace mercer::test
