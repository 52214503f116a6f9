// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/derivative.h: derivatives of models.
#include "model/model_derivative.h"

#include "base/size.h"
#include "derivative_arguments.h"
#include "guard.h"
#include "handles.h"
#include "row_arguments.h"

using namespace mercer;
using namespace mercer::capi;

mercer_status mercer_model_derivative(const mercer_model* model, const mercer_rows* X,
                                      const mercer_derivative* what, mercer_context* context,
                                      const mercer_matrix* out) {
  return guard_long("mercer_model_derivative", context, [&](Context& running) {
    const model::Model& fitted = checked("model", model).impl;
    const mercer_derivative read = read_derivative(what);
    require(!takes_vectors(read.kind), MERCER_UNSUPPORTED,
            "what->kind = %d of a model, expected PARTIALS, GRADIENT, HESSIAN_DIAGONAL or "
            "LAPLACIAN",
            read.kind);
    const auto rows = read_rows("X", X, fitted.inputs(), "the model's inputs", running);
    const feature::Derivative asked = derivative_of(read, fitted.inputs());
    const Result result(
        "out", out, rows.n(),
        checked_multiply(asked.blocks(fitted.inputs()), fitted.outputs(), "derivatives"), running);
    result.check_apart(rows);
    model::differentiate(fitted, asked, DoubleRows(rows, running).view(), running, result.view());
    result.finish();
  });
}
