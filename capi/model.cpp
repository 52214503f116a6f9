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

}  // namespace

mercer_status mercer_model_fit(const mercer_map* map, const mercer_fit_options* options,
                               const mercer_rows* X, const mercer_rows* Y, int64_t K,
                               mercer_context* context, mercer_model** out) {
  return guard_create_long("mercer_model_fit", context, out, [&](Context& running) {
    const auto& phi = checked("map", map).impl;
    model::FitOptions fit = read_fit_options(options);
    const TrainingSet set(X, Y, running);
    set_task(K, set.Y.d(), fit);
    return mercer_model{model::fit(phi, fit, set.X, set.y.view(), running)};
  });
}

mercer_status mercer_model_fit_spec(const char* json, const mercer_rows* X, const mercer_rows* Y,
                                    mercer_context* context, mercer_model** out) {
  return guard_create_long("mercer_model_fit_spec", context, out, [&](Context& running) {
    spec::ModelPlan plan = spec::model_plan_from_spec(check_text("json", json));
    const TrainingSet set(X, Y, running);
    if (plan.options.task == model::Task::classification) {
      set_task(count_classes(set.y.view()), set.Y.d(), plan.options);
    }
    return mercer_model{spec::fit(plan, set.X, set.y.view(), running)};
  });
}

mercer_status mercer_model_predict(const mercer_model* model, const mercer_rows* X,
                                   mercer_context* context, const mercer_matrix* scores) {
  return guard_long("mercer_model_predict", context, [&](Context& running) {
    const model::Model& fitted = checked("model", model).impl;
    const auto rows = read_rows("X", X, fitted.inputs(), "the model's inputs", running);
    const Result result("scores", scores, rows.n(), fitted.outputs(), running);
    result.check_apart(rows);
    if (rows.n() > 0) model::predict(fitted, rows, running, result.view());
    result.finish();
  });
}

mercer_status mercer_model_classify(const mercer_model* model, const mercer_rows* X,
                                    mercer_context* context, int32_t* labels) {
  return guard_long("mercer_model_classify", context, [&](Context& running) {
    const model::Model& fitted = checked("model", model).impl;
    require(fitted.options.task == model::Task::classification, MERCER_UNSUPPORTED,
            "the model is a regression, expected a classification; see mercer_model_predict");
    const auto rows = read_rows("X", X, fitted.inputs(), "the model's inputs", running);
    const auto result = vector("labels", labels, "n", rows.n());
    check_apart(result.extent(), rows);
    if (rows.n() > 0) model::classify(fitted, rows, running, result.values());
  });
}
