// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/kernel_ridge.h: exact kernel ridge, the reference.
#include "mercer/kernel_ridge.h"

#include "arguments.h"
#include "base/error.h"
#include "fit_data.h"
#include "guard.h"
#include "handles.h"
#include "model/estimator/model_entry.h"
#include "spec/fit_plan.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

/// What exact kernel ridge follows: the keys of lambda, preparation and coding.
model::Fitting exact_options(spec::FitPlan& plan, const TrainingSet& set) {
  for (const auto& [key, value] : plan.given.entries()) {
    const bool read = key == "model" || key == "lambda" || key == "prepare" || key == "center" ||
                      key == "task" || key == "classes" || key == "seed";
    require(read, MERCER_UNSUPPORTED,
            "key \"%s\" of exact kernel ridge, expected model, lambda, prepare, center, task, "
            "classes and seed alone",
            key.c_str());
  }
  const MatrixView<const double> targets = set.y.view();
  spec::set_classes(plan, targets.cols, &targets);
  const model::Fitting& fit = plan.search.fit;
  require(fit.estimate.entry->least_squares, MERCER_UNSUPPORTED,
          "model = \"%s\" of exact kernel ridge, expected ridge", fit.estimate.entry->name);
  require(fit.select.selection == model::Selection::fixed, MERCER_INVALID_ARGUMENT,
          "key \"lambda\" is missing, expected a number >= 0: of the kernel itself it is not "
          "chosen");
  const auto& given = plan.given;
  require(!plan.asks("prepare") || given.object("prepare").find("extrapolation") == nullptr ||
              fit.extrapolation == model::Extrapolation::free,
          MERCER_UNSUPPORTED,
          "prepare.extrapolation of exact kernel ridge, which keeps no ranges: expected free");
  return fit;
}

}  // namespace

mercer_status mercer_kernel_ridge_fit(const mercer_kernel* kernel, const char* json,
                                      const mercer_data* data, mercer_context* context,
                                      mercer_kernel_ridge** out) {
  return guard_create_long("mercer_kernel_ridge_fit", context, out, [&](Context& running) {
    const auto& k = checked("kernel", kernel).impl;
    spec::FitPlan plan = spec::fit_plan(check_text("json", json));
    const mercer_data read = read_data(data);
    require(is_given(read.X) && read.map == nullptr, MERCER_UNSUPPORTED,
            "data of exact kernel ridge, expected X and Y in memory, and no map");
    const TrainingSet set(read, running);
    const model::Fitting fit = exact_options(plan, set);
    return mercer_kernel_ridge{model::fit_exact(k, fit, set.X, set.y.view(), running, set.weights)};
  });
}

mercer_status mercer_kernel_ridge_shape(const mercer_kernel_ridge* fitted, mercer_shape* shape) {
  return guard("mercer_kernel_ridge_shape", [&] {
    const model::ExactModel& model = checked("fitted", fitted).impl;
    write_shape(model.alpha.rows(), model.inputs, model.alpha.cols(), shape);
  });
}

mercer_status mercer_kernel_ridge_predict(const mercer_kernel_ridge* fitted, mercer_rows X,
                                          mercer_context* context, mercer_matrix scores) {
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
