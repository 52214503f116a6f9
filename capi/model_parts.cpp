// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/model.h: what a fitted model holds.
#include <algorithm>
#include <string>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "mercer/model.h"
#include "model/model_derivative.h"
#include "model/predict.h"
#include "spec/report_spec.h"
#include "spec/spec.h"
#include "weights_result.h"

using namespace mercer;
using namespace mercer::capi;

namespace {
constexpr uint32_t kModelInfoFirstSize = 64;
constexpr size_t kLargestMetadata = size_t{1} << 20;
}  // namespace

mercer_status mercer_model_shape(const mercer_model* model, mercer_model_info* info) {
  return guard("mercer_model_shape", [&] {
    const model::Model& fitted = checked("model", model).impl;
    const solver::Weights* const linear = fitted.predictor->linear();
    const bool classification = fitted.fit.coding.task == model::Task::classification;
    const mercer_model_info known = {sizeof known,
                                     classification && !fitted.calibration.empty() ? 1 : 0,
                                     fitted.rows,
                                     fitted.inputs(),
                                     fitted.outputs(),
                                     fitted.map->features(),
                                     classification ? fitted.fit.coding.classes : 0,
                                     linear != nullptr ? 1 : 0,
                                     0,
                                     fitted.fit.select.lambda,
                                     linear != nullptr ? linear->table().rows : 0};
    write_defaults(&known, kModelInfoFirstSize, sizeof known, info, "info");
  });
}

mercer_status mercer_model_map(const mercer_model* model, mercer_map** out) {
  return guard_create("mercer_model_map", out,
                      [&] { return mercer_map{checked("model", model).impl.map}; });
}

mercer_status mercer_model_weights(const mercer_model* model, mercer_matrix w,
                                   mercer_matrix intercept) {
  return guard("mercer_model_weights", [&] {
    Context context;
    const solver::Weights& weights = model::linear_weights(checked("model", model).impl);
    WeightsResult(w, intercept, weights.table().rows, weights.outputs(), context).write(weights);
  });
}

mercer_status mercer_model_text(const mercer_model* model, const char* what, char* buffer,
                                int64_t capacity, int64_t* needed) {
  return guard("mercer_model_text", [&] {
    const model::Model& fitted = checked("model", model).impl;
    const std::string_view asked = check_text("what", what);
    if (asked == "spec") return copy_text(spec::to_spec(fitted), buffer, capacity, needed);
    if (asked == "report")
      return copy_text(spec::print_report(fitted.report, fitted.fit.coding.task), buffer, capacity,
                       needed);
    if (asked == "norms") {
      Context context;
      const Parameters found{{"norms", model::norms(fitted, context)}};
      return copy_text(print_object(found), buffer, capacity, needed);
    }
    if (asked == "preparation")
      return copy_text(spec::print_preparation(fitted), buffer, capacity, needed);
    if (asked == "numbers") return copy_text(spec::print_numbers(fitted), buffer, capacity, needed);
    require(asked == "metadata", MERCER_INVALID_ARGUMENT,
            "what = \"%s\", expected spec, report, preparation, numbers, norms or metadata", what);
    copy_text(fitted.metadata, buffer, capacity, needed);
  });
}

mercer_status mercer_model_set_metadata(mercer_model* model, const char* text) {
  return guard("mercer_model_set_metadata", [&] {
    std::string metadata(check_text("text", text));
    require(metadata.size() <= kLargestMetadata, MERCER_INVALID_ARGUMENT,
            "text holds %zu bytes, expected at most %zu", metadata.size(), kLargestMetadata);
    checked("model", model).impl.metadata = std::move(metadata);
  });
}

void mercer_model_free(mercer_model* model) { delete model; }
