// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/learn.h: exact kernel ridge, the reference.
#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "mercer/learn.h"
#include "options.h"

using namespace mercer;
using namespace mercer::capi;

mercer_status mercer_exact_fit_f64(const mercer_kernel* kernel, const mercer_fit_options* options,
                                   int64_t n, int64_t d, const double* X, int64_t ldx, int64_t m,
                                   const double* Y, int64_t ldy, int64_t K, mercer_context* context,
                                   mercer_exact** out) {
  return guard_create_long("mercer_exact_fit_f64", context, out, [&](Context& running) {
    const auto& k = checked("kernel", kernel).impl;
    check_not_null("options", options, "fit options with selection MERCER_SELECTION_FIXED");
    model::FitOptions fit = read_fit_options(options);
    check_range("options->selection", options->selection, MERCER_SELECTION_FIXED,
                MERCER_SELECTION_FIXED);
    check_at_least("n", n, 2);
    check_at_least("d", d, 1);
    set_task(K, m, fit);
    const auto rows = matrix("X", X, "n", n, d, "ldx", ldx);
    const auto targets = matrix("Y", Y, "n", n, m, "ldy", ldy);
    k->check_dimension(d);
    return mercer_exact{model::fit_exact(k, fit, rows.view, targets, running)};
  });
}

mercer_status mercer_exact_shape(const mercer_exact* exact, int64_t* n, int64_t* d, int64_t* m) {
  return guard("mercer_exact_shape", [&] {
    const model::ExactModel& fitted = checked("exact", exact).impl;
    check_optional_place("n", n);
    check_optional_place("d", d);
    check_optional_place("m", m);
    if (n != nullptr) *n = fitted.rows.rows();
    if (d != nullptr) *d = fitted.rows.cols();
    if (m != nullptr) *m = fitted.alpha.cols();
  });
}

mercer_status mercer_exact_predict_f64(const mercer_exact* exact, int64_t n, const double* X,
                                       int64_t ldx, mercer_context* context, double* scores,
                                       int64_t lds) {
  return guard_long("mercer_exact_predict_f64", context, [&](Context& running) {
    const model::ExactModel& fitted = checked("exact", exact).impl;
    const auto rows = matrix("X", X, "n", n, fitted.rows.cols(), "ldx", ldx);
    const auto result = matrix("scores", scores, "n", n, fitted.alpha.cols(), "lds", lds);
    check_no_overlap(result, rows);
    if (n > 0) model::predict_exact(fitted, rows.view, running, result);
  });
}

void mercer_exact_free(mercer_exact* exact) { delete exact; }
