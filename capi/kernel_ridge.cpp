// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/kernel_ridge.h: exact kernel ridge, the reference.
#include "mercer/kernel_ridge.h"

#include "arguments.h"
#include "base/error.h"
#include "guard.h"
#include "handles.h"
#include "model/estimator/class_weights.h"
#include "options.h"
#include "training_set.h"

using namespace mercer;
using namespace mercer::capi;

mercer_status mercer_kernel_ridge_fit(const mercer_kernel* kernel,
                                      const mercer_fit_options* options, const mercer_rows* X,
                                      const mercer_rows* Y, int64_t K, mercer_context* context,
                                      mercer_kernel_ridge** out) {
  return guard_create_long("mercer_kernel_ridge_fit", context, out, [&](Context& running) {
    const auto& k = checked("kernel", kernel).impl;
    check_not_null("options", options, "fit options with selection MERCER_SELECTION_FIXED");
    model::Fitting fit = read_fit_options(options);
    require(options->selection == MERCER_SELECTION_FIXED, MERCER_INVALID_ARGUMENT,
            "options->selection = %d, expected MERCER_SELECTION_FIXED", options->selection);
    const auto extrapolation = asked_extrapolation(options);
    require(!extrapolation || *extrapolation == model::Extrapolation::free, MERCER_UNSUPPORTED,
            "options->extrapolation asks to clip or refuse, expected DEFAULT or FREE: exact kernel "
            "ridge keeps no ranges");
    require(fit.estimate.precision == feature::Precision::f32, MERCER_UNSUPPORTED,
            "options->precision = MERCER_PRECISION_F64, expected F32, the default: exact kernel "
            "ridge has no features and always computes in double");
    require(!model::is_balanced(fit.estimate.parameters), MERCER_UNSUPPORTED,
            "options->class_weight of exact kernel ridge, expected NONE");
    const TrainingSet set(X, Y, running);
    fit.coding = read_coding(K, set.Y.d());
    return mercer_kernel_ridge{
        model::fit_exact(k, fit, set.X, set.y.view(), running, asked_weights(options, set.X.n()))};
  });
}

mercer_status mercer_kernel_ridge_predict(const mercer_kernel_ridge* fitted, const mercer_rows* X,
                                          mercer_context* context, const mercer_matrix* scores) {
  return guard_long("mercer_kernel_ridge_predict", context, [&](Context& running) {
    const model::ExactModel& model = checked("fitted", fitted).impl;
    const auto rows = read_rows("X", X, model.inputs, "the model's inputs", running);
    const Result result("scores", scores, rows.n(), model.alpha.cols(), running);
    result.check_apart(rows);
    if (rows.n() > 0) model::predict_exact(model, rows, running, result.view());
    result.finish();
  });
}

void mercer_kernel_ridge_free(mercer_kernel_ridge* fitted) { delete fitted; }
