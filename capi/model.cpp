// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/model.h: the door to every fit, and prediction. What a model holds is in
// model_parts.cpp.
#include "model/model.h"

#include <optional>
#include <utility>

#include "arguments.h"
#include "fit_data.h"
#include "guard.h"
#include "handles.h"
#include "mercer/model.h"
#include "row_source.h"
#include "spec/fit_plan.h"
#include "spec/report_spec.h"
#include "spec/words.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

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

/// mercer_extrapolation; none for the default.
std::optional<model::Extrapolation> read_extrapolation(int32_t extrapolation) {
  check_range("options->extrapolation", extrapolation, MERCER_EXTRAPOLATION_DEFAULT,
              spec::kExtrapolation.count());
  if (extrapolation == MERCER_EXTRAPOLATION_DEFAULT) return {};
  return static_cast<model::Extrapolation>(extrapolation - 1);
}

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

void tell_trial(void* context, const model::SearchCandidate& trial) {
  const Context& running = *static_cast<const Context*>(context);
  running.trial(running.user, spec::print_trial(trial).c_str());
}

/// Values and derivatives: the map sees X as it is given.
model::Model fit_sets(const spec::FitPlan& plan, const spec::GivenMap& map, const mercer_data& data,
                      Context& context) {
  const model::HermiteOptions options = spec::hermite_options(plan);
  require(map != nullptr, MERCER_INVALID_ARGUMENT,
          "data->map = NULL, expected the map of the sets");
  return model::fit_hermite(map, ObservationSets(data, map->inputs(), context).sets(), options,
                            context);
}

}  // namespace

mercer_status mercer_model_fit(const char* json, const mercer_data* data, mercer_context* context,
                               mercer_model** out) {
  return guard_create_long("mercer_model_fit", context, out, [&](Context& running) {
    const mercer_data read = read_data(data);
    if (read.source != nullptr) return mercer_model{fit_source(json, read, running)};
    spec::FitPlan plan = spec::fit_plan(check_text("json", json));
    const spec::GivenMap map = map_of(read);
    if (read.sets != nullptr) return mercer_model{fit_sets(plan, map, read, running)};
    const TrainingSet set(read, running);
    const MatrixView<const double> targets = set.y.view();
    spec::set_classes(plan, targets.cols, &targets);
    if (running.trial != nullptr) {
      plan.search.report = tell_trial;
      plan.search.user = &running;
    }
    return mercer_model{spec::fit(std::move(plan), map, set.X, targets, set.weights, running)};
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
