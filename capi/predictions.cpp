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
#include "model/model_derivative.h"
#include "model/predict.h"
#include "model/prepare/row_coding.h"

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
template <Kind kind>
bool has_derivatives(const Model& model) {
  return model::has_derivatives(model, kind);
}

int64_t one(const Question&) { return 1; }
int64_t outputs(const Question& question) { return question.model.outputs(); }

model::RangeViolations outside_of(const Question& q, const RowsArgument& X) {
  if (!q.model.ranges.known()) return {};
  return model::count_outside(q.model.ranges.inputs, X, q.context);
}

model::RangeViolations value(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  return model::predict(q.model, X, q.context, out, q.extrapolation);
}

/// Rows as the map takes them, for calls of the map's own functions.
model::RangeViolations prepared(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  require(!q.extrapolation || *q.extrapolation == model::Extrapolation::free, MERCER_UNSUPPORTED,
          "options->extrapolation of prepared rows, expected default or free");
  X.rows.visit([&](const auto& rows) {
    for (int64_t i = 0; i < rows.rows; ++i)
      model::prepare_row(q.model.preparation, rows, i, out.row(i));
  });
  return outside_of(q, X);
}
int64_t prepared_inputs(const Question& question) { return question.model.map->inputs(); }

bool has_preimages(const Model& model) { return model.preimage != nullptr; }
int64_t inputs(const Question& question) { return question.model.inputs(); }
model::RangeViolations preimage(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  return model::preimages(q.model, X, q.context, out, q.extrapolation);
}

model::RangeViolations probability(const Question& q, const RowsArgument& X,
                                   MatrixView<double> out) {
  const model::RangeViolations outside = value(q, X, out);
  q.model.calibration.apply(out);
  return outside;
}

model::RangeViolations class_of(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  std::vector<int32_t> classes(X.n());
  const auto outside = model::classify(q.model, X, q.context, classes, q.extrapolation);
  for (int64_t i = 0; i < X.n(); ++i) out(i, 0) = classes[i];
  return outside;
}

template <Kind kind>
feature::Derivative derivative(const Question& q) {
  if (kind != Kind::partials) return {kind, {}};
  require(q.options.partial_count > 0, MERCER_INVALID_ARGUMENT,
          "options->partial_count = %ld, expected a positive number for what = \"partials\"",
          q.options.partial_count);
  return partials_of("options->partials", "options->partial_count", q.options.partials,
                     q.options.partial_count, q.model.inputs());
}

template <Kind kind>
int64_t blocks(const Question& q) {
  return checked_multiply(derivative<kind>(q).blocks(q.model.inputs()), q.model.outputs(),
                          "derivatives");
}

/// Derivatives at inputs as they are: none is clipped.
template <Kind kind>
model::RangeViolations differentiate(const Question& q, const RowsArgument& X,
                                     MatrixView<double> out) {
  require(!q.extrapolation || *q.extrapolation == model::Extrapolation::free, MERCER_UNSUPPORTED,
          "options->extrapolation of derivatives, expected default or free");
  model::differentiate(q.model, derivative<kind>(q), DoubleRows(X, q.context).view(), q.context,
                       out);
  return outside_of(q, X);
}

bool has_posterior(const Model& model) { return model.posterior != nullptr; }
bool has_latent(const Model& model) { return model::latent_count(model) > 0; }
int64_t latent_count(const Question& q) { return model::latent_count(q.model); }
model::RangeViolations latent_mean(const Question& q, const RowsArgument& X,
                                   MatrixView<double> out) {
  model::latent_mean(q.model, X, q.context, out);
  return outside_of(q, X);
}
model::RangeViolations gradient_variance(const Question& q, const RowsArgument& X,
                                         MatrixView<double> out) {
  model::gradient_variance(q.model, DoubleRows(X, q.context).view(), q.context, out);
  return outside_of(q, X);
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
model::RangeViolations field(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  require(!q.extrapolation || *q.extrapolation == model::Extrapolation::free, MERCER_UNSUPPORTED,
          "options->extrapolation of a field, expected default or free");
  model::predict_field(q.model, X, kind, q.context, out);
  return outside_of(q, X);
}

int64_t squared_outputs(const Question& q) {
  return checked_multiply(q.model.outputs(), q.model.outputs(), "covariances");
}
model::RangeViolations covariance(const Question& q, const RowsArgument& X,
                                  MatrixView<double> out) {
  model::covariance(q.model, X, q.context, out);
  return outside_of(q, X);
}
int64_t joint_outputs(const Question& q) {
  return checked_multiply(q.rows, squared_outputs(q), "covariances");
}
model::RangeViolations joint_covariance(const Question& q, const RowsArgument& X,
                                        MatrixView<double> out) {
  model::joint_covariance(q.model, X, q.context, out);
  return outside_of(q, X);
}
template <model::Spread of>
model::RangeViolations variance(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  model::variance(q.model, X, of, q.context, out);
  return outside_of(q, X);
}

std::span<const double> levels(const Question& q) {
  return vector("options->quantiles", q.options.quantiles, "options->quantile_count",
                q.options.quantile_count)
      .values();
}
int64_t quantile_columns(const Question& q) {
  require(q.options.quantile_count > 0, MERCER_INVALID_ARGUMENT,
          "options->quantile_count = %ld, expected a positive number for what = \"quantile\"",
          q.options.quantile_count);
  return checked_multiply(std::ssize(levels(q)), q.model.outputs(), "quantiles");
}
model::RangeViolations quantile(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  return model::quantiles(q.model, X, levels(q), q.context, out, q.extrapolation);
}

int64_t sample_columns(const Question& q) {
  require(q.options.sample_count > 0, MERCER_INVALID_ARGUMENT,
          "options->sample_count = %ld, expected a positive number for what = \"sample\"",
          q.options.sample_count);
  return checked_multiply(q.options.sample_count, q.model.outputs(), "samples");
}
model::RangeViolations sample(const Question& q, const RowsArgument& X, MatrixView<double> out) {
  model::samples(q.model, X, q.options.seed, q.options.sample_count, q.context, out);
  return outside_of(q, X);
}

constexpr const char* kPreimages = "model kernel_pca";
constexpr const char* kClasses = "a classification";
constexpr const char* kProcesses = "the processes of model gp, dirichlet or svgp";
constexpr const char* kPosterior = "the posterior that model gp keeps";
constexpr const char* kFields = "a kernel of vector fields";
constexpr const char* kSmooth =
    "a model that is linear in its features, of map exact or nystroem with a smooth kernel, or of "
    "a "
    "map with derivatives, such as fourier of any kernel";

constexpr Prediction kPredictions[] = {
    {"value", always, nullptr, outputs, value},
    {"prepared", always, nullptr, prepared_inputs, prepared},
    {"preimage", has_preimages, kPreimages, inputs, preimage},
    {"class", is_classification, kClasses, one, class_of, true},
    {"probability", has_probabilities, kClasses, outputs, probability},
    {"gradient", has_derivatives<Kind::gradient>, kSmooth, blocks<Kind::gradient>,
     differentiate<Kind::gradient>},
    {"hessian_diagonal", has_derivatives<Kind::hessian_diagonal>, kSmooth,
     blocks<Kind::hessian_diagonal>, differentiate<Kind::hessian_diagonal>},
    {"laplacian", has_derivatives<Kind::laplacian>, kSmooth, blocks<Kind::laplacian>,
     differentiate<Kind::laplacian>},
    {"partials", has_derivatives<Kind::partials>, kSmooth, blocks<Kind::partials>,
     differentiate<Kind::partials>},
    {"latent_mean", has_latent, kProcesses, latent_count, latent_mean},
    {"latent_variance", has_latent, kProcesses, latent_count, variance<model::Spread::latent>},
    {"predictive_variance", has_posterior, kPosterior, outputs,
     variance<model::Spread::predictive>},
    {"gradient_variance", has_posterior, kPosterior, blocks<Kind::gradient>, gradient_variance},
    {"quantile", has_posterior, kPosterior, quantile_columns, quantile},
    {"covariance", has_posterior, kPosterior, squared_outputs, covariance},
    {"joint_covariance", has_posterior, kPosterior, joint_outputs, joint_covariance},
    {"sample", has_posterior, kPosterior, sample_columns, sample},
    {"divergence", has_field<FieldKind::divergence>, kFields, field_numbers<FieldKind::divergence>,
     field<FieldKind::divergence>},
    {"curl", has_field<FieldKind::curl>, kFields, field_numbers<FieldKind::curl>,
     field<FieldKind::curl>},
    {"potential", has_field<FieldKind::potential>, kFields, field_numbers<FieldKind::potential>,
     field<FieldKind::potential>},
    {"stream", has_field<FieldKind::stream>, kFields, field_numbers<FieldKind::stream>,
     field<FieldKind::stream>},
};

}  // namespace

const Prediction& prediction_of(const char* what, const Model& model) {
  const std::string_view name = what == nullptr ? "value" : what;
  std::string known;
  std::string lacking;
  for (const Prediction& entry : kPredictions) {
    if (entry.name == name) {
      if (entry.has(model)) return entry;
      lacking = std::string(" (it needs ") + entry.needs + ")";
    }
    if (entry.has(model)) known += std::string(known.empty() ? "" : ", ") + entry.name;
  }
  fail(MERCER_UNSUPPORTED, "what = \"%s\" of this model%s, expected %s", std::string(name).c_str(),
       lacking.c_str(), known.c_str());
}

}  // namespace mercer::capi
