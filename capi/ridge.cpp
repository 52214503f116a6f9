// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/learn.h, ridge regression from statistics and from rows.
#include <algorithm>
#include <memory>
#include <vector>

#include "arguments.h"
#include "base/finite.h"
#include "guard.h"
#include "handles.h"
#include "mercer/learn.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

/// Where weights go: w (D x m) and, unless NULL, the intercept (m). Checked before anything is
/// computed.
class WeightsOutput {
 public:
  WeightsOutput(int64_t D, int64_t m, double* w, int64_t ldw, double* intercept)
      : w_(matrix("w", w, "D", D, m, "ldw", ldw)), intercept_(intercept) {
    if (intercept != nullptr) check_no_overlap(w_, vector("intercept", intercept, "m", m));
  }
  template <class... Inputs>
  void check_apart_from(const Argument<Inputs>&... inputs) const {
    check_no_overlap(w_, inputs...);
    if (intercept_ == nullptr) return;
    check_no_overlap(vector("intercept", intercept_, "m", w_.view.cols), inputs...);
  }
  void write(const solver::Weights& weights) const {
    for (int64_t i = 0; i < w_.view.rows; ++i) {
      std::copy_n(weights.w.view().row(i), w_.view.cols, w_.view.row(i));
    }
    if (intercept_ != nullptr) std::ranges::copy(weights.intercept, intercept_);
  }

 private:
  Argument<double> w_;
  double* intercept_;
};

void write_vector(const char* name, const std::vector<double>& values, double* out) {
  std::ranges::copy(values, vector(name, out, "m", std::ssize(values)).values().begin());
}

std::vector<const solver::RowStatistics*> read_folds(const mercer_statistics* const* folds,
                                                     int64_t fold_count) {
  check_at_least("fold_count", fold_count, 2);
  std::vector<const solver::RowStatistics*> sums;
  for (const mercer_statistics* fold : vector("folds", folds, "fold_count", fold_count).values()) {
    require(fold != nullptr, MERCER_INVALID_ARGUMENT, "folds[%zu] = NULL, expected a handle",
            sums.size());
    sums.push_back(&fold->impl);
  }
  return sums;
}

}  // namespace

mercer_status mercer_ridge_create(const mercer_statistics* statistics, int32_t center,
                                  mercer_context* context, mercer_ridge** out) {
  return guard_create_long("mercer_ridge_create", context, out, [&](Context& running) {
    const solver::RowStatistics& sums = checked("statistics", statistics).impl;
    return mercer_ridge{solver::RidgePath(sums.clone(), center != 0, running)};
  });
}

mercer_status mercer_ridge_create_consuming(mercer_statistics** statistics, int32_t center,
                                            mercer_context* context, mercer_ridge** out) {
  return guard_create_long("mercer_ridge_create_consuming", context, out, [&](Context& running) {
    check_not_null("statistics", statistics, "a handle to give up");
    check_aligned("statistics", statistics, sizeof(void*));
    checked("*statistics", *statistics);
    const std::unique_ptr<mercer_statistics> owned(std::exchange(*statistics, nullptr));
    return mercer_ridge{solver::RidgePath(std::move(owned->impl), center != 0, running)};
  });
}

mercer_status mercer_ridge_shape(const mercer_ridge* ridge, int64_t* n, int64_t* D, int64_t* m) {
  return guard("mercer_ridge_shape", [&] {
    const solver::RidgePath& path = checked("ridge", ridge).impl;
    check_optional_place("n", n);
    check_optional_place("D", D);
    check_optional_place("m", m);
    if (n != nullptr) *n = path.rows();
    if (D != nullptr) *D = path.features();
    if (m != nullptr) *m = path.outputs();
  });
}

mercer_status mercer_ridge_solve_f64(const mercer_ridge* ridge, double lambda, double* w,
                                     int64_t ldw, double* intercept) {
  return guard("mercer_ridge_solve_f64", [&] {
    const solver::RidgePath& path = checked("ridge", ridge).impl;
    check_not_negative("lambda", lambda);
    const WeightsOutput output(path.features(), path.outputs(), w, ldw, intercept);
    output.write(path.solve(lambda));
  });
}

mercer_status mercer_ridge_effective_dimension(const mercer_ridge* ridge, double lambda,
                                               double* dimension) {
  return guard("mercer_ridge_effective_dimension", [&] {
    check_not_negative("lambda", lambda);
    check_place("dimension", dimension);
    *dimension = checked("ridge", ridge).impl.effective_dimension(lambda);
  });
}

mercer_status mercer_ridge_gcv_f64(const mercer_ridge* ridge, double lambda, double* gcv) {
  return guard("mercer_ridge_gcv_f64", [&] {
    const solver::RidgePath& path = checked("ridge", ridge).impl;
    check_not_negative("lambda", lambda);
    vector("gcv", gcv, "m", path.outputs());
    write_vector("gcv", path.gcv(lambda), gcv);
  });
}

mercer_status mercer_ridge_held_out_error_f64(const mercer_ridge* ridge, double lambda,
                                              const mercer_statistics* held_out, double* error) {
  return guard("mercer_ridge_held_out_error_f64", [&] {
    const solver::RidgePath& path = checked("ridge", ridge).impl;
    check_not_negative("lambda", lambda);
    vector("error", error, "m", path.outputs());
    write_vector("error", path.held_out_error(lambda, checked("held_out", held_out).impl), error);
  });
}

mercer_status mercer_ridge_leave_one_out_f64(const mercer_ridge* ridge, double lambda, int64_t n,
                                             const double* Z, int64_t ldz, const double* Y,
                                             int64_t ldy, double* residuals, int64_t ldr) {
  return guard("mercer_ridge_leave_one_out_f64", [&] {
    const solver::RidgePath& path = checked("ridge", ridge).impl;
    check_not_negative("lambda", lambda);
    const auto features = matrix("Z", Z, "n", n, path.features(), "ldz", ldz);
    const auto targets = matrix("Y", Y, "n", n, path.outputs(), "ldy", ldy);
    const auto result = matrix("residuals", residuals, "n", n, path.outputs(), "ldr", ldr);
    check_no_overlap(result, features, targets);
    require_summable("Z", features.view);
    require_summable("Y", targets.view);
    const Matrix<double> left_out = path.leave_one_out(lambda, features, targets);
    for (int64_t i = 0; i < n; ++i) {
      std::copy_n(left_out.view().row(i), path.outputs(), result.view.row(i));
    }
  });
}

void mercer_ridge_free(mercer_ridge* ridge) { delete ridge; }

mercer_status mercer_ridge_cholesky_f64(const mercer_statistics* statistics, int32_t center,
                                        double lambda, mercer_context* context, double* w,
                                        int64_t ldw, double* intercept) {
  return guard_long("mercer_ridge_cholesky_f64", context, [&](Context& running) {
    const solver::RowStatistics& sums = checked("statistics", statistics).impl;
    check_not_negative("lambda", lambda);
    const WeightsOutput output(sums.features(), sums.outputs(), w, ldw, intercept);
    output.write(solver::ridge_cholesky(sums.clone(), center != 0, lambda, running));
  });
}

mercer_status mercer_ridge_dual_f64(int64_t n, int64_t D, const double* Z, int64_t ldz, int64_t m,
                                    const double* Y, int64_t ldy, int32_t center, double lambda,
                                    mercer_context* context, double* w, int64_t ldw,
                                    double* intercept) {
  return guard_long("mercer_ridge_dual_f64", context, [&](Context& running) {
    check_at_least("n", n, 1);
    check_at_least("D", D, 1);
    check_at_least("m", m, 1);
    check_not_negative("lambda", lambda);
    const auto features = matrix("Z", Z, "n", n, D, "ldz", ldz);
    const auto targets = matrix("Y", Y, "n", n, m, "ldy", ldy);
    const WeightsOutput output(D, m, w, ldw, intercept);
    output.check_apart_from(features, targets);
    output.write(solver::ridge_dual(features, targets, center != 0, lambda, running));
  });
}

mercer_status mercer_ridge_kfold_f64(int64_t fold_count, const mercer_statistics* const* folds,
                                     int32_t center, int64_t lambda_count, const double* lambdas,
                                     mercer_context* context, double* error, int64_t lde) {
  return guard_long("mercer_ridge_kfold_f64", context, [&](Context& running) {
    const auto sums = read_folds(folds, fold_count);
    const auto path = vector("lambdas", lambdas, "lambda_count", lambda_count);
    for (const double lambda : path.values()) check_not_negative("lambdas[i]", lambda);
    const int64_t m = sums[0]->outputs();
    const auto result = matrix("error", error, "lambda_count", lambda_count, m, "lde", lde);
    check_no_overlap(result, path);
    const Matrix<double> errors = solver::kfold_error(sums, center != 0, path.values(), running);
    for (int64_t i = 0; i < lambda_count; ++i) {
      std::copy_n(errors.view().row(i), m, result.view.row(i));
    }
  });
}
