// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/ridge.h, ridge regression from statistics and from rows.
#include "mercer/ridge.h"

#include <algorithm>
#include <optional>

#include "arguments.h"
#include "base/views.h"
#include "guard.h"
#include "handles.h"
#include "row_arguments.h"
#include "solver/dual_system.h"
#include "weights_result.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

/// Features and targets of as many rows, whose squares can be summed, in double.
struct TrainingRows {
  TrainingRows(const mercer_rows& features, const mercer_rows& targets, int64_t D, int64_t m,
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
    return mercer_ridge{solver::PrimalSystem(sums.clone(running), center != 0, running)};
  });
}

mercer_status mercer_ridge_shape(const mercer_ridge* ridge, mercer_shape* shape) {
  return guard("mercer_ridge_shape", [&] {
    const solver::PrimalSystem& system = checked("ridge", ridge).impl;
    write_shape(system.rows(), system.features(), system.outputs(), shape);
  });
}

mercer_status mercer_ridge_solve(const mercer_ridge* ridge, double penalty, mercer_matrix w,
                                 mercer_matrix intercept) {
  return guard("mercer_ridge_solve", [&] {
    Context context;
    const solver::PrimalSystem& system = checked("ridge", ridge).impl;
    check_not_negative("penalty", penalty);
    const WeightsResult result(w, intercept, system.features(), system.outputs(), context);
    result.write(system.solve(penalty));
  });
}

mercer_status mercer_ridge_error(const mercer_ridge* ridge, double penalty,
                                 const mercer_statistics* held_out, mercer_matrix error,
                                 double* dimension) {
  return guard("mercer_ridge_error", [&] {
    Context context;
    const solver::PrimalSystem& system = checked("ridge", ridge).impl;
    check_not_negative("penalty", penalty);
    std::optional<Result> result;
    if (is_given(error)) result.emplace("error", error, 1, system.outputs(), context);
    write_answers(Answer{"dimension", dimension, system.effective_dimension(penalty)});
    if (!result) return;
    const auto errors =
        held_out == nullptr ? system.gcv(penalty) : system.held_out_error(penalty, held_out->impl);
    std::ranges::copy(errors, result->view().row(0));
    result->finish();
  });
}

mercer_status mercer_ridge_leverage(const mercer_ridge* ridge, double penalty,
                                    mercer_matrix scores) {
  return guard("mercer_ridge_leverage", [&] {
    Context context;
    const solver::PrimalSystem& system = checked("ridge", ridge).impl;
    check_not_negative("penalty", penalty);
    const Result result("scores", scores, 1, system.features(), context);
    std::ranges::copy(system.leverage(penalty), result.view().row(0));
    result.finish();
  });
}

mercer_status mercer_ridge_leave_one_out(const mercer_ridge* ridge, double penalty, mercer_rows Z,
                                         mercer_rows Y, mercer_context* context,
                                         mercer_matrix residuals) {
  return guard_long("mercer_ridge_leave_one_out", context, [&](Context& running) {
    const solver::PrimalSystem& system = checked("ridge", ridge).impl;
    check_not_negative("penalty", penalty);
    const TrainingRows rows(Z, Y, system.features(), system.outputs(), running);
    const Result result("residuals", residuals, rows.Z.n(), system.outputs(), running);
    result.check_apart(rows.Z);
    result.check_apart(rows.Y);
    const Matrix<double> left_out =
        system.leave_one_out({&penalty, 1}, {0, rows.z.view(), rows.y.view(), {}}, running);
    for (int64_t i = 0; i < left_out.rows(); ++i) {
      std::copy_n(left_out.view().row(i), system.outputs(), result.view().row(i));
    }
    result.finish();
  });
}

void mercer_ridge_free(mercer_ridge* ridge) { delete ridge; }

mercer_status mercer_ridge_weights(const mercer_statistics* statistics, mercer_rows Z,
                                   mercer_rows Y, int32_t center, double penalty,
                                   mercer_context* context, mercer_matrix w,
                                   mercer_matrix intercept) {
  return guard_long("mercer_ridge_weights", context, [&](Context& running) {
    check_not_negative("penalty", penalty);
    const bool rows = is_given(Z) || is_given(Y);
    require(rows == (statistics == nullptr), MERCER_INVALID_ARGUMENT,
            "statistics and rows are %s, expected statistics, or Z and Y",
            rows ? "both given" : "both absent");
    if (!rows) {
      const solver::RowStatistics& sums = statistics->impl;
      const WeightsResult result(w, intercept, sums.features(), sums.outputs(), running);
      return result.write(
          solver::ridge_cholesky(sums.clone(running), center != 0, penalty, running));
    }
    const TrainingRows set(Z, Y, kAnyColumns, kAnyColumns, running);
    check_at_least("Z.n", set.Z.n(), 1);
    check_at_least("Z.d", set.Z.d(), 1);
    check_at_least("Y.d", set.Y.d(), 1);
    const WeightsResult result(w, intercept, set.Z.d(), set.Y.d(), running);
    result.check_apart(set.Z);
    result.check_apart(set.Y);
    result.write(solver::ridge_dual(set.z.view(), set.y.view(), center != 0, penalty, running));
  });
}
