// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/learn.h: models fitted on a given map, prediction. What a model holds is in
// model_parts.cpp.
#include "model/model.h"

#include <algorithm>
#include <cmath>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "mercer/learn.h"
#include "options.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

template <class T>
mercer_status fit_regression(const char* function, const mercer_map* map,
                             const mercer_fit_options* options, int64_t n, const T* X, int64_t ldx,
                             int64_t m, const double* Y, int64_t ldy, mercer_context* context,
                             mercer_model** out) noexcept {
  return guard_create_long(function, context, out, [&](Context& running) {
    const auto& phi = checked("map", map).impl;
    check_at_least("n", n, 2);
    check_at_least("m", m, 1);
    const model::FitOptions fit = read_fit_options(options);
    const auto rows = matrix("X", X, "n", n, phi->inputs(), "ldx", ldx);
    const auto targets = matrix("Y", Y, "n", n, m, "ldy", ldy);
    return mercer_model{model::fit(phi, fit, rows.view, targets, running)};
  });
}

Matrix<double> widen_labels(std::span<const int32_t> labels, int64_t K) {
  Matrix<double> wide(std::ssize(labels), 1);
  for (int64_t i = 0; i < wide.rows(); ++i) {
    const int32_t label = labels[static_cast<size_t>(i)];
    require(label >= 0 && label < K, MERCER_INVALID_ARGUMENT,
            "labels[%lld] = %d, expected 0 to K - 1 = %lld", static_cast<long long>(i), label,
            static_cast<long long>(K - 1));
    wide(i, 0) = label;
  }
  return wide;
}

template <class T>
mercer_status fit_classes(const char* function, const mercer_map* map,
                          const mercer_fit_options* options, int64_t n, const T* X, int64_t ldx,
                          int64_t K, const int32_t* labels, mercer_context* context,
                          mercer_model** out) noexcept {
  return guard_create_long(function, context, out, [&](Context& running) {
    const auto& phi = checked("map", map).impl;
    check_at_least("n", n, 2);
    check_at_least("K", K, 2);
    model::FitOptions fit = read_fit_options(options);
    set_task(K, 1, fit);
    const auto rows = matrix("X", X, "n", n, phi->inputs(), "ldx", ldx);
    const Matrix<double> wide = widen_labels(vector("labels", labels, "n", n).values(), K);
    return mercer_model{model::fit(phi, fit, rows.view, wide.view(), running)};
  });
}

/// One more than the largest class number of a column.
int64_t count_classes(MatrixView<const double> Y) {
  double largest = 0;
  for (int64_t i = 0; i < Y.rows; ++i) largest = std::max(largest, Y(i, 0));
  require(largest >= 1 && largest < 1e6, MERCER_INVALID_ARGUMENT,
          "the largest class number in Y is %g, expected 1 to 999999", largest);
  return static_cast<int64_t>(largest) + 1;
}

template <class T>
mercer_status predict(const char* function, const mercer_model* model, int64_t n, const T* X,
                      int64_t ldx, mercer_context* context, double* scores, int64_t lds) noexcept {
  return guard_long(function, context, [&](Context& running) {
    const model::Model& fitted = checked("model", model).impl;
    const auto rows = matrix("X", X, "n", n, fitted.inputs(), "ldx", ldx);
    const auto result = matrix("scores", scores, "n", n, fitted.outputs(), "lds", lds);
    check_no_overlap(result, rows);
    if (n > 0) model::predict(fitted, rows.view, running, result);
  });
}

template <class T>
mercer_status classify(const char* function, const mercer_model* model, int64_t n, const T* X,
                       int64_t ldx, mercer_context* context, int32_t* labels) noexcept {
  return guard_long(function, context, [&](Context& running) {
    const model::Model& fitted = checked("model", model).impl;
    require(fitted.options.task == model::Task::classification, MERCER_UNSUPPORTED,
            "the model is a regression, expected a classification; see mercer_model_predict");
    const auto rows = matrix("X", X, "n", n, fitted.inputs(), "ldx", ldx);
    const auto result = vector("labels", labels, "n", n);
    check_no_overlap(result, rows);
    if (n > 0) model::classify(fitted, rows.view, running, result.values());
  });
}

}  // namespace

mercer_status mercer_model_fit_f32(const mercer_map* map, const mercer_fit_options* options,
                                   int64_t n, const float* X, int64_t ldx, int64_t m,
                                   const double* Y, int64_t ldy, mercer_context* context,
                                   mercer_model** out) {
  return fit_regression("mercer_model_fit_f32", map, options, n, X, ldx, m, Y, ldy, context, out);
}

mercer_status mercer_model_fit_f64(const mercer_map* map, const mercer_fit_options* options,
                                   int64_t n, const double* X, int64_t ldx, int64_t m,
                                   const double* Y, int64_t ldy, mercer_context* context,
                                   mercer_model** out) {
  return fit_regression("mercer_model_fit_f64", map, options, n, X, ldx, m, Y, ldy, context, out);
}

mercer_status mercer_model_fit_classes_f32(const mercer_map* map, const mercer_fit_options* options,
                                           int64_t n, const float* X, int64_t ldx, int64_t K,
                                           const int32_t* labels, mercer_context* context,
                                           mercer_model** out) {
  return fit_classes("mercer_model_fit_classes_f32", map, options, n, X, ldx, K, labels, context,
                     out);
}

mercer_status mercer_model_fit_classes_f64(const mercer_map* map, const mercer_fit_options* options,
                                           int64_t n, const double* X, int64_t ldx, int64_t K,
                                           const int32_t* labels, mercer_context* context,
                                           mercer_model** out) {
  return fit_classes("mercer_model_fit_classes_f64", map, options, n, X, ldx, K, labels, context,
                     out);
}

mercer_status mercer_model_fit_spec_f64(const char* json, int64_t n, const double* X, int64_t ldx,
                                        int64_t m, const double* Y, int64_t ldy,
                                        mercer_context* context, mercer_model** out) {
  return guard_create_long("mercer_model_fit_spec_f64", context, out, [&](Context& running) {
    spec::ModelPlan plan = spec::model_plan_from_spec(check_text("json", json));
    check_at_least("n", n, 2);
    check_at_least("m", m, 1);
    const auto rows = matrix("X", X, "n", n, plan.map->inputs(), "ldx", ldx);
    const auto targets = matrix("Y", Y, "n", n, m, "ldy", ldy);
    if (plan.options.task == model::Task::classification) {
      set_task(count_classes(targets), m, plan.options);
    }
    return mercer_model{model::fit(plan.map, plan.options, rows.view, targets, running)};
  });
}

mercer_status mercer_model_predict_f32(const mercer_model* model, int64_t n, const float* X,
                                       int64_t ldx, mercer_context* context, double* scores,
                                       int64_t lds) {
  return predict("mercer_model_predict_f32", model, n, X, ldx, context, scores, lds);
}

mercer_status mercer_model_predict_f64(const mercer_model* model, int64_t n, const double* X,
                                       int64_t ldx, mercer_context* context, double* scores,
                                       int64_t lds) {
  return predict("mercer_model_predict_f64", model, n, X, ldx, context, scores, lds);
}

mercer_status mercer_model_classify_f32(const mercer_model* model, int64_t n, const float* X,
                                        int64_t ldx, mercer_context* context, int32_t* labels) {
  return classify("mercer_model_classify_f32", model, n, X, ldx, context, labels);
}

mercer_status mercer_model_classify_f64(const mercer_model* model, int64_t n, const double* X,
                                        int64_t ldx, mercer_context* context, int32_t* labels) {
  return classify("mercer_model_classify_f64", model, n, X, ldx, context, labels);
}
