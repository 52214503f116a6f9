// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/model.h: every fit, and prediction. What a model holds is in model_parts.cpp.
#include "model/model.h"

#include <optional>
#include <utility>

#include "arguments.h"
#include "fit_data.h"
#include "guard.h"
#include "handles.h"
#include "mercer/model.h"
#include "predictions.h"
#include "row_source.h"
#include "spec/report_spec.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr uint32_t kPredictFirstSize = offsetof(mercer_predict_options, columns);

/// mercer_extrapolation; none for the default.
std::optional<model::Extrapolation> read_extrapolation(int32_t extrapolation) {
  check_range("options->extrapolation", extrapolation, MERCER_EXTRAPOLATION_DEFAULT,
              static_cast<int32_t>(std::size(model::kExtrapolations)));
  if (extrapolation == MERCER_EXTRAPOLATION_DEFAULT) return {};
  return static_cast<model::Extrapolation>(extrapolation - 1);
}

mercer_predict_options read_predict_options(const mercer_predict_options* options,
                                            const char* what) {
  const auto read = read_options("options", options, mercer_predict_options{}, kPredictFirstSize);
  check_optional_place("options->rows_outside", read.rows_outside);
  check_optional_place("options->values_outside", read.values_outside);
  check_optional_place("options->predictions_limited", read.predictions_limited);
  check_optional_place("options->columns", read.columns);
  const auto only = [&](bool absent, const char* fields, const char* word) {
    require(absent || (what != nullptr && std::string_view(what) == word), MERCER_INVALID_ARGUMENT,
            "options->%s, expected NULL and 0 but for what = \"%s\"", fields, word);
  };
  only(read.partial_count == 0 && read.partials == nullptr, "partials or partial_count",
       "partials");
  only(read.quantile_count == 0 && read.quantiles == nullptr, "quantiles or quantile_count",
       "quantile");
  only(read.sample_count == 0 && read.seed == 0, "sample_count or seed", "sample");
  return read;
}

/// The caller's place for counts of inputs outside their ranges.
class OutsideReport {
 public:
  OutsideReport(const mercer_predict_options& options, const model::Model& model,
                const RowsArgument& X)
      : options_(options), known_(model.ranges.known()) {
    if (options.inputs_outside == nullptr) return;
    const auto each =
        vector("options->inputs_outside", options.inputs_outside, "d", model.inputs());
    check_apart(each.extent(), X);
    inputs_ = each.values();
  }
  void answer(const model::RangeViolations& found) const {
    const auto told = [&](int64_t count) { return known_ ? count : -1; };
    write_answers(Answer{"options->rows_outside", options_.rows_outside, told(found.rows)},
                  Answer{"options->values_outside", options_.values_outside, told(found.values)},
                  Answer{"options->predictions_limited", options_.predictions_limited,
                         told(found.predictions)});
    for (size_t j = 0; j < inputs_.size(); ++j)
      inputs_[j] = told(found.inputs.empty() ? 0 : found.inputs[j]);
  }

 private:
  const mercer_predict_options& options_;
  std::span<int64_t> inputs_;
  bool known_;
};

}  // namespace

mercer_status mercer_model_fit(const char* json, const mercer_data* data, mercer_context* context,
                               mercer_model** out) {
  return guard_create_long("mercer_model_fit", context, out, [&](Context& running) {
    const mercer_data read = read_data(data);
    if (read.source != nullptr) return mercer_model{fit_source(json, read, running)};
    const model::FitPlan plan = plan_of(json, running);
    const model::GivenMap map = map_of(read);
    if (read.sets != nullptr) {
      const ObservationSets sets(read, map != nullptr ? map->inputs() : 0, running);
      return mercer_model{model::fit(plan, {.map = map, .sets = sets.sets()}, running)};
    }
    const TrainingSet set(read, has_targets(plan), running);
    return mercer_model{
        model::fit(plan,
                   {.map = map,
                    .rows = {set.X.rows, set.y.view(), set.weights, set.groups.values},
                    .given = given_of(read, set.Y.d(), running)},
                   running)};
  });
}

mercer_status mercer_model_update(const mercer_model* model, const char* json,
                                  const mercer_data* data, mercer_context* context,
                                  mercer_model** out) {
  return guard_create_long("mercer_model_update", context, out, [&](Context& running) {
    const model::Model& fitted = checked("model", model).impl;
    const model::UpdateOptions options = spec::update_options(check_text("json", json));
    const mercer_data read = read_data(data);
    require(is_given(read.X), MERCER_UNSUPPORTED,
            "data->source or data->sets of an update, expected rows in memory, block by block");
    require(read.map == nullptr && read.w == nullptr, MERCER_UNSUPPORTED,
            "data->map or data->w of an update, expected NULL: they are the model's");
    const TrainingSet set(read, true, running);
    return mercer_model{model::update(
        fitted, options, {set.X.rows, set.y.view(), set.weights, set.groups.values}, running)};
  });
}

mercer_status mercer_model_predict(const mercer_model* model, mercer_rows X, const char* what,
                                   const mercer_predict_options* options, mercer_context* context,
                                   mercer_matrix out) {
  return guard_long("mercer_model_predict", context, [&](Context& running) {
    const model::Model& fitted = checked("model", model).impl;
    const Prediction& asked = prediction_of(what, fitted);
    const auto read = read_predict_options(options, what);
    const auto rows = read_rows("X", X, fitted.inputs(), "the model's inputs", running);
    const Question question{fitted, read, read_extrapolation(read.extrapolation), running,
                            rows.n()};
    const int64_t columns = asked.columns(question);
    write_answers(Answer{"options->columns", read.columns, columns});
    if (read.columns != nullptr && !is_given(out)) return;
    const Result result("out", out, rows.n(), columns, running, asked.integers);
    result.check_apart(rows);
    const OutsideReport met(read, fitted, rows);
    model::RangeViolations outside;
    if (rows.n() > 0) outside = asked.answer(question, rows, result.view());
    result.finish();
    met.answer(outside);
  });
}
