// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator_learn.h: models.
#include "mercer/operator_learn.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "arguments.h"
#include "field_argument.h"
#include "guard.h"
#include "handles.h"
#include "model/outputs/operator_fit.h"
#include "row_arguments.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr uint32_t kFitFirstSize = 120;

/// All but what needs p.
mercer_operator_fit read_fit(const mercer_operator_fit* fit) {
  const auto read = read_required("fit", fit, "a mercer_operator_fit",
                                  mercer_operator_fit_of(nullptr, 0), kFitFirstSize);
  check_range("fit->method", read.method, MERCER_OPERATOR_METHOD_AUTOMATIC,
              MERCER_OPERATOR_METHOD_GRADIENTS);
  check_range("fit->separate", read.separate, 0, 1);
  check_at_least("fit->lambda_count", read.lambda_count, 1);
  check_not_null("fit->lambdas", read.lambdas, "lambda_count numbers");
  check_aligned("fit->lambdas", read.lambdas, sizeof(double));
  for (int64_t i = 0; i < read.lambda_count; ++i)
    check_not_negative("fit->lambdas", read.lambdas[i]);
  check_aligned("fit->tau", read.tau, sizeof(double));
  check_positive("fit->delta", read.delta);
  check_not_negative("fit->tolerance", read.tolerance);
  check_at_least("fit->most_iterations", read.most_iterations, 1);
  check_range("fit->intercept", read.intercept, 0, 1);
  require(read.folds == 0 || read.folds >= 2, MERCER_INVALID_ARGUMENT,
          "fit->folds = %d, expected 0 or at least 2", read.folds);
  return read;
}

/// What the loss (null: squares) does not read has its default.
void check_heeded(const mercer_operator_fit& read, const solver::Loss* loss) {
  const char* const name = solver::loss_name(loss);
  require(read.tau == nullptr || (loss != nullptr && loss->reads_tau), MERCER_INVALID_ARGUMENT,
          "fit->tau is given, expected NULL: loss %s has no shares", name);
  const bool reads_delta = loss != nullptr && loss->delta != solver::Delta::unread;
  require(read.delta == 1 || reads_delta, MERCER_INVALID_ARGUMENT,
          "fit->delta = %g, expected 1: loss %s does not read it", read.delta, name);
  require(read.separate == 0 || (loss != nullptr && loss->classes), MERCER_INVALID_ARGUMENT,
          "fit->separate = 1, expected 0: loss %s has no classes", name);
  require(read.intercept == 0 || loss == nullptr || loss->residuals, MERCER_UNSUPPORTED,
          "fit->intercept = 1, expected 0: loss %s has no means to take off", name);
}

const solver::Loss* named_loss(const char* text) {
  if (text == nullptr) return nullptr;
  const std::string name(check_text("fit->loss", text));
  const solver::Loss* const loss = solver::find_loss(name);
  std::string names;
  for (const solver::Loss& one : solver::loss_table()) names += std::string(", ") + one.name;
  require(loss != nullptr, MERCER_INVALID_ARGUMENT, "fit->loss = \"%s\", expected one of NULL%s",
          name.c_str(), names.c_str());
  return loss;
}

solver::OperatorLoss loss_of(const mercer_operator_fit& read, int64_t p) {
  solver::OperatorLoss loss;
  loss.separate = read.separate == 1;
  loss.loss = named_loss(read.loss);
  check_heeded(read, loss.loss);
  if (loss.loss == nullptr) return loss;
  for (int64_t k = 0; k < p; ++k)
    loss.parameters.push_back(
        {.delta = read.delta, .tau = read.tau == nullptr ? 0.5 : read.tau[k]});
  return loss;
}

}  // namespace

mercer_status mercer_operator_model_fit(const mercer_map* map, const mercer_rows* X,
                                        const mercer_rows* Y, mercer_operator_fit* fit,
                                        mercer_context* context, mercer_operator_model** out) {
  return guard_create_long(
      "mercer_operator_model_fit", context, out, [&](Context& running) -> mercer_operator_model {
        const auto m = field_map(map);
        mercer_operator_fit answer = read_fit(fit);
        const auto x = read_rows("X", X, m->inputs(), "the inputs of the map", running);
        const auto y = read_rows("Y", Y, m->outputs(), "the outputs of the map", running);
        check_same_rows(x, y);
        check_at_least("X->n", x.n(), 1);
        model::OperatorFitOptions options;
        options.method = static_cast<model::OperatorMethod>(answer.method);
        options.lambdas.assign(answer.lambdas, answer.lambdas + answer.lambda_count);
        options.loss = loss_of(answer, m->outputs());
        options.tolerance = answer.tolerance;
        options.most_iterations = answer.most_iterations;
        options.seed = answer.seed;
        options.folds = answer.folds;
        options.intercept = answer.intercept == 1;
        const DoubleRows inputs(x, running), targets(y, running);
        model::OperatorModel learnt;
        learnt.map = m;
        learnt.rows = x.n();
        learnt.theta.resize(static_cast<std::size_t>(m->features()));
        const model::OperatorFit found =
            model::fit_operator(*m, inputs.view(), targets.view(), options, running, learnt.theta);
        learnt.offset = found.offset;
        learnt.lambda = options.lambdas[static_cast<std::size_t>(found.chosen)];
        learnt.loss = options.loss.loss;
        answer.struct_size = fit->struct_size;
        answer.taken = static_cast<int32_t>(found.method);
        answer.chosen = found.chosen;
        answer.error = found.error;
        answer.iterations = found.iterations;
        answer.residual = found.residual;
        answer.squared_norm = found.squared_norm;
        std::memcpy(fit, &answer, std::min<size_t>(fit->struct_size, sizeof answer));
        return {std::move(learnt)};
      });
}

mercer_status mercer_operator_model_predict(const mercer_operator_model* model,
                                            const mercer_rows* X, int32_t kind,
                                            mercer_context* context, const mercer_matrix* out) {
  return guard_long("mercer_operator_model_predict", context, [&](Context& running) {
    const model::OperatorModel& m = checked("model", model).impl;
    check_range("kind", kind, MERCER_FIELD_VALUE, MERCER_FIELD_STREAM);
    const auto x = read_rows("X", X, m.map->inputs(), "the inputs of the map", running);
    const auto field = static_cast<feature::FieldKind>(kind);
    const int64_t numbers = feature::field_numbers(field, m.map->outputs(), m.map->inputs());
    const auto result = read_feature_matrix("out", out, x.n(), numbers, x.is_f32(), false);
    check_apart(result.extent, x);
    model::predict(
        m, x.rows, field, running,
        x.is_f32() ? ResultView(result.reals<float>()) : ResultView(result.reals<double>()));
  });
}

mercer_status mercer_operator_model_parts(const mercer_operator_model* model, mercer_map** map,
                                          const mercer_matrix* theta) {
  return guard("mercer_operator_model_parts", [&] {
    const model::OperatorModel& m = checked("model", model).impl;
    check_optional_place("map", map);
    Context context;
    if (theta != nullptr) {
      const Result result("theta", theta, m.map->features(), 1, context);
      for (std::size_t j = 0; j < m.theta.size(); ++j)
        result.view()(static_cast<int64_t>(j), 0) = m.theta[j];
      result.finish();
    }
    if (map != nullptr) *map = new mercer_map{m.map};
  });
}

void mercer_operator_model_free(mercer_operator_model* model) { delete model; }
