// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/model.h: models fitted on a given map, prediction. What a model holds is in
// model_parts.cpp.
#include "model/model.h"

#include <algorithm>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "mercer/model.h"
#include "options.h"
#include "spec/spec.h"
#include "training_set.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

/// One more than the largest class number of a column.
int64_t count_classes(MatrixView<const double> Y) {
  double largest = 0;
  for (int64_t i = 0; i < Y.rows; ++i) largest = std::max(largest, Y(i, 0));
  require(largest >= 1 && largest < 1e6, MERCER_INVALID_ARGUMENT,
          "the largest class number in Y is %g, expected 1 to 999999", largest);
  return static_cast<int64_t>(largest) + 1;
}

constexpr mercer_predict_options kPredictDefaults = {
    sizeof(mercer_predict_options),
    MERCER_OUTPUT_SCORES,
    MERCER_EXTRAPOLATION_DEFAULT,
    0,  // reserved
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};
constexpr uint32_t kPredictFirstSize = 48;

/// The caller's options, and where he wants to know what was met.
class PredictOptions {
 public:
  PredictOptions(const mercer_predict_options* options, const model::Model& model,
                 const RowsArgument& X)
      : read_(read_options("options", options, kPredictDefaults, kPredictFirstSize)),
        known_(model.ranges.known()) {
    check_range("options->output", read_.output, MERCER_OUTPUT_SCORES, MERCER_OUTPUT_PROBABILITIES);
    check_range("options->reserved", read_.reserved, 0, 0);
    check_optional_place("options->rows_outside", read_.rows_outside);
    check_optional_place("options->values_outside", read_.values_outside);
    check_optional_place("options->predictions_limited", read_.predictions_limited);
    if (read_.inputs_outside == nullptr) return;
    const auto each = vector("options->inputs_outside", read_.inputs_outside, "d", model.inputs());
    check_apart(each.extent(), X);
    inputs_ = each.values();
  }
  bool probabilities() const { return read_.output == MERCER_OUTPUT_PROBABILITIES; }
  std::optional<model::Extrapolation> extrapolation() const {
    return read_extrapolation(read_.extrapolation);
  }
  void answer(const model::Outside& found) const {
    const auto told = [&](int64_t count) { return known_ ? count : -1; };
    write_answers(
        Answer{"options->rows_outside", read_.rows_outside, told(found.rows)},
        Answer{"options->values_outside", read_.values_outside, told(found.values)},
        Answer{"options->predictions_limited", read_.predictions_limited, told(found.predictions)});
    for (size_t j = 0; j < inputs_.size(); ++j)
      inputs_[j] = told(found.inputs.empty() ? 0 : found.inputs[j]);
  }

 private:
  mercer_predict_options read_;
  std::span<int64_t> inputs_;
  bool known_;
};

}  // namespace

mercer_status mercer_model_fit(const mercer_map* map, const mercer_fit_options* options,
                               const mercer_rows* X, const mercer_rows* Y, int64_t K,
                               mercer_context* context, mercer_model** out) {
  return guard_create_long("mercer_model_fit", context, out, [&](Context& running) {
    const auto& phi = checked("map", map).impl;
    model::Fitting fit = read_fit_options(options);
    const TrainingSet set(X, Y, running);
    fit.coding = read_coding(K, set.Y.d());
    return mercer_model{
        model::fit(phi, fit, set.X, set.y.view(), running, asked_weights(options, set.X.n()))};
  });
}

mercer_status mercer_model_fit_spec(const char* json, const mercer_rows* X, const mercer_rows* Y,
                                    mercer_context* context, mercer_model** out) {
  return guard_create_long("mercer_model_fit_spec", context, out, [&](Context& running) {
    spec::ModelPlan plan = spec::model_plan_from_spec(check_text("json", json));
    const TrainingSet set(X, Y, running);
    if (plan.fit.coding.task == model::Task::classification)
      plan.fit.coding = read_coding(count_classes(set.y.view()), set.Y.d());
    return mercer_model{spec::fit(plan, set.X, set.y.view(), running)};
  });
}

mercer_status mercer_model_predict(const mercer_model* model, const mercer_rows* X,
                                   const mercer_predict_options* options, mercer_context* context,
                                   const mercer_matrix* scores) {
  return guard_long("mercer_model_predict", context, [&](Context& running) {
    const model::Model& fitted = checked("model", model).impl;
    const auto rows = read_rows("X", X, fitted.inputs(), "the model's inputs", running);
    const Result result("scores", scores, rows.n(), fitted.outputs(), running);
    result.check_apart(rows);
    const PredictOptions wanted(options, fitted, rows);
    if (wanted.probabilities()) model::require_probabilities(fitted);
    model::Outside outside;
    if (rows.n() > 0)
      outside = model::predict(fitted, rows, running, result.view(), wanted.extrapolation());
    if (wanted.probabilities()) fitted.calibration.apply(result.view());
    result.finish();
    wanted.answer(outside);
  });
}

mercer_status mercer_model_classify(const mercer_model* model, const mercer_rows* X,
                                    const mercer_predict_options* options, mercer_context* context,
                                    int32_t* labels) {
  return guard_long("mercer_model_classify", context, [&](Context& running) {
    const model::Model& fitted = checked("model", model).impl;
    require(fitted.fit.coding.task == model::Task::classification, MERCER_UNSUPPORTED,
            "the model is a regression, expected a classification; see mercer_model_predict");
    const auto rows = read_rows("X", X, fitted.inputs(), "the model's inputs", running);
    const auto result = vector("labels", labels, "n", rows.n());
    check_apart(result.extent(), rows);
    const PredictOptions wanted(options, fitted, rows);
    require(!wanted.probabilities(), MERCER_INVALID_ARGUMENT,
            "options->output = %d (PROBABILITIES), expected SCORES: classes are those of scores",
            MERCER_OUTPUT_PROBABILITIES);
    model::Outside outside;
    if (rows.n() > 0)
      outside = model::classify(fitted, rows, running, result.values(), wanted.extrapolation());
    wanted.answer(outside);
  });
}
