// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/ridge.h, ridge regression from statistics and from rows.
#include "mercer/ridge.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "arguments.h"
#include "base/finite.h"
#include "guard.h"
#include "handles.h"
#include "row_arguments.h"

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
    check_answers("w", weights.w.view());
    if (intercept_ != nullptr)
      check_answers("intercept", {weights.intercept.data(), 1, std::ssize(weights.intercept)});
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

/// Features and targets of as many rows, whose squares can be summed, in double.
struct TrainingRows {
  TrainingRows(const mercer_rows* features, const mercer_rows* targets, int64_t D, int64_t m,
               Context& context)
      : Z(read_rows("Z", features, D, "the features", context)),
        Y(read_rows("Y", targets, m, "the outputs", context)),
        z(Z, context),
        y(Y, context) {
    check_same_rows(Y, Z);
    require_summable("Z", Z);
    require_summable("Y", Y);
  }
  RowsArgument Z, Y;
  DoubleRows z, y;
};

}  // namespace

mercer_status mercer_ridge_create(const mercer_statistics* statistics, int32_t center,
                                  mercer_context* context, mercer_ridge** out) {
  return guard_create_long("mercer_ridge_create", context, out, [&](Context& running) {
    const solver::RowStatistics& sums = checked("statistics", statistics).impl;
    return mercer_ridge{solver::RidgePath(sums.clone(running), center != 0, running)};
  });
}

mercer_status mercer_ridge_shape(const mercer_ridge* ridge, int64_t* n, int64_t* D, int64_t* m) {
  return guard("mercer_ridge_shape", [&] {
    const solver::RidgePath& path = checked("ridge", ridge).impl;
    write_answers(Answer{"n", n, path.rows()}, Answer{"D", D, path.features()},
                  Answer{"m", m, path.outputs()});
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

mercer_status mercer_ridge_gcv_f64(const mercer_ridge* ridge, double lambda, double* gcv,
                                   double* dimension) {
  return guard("mercer_ridge_gcv_f64", [&] {
    const solver::RidgePath& path = checked("ridge", ridge).impl;
    check_not_negative("lambda", lambda);
    if (gcv != nullptr) vector("gcv", gcv, "m", path.outputs());
    write_answers(Answer{"dimension", dimension, path.effective_dimension(lambda)});
    if (gcv != nullptr) write_vector("gcv", path.gcv(lambda), gcv);
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

mercer_status mercer_ridge_leave_one_out(const mercer_ridge* ridge, double lambda,
                                         const mercer_rows* Z, const mercer_rows* Y,
                                         mercer_context* context, const mercer_matrix* residuals) {
  return guard_long("mercer_ridge_leave_one_out", context, [&](Context& running) {
    const solver::RidgePath& path = checked("ridge", ridge).impl;
    check_not_negative("lambda", lambda);
    const TrainingRows rows(Z, Y, path.features(), path.outputs(), running);
    const Result result("residuals", residuals, rows.Z.n(), path.outputs(), running);
    result.check_apart(rows.Z);
    result.check_apart(rows.Y);
    const Matrix<double> left_out =
        path.leave_one_out(lambda, rows.z.view(), rows.y.view(), running);
    for (int64_t i = 0; i < left_out.rows(); ++i) {
      std::copy_n(left_out.view().row(i), path.outputs(), result.view().row(i));
    }
    result.finish();
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
    output.write(solver::ridge_cholesky(sums.clone(running), center != 0, lambda, running));
  });
}

mercer_status mercer_ridge_dual(const mercer_rows* Z, const mercer_rows* Y, int32_t center,
                                double lambda, mercer_context* context, const mercer_matrix* w,
                                double* intercept) {
  return guard_long("mercer_ridge_dual", context, [&](Context& running) {
    check_not_negative("lambda", lambda);
    const TrainingRows rows(Z, Y, kAnyColumns, kAnyColumns, running);
    check_at_least("Z->n", rows.Z.n(), 1);
    check_at_least("Z->d", rows.Z.d(), 1);
    check_at_least("Y->d", rows.Y.d(), 1);
    const Result result("w", w, rows.Z.d(), rows.Y.d(), running);
    result.check_apart(rows.Z);
    result.check_apart(rows.Y);
    const auto constants =
        vector("intercept", intercept, "m", intercept == nullptr ? 0 : rows.Y.d());
    result.check_apart(constants.extent());
    check_apart(constants.extent(), rows.Z);
    check_apart(constants.extent(), rows.Y);
    const solver::Weights weights =
        solver::ridge_dual(rows.z.view(), rows.y.view(), center != 0, lambda, running);
    if (intercept != nullptr)
      check_answers("intercept", {weights.intercept.data(), 1, std::ssize(weights.intercept)});
    result.write(weights.w.view());
    if (intercept != nullptr) std::ranges::copy(weights.intercept, intercept);
  });
}
