// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/model.h: what a fitted model holds.
#include <algorithm>
#include <string>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "mercer/model.h"
#include "spec/report_spec.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::capi;

namespace {
constexpr size_t kLargestMetadata = size_t{1} << 20;
}  // namespace

mercer_status mercer_model_shape(const mercer_model* model, int64_t* d, int64_t* outputs,
                                 int64_t* K, double* lambda) {
  return guard("mercer_model_shape", [&] {
    const model::Model& fitted = checked("model", model).impl;
    const bool classification = fitted.fit.coding.task == model::Task::classification;
    write_answers(Answer{"d", d, fitted.inputs()}, Answer{"outputs", outputs, fitted.outputs()},
                  Answer{"K", K, classification ? fitted.fit.coding.classes : 0},
                  Answer{"lambda", lambda, fitted.fit.select.lambda});
  });
}

mercer_status mercer_model_map(const mercer_model* model, mercer_map** out) {
  return guard_create("mercer_model_map", out,
                      [&] { return mercer_map{checked("model", model).impl.map}; });
}

mercer_status mercer_model_weights_f64(const mercer_model* model, double* w, int64_t ldw,
                                       double* intercept) {
  return guard("mercer_model_weights_f64", [&] {
    const solver::Weights& weights = model::linear_weights(checked("model", model).impl);
    const int64_t D = weights.w.rows();
    const int64_t outputs = weights.w.cols();
    std::span<double> constants;
    if (intercept != nullptr) constants = vector("intercept", intercept, "m", outputs).values();
    if (w != nullptr) {
      const auto result = matrix("w", w, "D", D, outputs, "ldw", ldw);
      for (int64_t i = 0; i < D; ++i) {
        std::copy_n(weights.w.view().row(i), outputs, result.view.row(i));
      }
    }
    if (intercept != nullptr) std::ranges::copy(weights.intercept, constants.begin());
  });
}

mercer_status mercer_model_spec(const mercer_model* model, char* buffer, int64_t capacity,
                                int64_t* needed) {
  return guard("mercer_model_spec", [&] {
    copy_text(spec::to_spec(checked("model", model).impl), buffer, capacity, needed);
  });
}

mercer_status mercer_model_report(const mercer_model* model, char* buffer, int64_t capacity,
                                  int64_t* needed) {
  return guard("mercer_model_report", [&] {
    const model::Model& fitted = checked("model", model).impl;
    copy_text(spec::print_report(fitted.report, fitted.fit.coding.task), buffer, capacity, needed);
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

mercer_status mercer_model_metadata(const mercer_model* model, char* buffer, int64_t capacity,
                                    int64_t* needed) {
  return guard("mercer_model_metadata",
               [&] { copy_text(checked("model", model).impl.metadata, buffer, capacity, needed); });
}

void mercer_model_free(mercer_model* model) { delete model; }
