// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator_analysis.h.
#include "mercer/operator_analysis.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "arguments.h"
#include "base/finite.h"
#include "field_argument.h"
#include "guard.h"
#include "handles.h"
#include "model/outputs/exact_operator_ridge.h"
#include "model/outputs/operator_fit.h"
#include "model/outputs/operator_posterior.h"
#include "model/outputs/output_structure.h"
#include "row_arguments.h"
#include "solver/operator_ridge.h"
#include "solver/stein.h"
#include "statistic/operator_variance_bound.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr uint32_t kKernelFitFirstSize = 64;

mercer_operator_kernel_fit read_kernel_fit(const mercer_operator_kernel_fit* fit) {
  const auto read = read_required("fit", fit, "a mercer_operator_kernel_fit",
                                  mercer_operator_kernel_fit_of(0), kKernelFitFirstSize);
  check_range("fit->method", read.method, MERCER_OPERATOR_KERNEL_METHOD_AUTOMATIC,
              MERCER_OPERATOR_KERNEL_METHOD_CONJUGATE_GRADIENT);
  check_range("fit->reserved", read.reserved, 0, 0);
  check_not_negative("fit->lambda", read.lambda);
  check_not_negative("fit->tolerance", read.tolerance);
  check_at_least("fit->most_iterations", read.most_iterations, 1);
  return read;
}

}  // namespace

mercer_status mercer_operator_kernel_ridge(const mercer_kernel* kernel, const mercer_rows* X,
                                           const mercer_rows* Y, mercer_operator_kernel_fit* fit,
                                           mercer_context* context, const mercer_matrix* u) {
  return guard_long("mercer_operator_kernel_ridge", context, [&](Context& running) {
    const kernel::Kernel& given = *checked("kernel", kernel).impl;
    require(given.matrix() != nullptr, MERCER_UNSUPPORTED,
            "kernel %s has one output, expected a kernel of several (mercer_kernel_ridge_fit)",
            std::string(given.name()).c_str());
    const kernel::MatrixKernel& k = *given.matrix();
    mercer_operator_kernel_fit answer = read_kernel_fit(fit);
    const auto x = read_rows("X", X, running);
    check_at_least("X->n", x.n(), 1);
    check_at_least("X->d", x.d(), 1);
    const auto y = read_rows("Y", Y, k.outputs(x.d()), "the outputs of the kernel", running);
    check_same_rows(y, x);
    const Result result("u", u, y.n(), y.d(), running);
    result.check_apart(x);
    result.check_apart(y);
    const auto found =
        model::fit_exact_operator(k, DoubleRows(x, running).view(), DoubleRows(y, running).view(),
                                  {static_cast<model::ExactOperatorMethod>(answer.method),
                                   answer.lambda, answer.tolerance, answer.most_iterations},
                                  running);
    check_answer("fit->squared_norm", found.squared_norm);
    result.write(found.u.view());
    answer.struct_size = fit->struct_size;
    answer.taken = static_cast<int32_t>(found.method);
    answer.iterations = found.iterations;
    answer.residual = found.residual;
    answer.squared_norm = found.squared_norm;
    std::memcpy(fit, &answer, std::min<size_t>(fit->struct_size, sizeof answer));
  });
}

mercer_status mercer_operator_model_covariance(const mercer_operator_model* model,
                                               const mercer_rows* X, const mercer_rows* Y,
                                               double noise, const mercer_rows* at,
                                               mercer_context* context, const mercer_matrix* out) {
  return guard_long("mercer_operator_model_covariance", context, [&](Context& running) {
    const model::OperatorModel& m = checked("model", model).impl;
    const int64_t p = m.map->outputs();
    require(m.loss == nullptr, MERCER_UNSUPPORTED,
            "model of loss %s, expected squares: other losses have no Gaussian posterior",
            solver::loss_name(m.loss));
    check_positive("noise", noise);
    const auto x = read_rows("X", X, m.map->inputs(), "the inputs of the map", running);
    check_at_least("X->n", x.n(), 1);
    RowsArgument y;
    if (Y != nullptr) {
      y = read_rows("Y", Y, p, "the outputs of the map", running);
      check_same_rows(y, x);
    }
    const auto points = read_rows("at", at, m.map->inputs(), "the inputs of the map", running);
    const Result result("out", out, points.n(), checked_multiply(p, p, "covariances"), running);
    result.check_apart(x);
    result.check_apart(y);
    result.check_apart(points);
    const Matrix<double> covariances(points.n(), checked_multiply(p, p, "covariances"), running,
                                     "posterior covariances");
    model::posterior_covariance(*m.map, DoubleRows(x, running).view(),
                                DoubleRows(y, running).view(),
                                {m.lambda, m.rows > 0 ? m.rows : x.n(), noise},
                                DoubleRows(points, running).view(), running, covariances.view());
    result.write(covariances.view());
  });
}

mercer_status mercer_operator_model_norms(const mercer_operator_model* model,
                                          const mercer_rows* weights, mercer_context* context,
                                          double* squared_norm, double* graph_penalty) {
  return guard_long("mercer_operator_model_norms", context, [&](Context& running) {
    const model::OperatorModel& m = checked("model", model).impl;
    const int64_t p = m.map->outputs();
    require(graph_penalty == nullptr || weights != nullptr, MERCER_INVALID_ARGUMENT,
            "weights is NULL, expected those of a graph: graph_penalty is asked for");
    double penalty = 0;
    if (weights != nullptr) {
      const auto W = read_rows("weights", weights, p, "the outputs of the map", running);
      require(W.n() == p, MERCER_DIMENSION_MISMATCH,
              "weights has %lld rows, expected the map's %lld outputs",
              static_cast<long long>(W.n()), static_cast<long long>(p));
      const DoubleRows dense(W, running);
      model::check_graph(dense.view());
      penalty = solver::graph_penalty(dense.view(),
                                      m.map->output_weights(m.coefficients(), running).view());
    }
    write_answers(Answer{"squared_norm", squared_norm, solver::squared_rkhs_norm(m.coefficients())},
                  Answer{"graph_penalty", graph_penalty, penalty});
  });
}

mercer_status mercer_operator_model_equivalence(const mercer_operator_model* model,
                                                const mercer_rows* X, const mercer_rows* u,
                                                mercer_context* context, double* residual,
                                                double* seen) {
  return guard_long("mercer_operator_model_equivalence", context, [&](Context& running) {
    const model::OperatorModel& m = checked("model", model).impl;
    const auto x = read_rows("X", X, m.map->inputs(), "the inputs of the map", running);
    const auto weights = read_rows("u", u, m.map->outputs(), "the outputs of the map", running);
    check_same_rows(weights, x);
    const DoubleRows rows(x, running), of_rows(weights, running);
    model::require_inputs(*m.map, "X", rows.view());
    require_summable("u", of_rows.view(), MissingNumbers::allowed);
    const solver::FeatureEquivalence found = solver::feature_equivalence(
        model::MapRows(*m.map, rows.view()), of_rows.view(), m.theta, running);
    write_answers(Answer{"residual", residual, found.residual}, Answer{"seen", seen, found.seen});
  });
}

mercer_status mercer_map_variance_bound(const mercer_map* map, const mercer_rows* X,
                                        const mercer_rows* Y, int32_t printed,
                                        mercer_context* context, const mercer_matrix* out) {
  return guard_long("mercer_map_variance_bound", context, [&](Context& running) {
    const auto phi = field_map(map);
    check_range("printed", printed, 0, 1);
    const auto form =
        printed == 1 ? statistic::BoundForm::printed : statistic::BoundForm::corrected;
    const auto x = read_rows("X", X, phi->inputs(), "the map's inputs", running);
    const auto y = read_rows("Y", Y, phi->inputs(), "the map's inputs", running);
    check_same_rows(y, x);
    const Result result("out", out, x.n(),
                        checked_multiply(phi->outputs(), phi->outputs(), "variance"), running);
    result.check_apart(x);
    result.check_apart(y);
    statistic::operator_variance_bound(*phi, DoubleRows(x, running).view(),
                                       DoubleRows(y, running).view(), form, running, result.view());
    result.finish();
  });
}
