// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "predictions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "arguments.h"
#include "base/error.h"
#include "base/size.h"
#include "derivative_arguments.h"
#include "model/field_quantity.h"
#include "model/model_derivative.h"

namespace mercer::capi {
namespace {

using model::Model;
using Kind = feature::Derivative::Kind;

bool always(const Model&) { return true; }
bool is_classification(const Model& model) {
  return model.fit.coding.task == model::Task::classification;
}
bool has_probabilities(const Model& model) {
  return is_classification(model) && !model.calibration.empty();
}
bool has_derivatives(const Model& model) {
  return model.predictor->linear() != nullptr && model.map->scalar().derivatives() != nullptr;
}

int64_t one(const Question&) { return 1; }
int64_t outputs(const Question& question) { return question.model.outputs(); }

model::Outside value(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  return model::predict(q.model, X, q.context, out, q.extrapolation);
}

model::Outside probability(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  const model::Outside outside = value(q, X, out);
  q.model.calibration.apply(out);
  return outside;
}

model::Outside class_of(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  std::vector<int32_t> classes(static_cast<size_t>(X.n()));
  const auto outside = model::classify(q.model, X, q.context, classes, q.extrapolation);
  for (int64_t i = 0; i < X.n(); ++i) out(i, 0) = classes[static_cast<size_t>(i)];
  return outside;
}

template <Kind kind>
feature::Derivative derivative(const Question& q) {
  if (kind != Kind::partials) return {kind, {}};
  return partials_of("options->partials", "options->partial_count", q.options.partials,
                     q.options.partial_count, q.model.inputs());
}

template <Kind kind>
int64_t blocks(const Question& q) {
  return checked_multiply(derivative<kind>(q).blocks(q.model.inputs()), q.model.outputs(),
                          "derivatives");
}

/// Of inputs as they are.
template <Kind kind>
model::Outside differentiate(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  require(!q.extrapolation || *q.extrapolation == model::Extrapolation::free, MERCER_UNSUPPORTED,
          "options->extrapolation of derivatives, expected default or free");
  model::differentiate(q.model, derivative<kind>(q), DoubleRows(X, q.context).view(), q.context,
                       out);
  if (!q.model.ranges.known()) return {};
  return model::count_outside(q.model.ranges.inputs, X, q.context);
}

using feature::FieldKind;

template <FieldKind kind>
bool has_field(const Model& model) {
  try {
    return model::field_numbers(model, kind) > 0;
  } catch (const Error&) {
    return false;
  }
}
template <FieldKind kind>
int64_t field_numbers(const Question& q) {
  return model::field_numbers(q.model, kind);
}
template <FieldKind kind>
model::Outside field(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  require(!q.extrapolation || *q.extrapolation == model::Extrapolation::free, MERCER_UNSUPPORTED,
          "options->extrapolation of a field, expected default or free");
  model::predict_field(q.model, X, kind, q.context, out);
  if (!q.model.ranges.known()) return {};
  return model::count_outside(q.model.ranges.inputs, X, q.context);
}

bool has_posterior(const Model& model) { return model.posterior != nullptr; }
int64_t squared_outputs(const Question& q) {
  return checked_multiply(q.model.outputs(), q.model.outputs(), "covariances");
}
model::Outside covariance(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  model::covariance(q.model, X, q.context, out);
  if (!q.model.ranges.known()) return {};
  return model::count_outside(q.model.ranges.inputs, X, q.context);
}

constexpr Prediction kPredictions[] = {
    {"value", always, outputs, value},
    {"class", is_classification, one, class_of, true},
    {"probability", has_probabilities, outputs, probability},
    {"gradient", has_derivatives, blocks<Kind::gradient>, differentiate<Kind::gradient>},
    {"hessian_diagonal", has_derivatives, blocks<Kind::hessian_diagonal>,
     differentiate<Kind::hessian_diagonal>},
    {"laplacian", has_derivatives, blocks<Kind::laplacian>, differentiate<Kind::laplacian>},
    {"partials", has_derivatives, blocks<Kind::partials>, differentiate<Kind::partials>},
    {"covariance", has_posterior, squared_outputs, covariance},
    {"divergence", has_field<FieldKind::divergence>, field_numbers<FieldKind::divergence>,
     field<FieldKind::divergence>},
    {"curl", has_field<FieldKind::curl>, field_numbers<FieldKind::curl>, field<FieldKind::curl>},
    {"potential", has_field<FieldKind::potential>, field_numbers<FieldKind::potential>,
     field<FieldKind::potential>},
    {"stream", has_field<FieldKind::stream>, field_numbers<FieldKind::stream>,
     field<FieldKind::stream>},
};

}  // namespace

const Prediction& prediction_of(const char* what, const Model& model) {
  const std::string_view name = what == nullptr ? "value" : what;
  std::string known;
  for (const Prediction& entry : kPredictions) {
    if (!entry.has(model)) continue;
    if (entry.name == name) return entry;
    known += std::string(known.empty() ? "" : ", ") + entry.name;
  }
  fail(MERCER_UNSUPPORTED, "what = \"%s\" of this model, expected %s", std::string(name).c_str(),
       known.c_str());
}

}  // namespace mercer::capi
