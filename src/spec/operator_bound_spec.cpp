// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Bounds of kernels with several outputs (statistic/operator_bound.h): the corollaries, or, with
// the caller's covering, the propositions they follow from.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/context.h"
#include "base/error.h"
#include "base/fields.h"
#include "kernel/matrix_kernel.h"
#include "kernel/spectral_moments.h"
#include "linalg/symmetric_eigen.h"
#include "spec/bound_spec.h"
#include "statistic/operator_bound.h"

namespace mercer::spec {
namespace {

using statistic::GaussianOperator;
using Bound = double (*)(const statistic::OperatorBoundQuestion& question, double F);

/// |Gamma|, and Tr Gamma^2 / |Gamma|^2.
std::pair<double, double> norm_and_intrinsic(MatrixView<const double> gamma) {
  const int64_t p = gamma.rows;
  Matrix<double> V(p, p);
  for (int64_t k = 0; k < p; ++k) std::copy_n(gamma.row(k), p, V.view().row(k));
  std::vector<double> values(p);
  Context context;
  linalg::symmetric_eigen(V.view(), values, context);
  double squares = 0;
  for (const double value : values) squares += value / values.back() * (value / values.back());
  return {values.back(), squares};
}

/// A kernel of one output is decomposable with Gamma = 1.
GaussianOperator gaussian_operator(const kernel::Kernel& kernel, int64_t d, bool bounded) {
  const kernel::MatrixKernel* const matrix = kernel.matrix();
  const kernel::Kernel& scalar = matrix != nullptr ? matrix->scalar() : kernel;
  require(
      scalar.is_gaussian() && scalar.lengthscale().size() == 1, MERCER_UNSUPPORTED,
      "kernel %s of %s, expected gaussian of one lengthscale, or the bound's constants in place "
      "of a kernel",
      std::string(kernel.name()).c_str(), std::string(scalar.name()).c_str());
  GaussianOperator of{GaussianOperator::Kind::decomposable, bounded, d, scalar.lengthscale()[0],
                      scalar.variance()};
  const kernel::FieldParts* const parts = matrix != nullptr ? matrix->field_parts() : nullptr;
  if (parts != nullptr) {
    require(parts->curl == 0 || parts->divergence == 0, MERCER_UNSUPPORTED,
            "kernel %s, expected curl_free, divergence_free, decomposable or gaussian",
            std::string(kernel.name()).c_str());
    of.kind = parts->curl != 0 ? GaussianOperator::Kind::curl_free
                               : GaussianOperator::Kind::divergence_free;
  } else if (matrix != nullptr) {
    const auto [norm, intrinsic] = norm_and_intrinsic(matrix->gamma());
    of.norm *= norm;
    of.intrinsic = intrinsic;
  }
  return of;
}

/// The keys that replace a kernel: all are required without one, none is allowed with one.
bool has_kernel(const Parameters& asked, std::initializer_list<const char*> constants) {
  const bool kernel = asked.find("kernel") != nullptr;
  for (const char* key : constants)
    require((asked.find(key) != nullptr) != kernel, MERCER_INVALID_ARGUMENT,
            kernel ? "key \"%s\" beside a kernel, expected one of the two"
                   : "key \"%s\" is missing, expected a number > 0, or \"kernel\"",
            key);
  return kernel;
}

/// Sets a constant of a kernel. Powers of extreme lengthscales overflow or underflow.
void set_constant(Parameters& asked, const char* key, double value) {
  require(value > 0, MERCER_INVALID_ARGUMENT, "%s would be %g, expected a number > 0", key, value);
  set_answer(asked, key, value);
}

/// "frequencies" and "delta": one is given, both are answered.
template <class BoundOf>
Parameters with_frequencies(Parameters asked, const BoundOf& bound) {
  const int64_t F = is_first_given(asked, "frequencies", "delta")
                        ? asked.integer("frequencies")
                        : statistic::least_frequencies(bound, asked.number("delta"));
  asked.set("frequencies", F);
  asked.set("delta", std::min(1.0, bound(static_cast<double>(F))));
  return asked;
}

Parameters answer_decomposable(Parameters asked) {
  const int64_t d = asked.integer("inputs");
  if (has_kernel(asked, {"s", "norm"})) {
    const auto kernel = bound_kernel(asked);
    kernel->outputs(d);
    const GaussianOperator of = gaussian_operator(*kernel, d, false);
    require(of.kind == GaussianOperator::Kind::decomposable, MERCER_UNSUPPORTED,
            "kernel %s, expected decomposable or gaussian", std::string(kernel->name()).c_str());
    set_constant(asked, "s", std::sqrt(static_cast<double>(d)) / of.sigma);
    set_constant(asked, "norm", of.norm);
  }
  const double epsilon = asked.number("epsilon"), diameter = asked.number("diameter");
  const double s = asked.number("s"), norm = asked.number("norm");
  return with_frequencies(std::move(asked), [=](double F) {
    return statistic::corollary28(d, s, norm, diameter, epsilon, F);
  });
}

/// m, u, v, intrinsic and outputs, from the kernel if there is one.
statistic::OperatorConstants take_constants(Parameters& asked, bool exponential) {
  const int64_t d = asked.integer("inputs");
  if (!has_kernel(asked, {"outputs", "m", "u", "v"})) {
    if (asked.find("intrinsic") == nullptr) asked.set("intrinsic", 1.0);
    return {asked.number("m"), asked.number("u"), asked.number("v"), asked.number("intrinsic")};
  }
  require(asked.find("intrinsic") == nullptr, MERCER_INVALID_ARGUMENT,
          "key \"intrinsic\" beside a kernel, expected one of the two");
  const auto kernel = bound_kernel(asked);
  asked.set("outputs", kernel->outputs(d));
  const auto constants =
      statistic::gaussian_constants(gaussian_operator(*kernel, d, !exponential), exponential);
  set_constant(asked, "m", constants.m);
  set_constant(asked, "u", constants.u);
  set_constant(asked, "v", constants.v);
  set_constant(asked, "intrinsic", constants.intrinsic);
  return constants;
}

template <bool kExponential>
Parameters answer_features(Parameters asked) {
  statistic::OperatorBoundQuestion question;
  question.constants = take_constants(asked, kExponential);
  question.d = asked.integer("inputs");
  question.p = asked.integer("outputs");
  question.epsilon = asked.number("epsilon");
  const bool ball = is_first_given(asked, "diameter", "covering");
  require((asked.find("radius") == nullptr) == ball, MERCER_INVALID_ARGUMENT,
          "key \"radius\" %s, expected it with \"covering\"", ball ? "alone" : "is missing");
  if (ball) question.diameter = asked.number("diameter");
  if (!ball) question.radius = asked.number("radius");
  if (!ball) question.covering = asked.number("covering");
  const Bound bound = kExponential ? (ball ? statistic::corollary31 : statistic::proposition46)
                                   : (ball ? statistic::corollary32 : statistic::proposition47);
  return with_frequencies(std::move(asked), [&](double F) { return bound(question, F); });
}

Field above_zero(const char* key, const char* help) {
  return number_above_field(key, kOptional, 0, kUnbounded, help);
}

std::vector<Field> common_fields(const char* kernel_help) {
  std::vector<Field> fields = {bound_kernel_field(kernel_help)};
  for (Field& field : bound_size_fields()) fields.push_back(std::move(field));
  fields.push_back(
      required(above_zero("epsilon", "the error of the kernel, in the operator norm")));
  fields.push_back({.key = "delta",
                    .type = FieldType::number,
                    .fallback = kOptional,
                    .least = 0,
                    .most = 1,
                    .least_open = true,
                    .help =
                        "probability of a larger error: the given limit; answered: its bound with "
                        "these frequencies, at most 1"});
  return fields;
}

std::vector<Field> decomposable_fields() {
  std::vector<Field> fields =
      common_fields("decomposable of gaussian, or gaussian; or s and norm instead");
  fields.push_back(required(above_zero("diameter", "of the ball of inputs")));
  fields.push_back(above_zero("s", "(E ||omega||^2)^{1/2}"));
  fields.push_back(above_zero("norm", "|Gamma|"));
  return fields;
}

std::vector<Field> features_fields(const char* kernel_help, const char* u_help) {
  std::vector<Field> fields = common_fields(kernel_help);
  const Field own[] = {
      above_zero("diameter", "of the ball of inputs; or a covering instead"),
      above_zero("radius", "of the balls of a covering"),
      above_zero("covering", "balls of that radius that cover the differences of the inputs"),
      count_field("outputs", kOptional, 1e9, "p"),
      above_zero("m", "at least E ||omega|| |A(omega)|, A the matrix of the spectral density"),
      above_zero("u", u_help),
      above_zero("v", "at least F times the largest |E (K~ - K)^2|"),
      number_field("intrinsic", kOptional, 1, kUnbounded,
                   "trace over norm of an upper bound of that variance; absent: 1")};
  fields.insert(fields.end(), std::begin(own), std::end(own));
  return fields;
}

}  // namespace

BoundEntry decomposable_bound_entry() {
  return {"decomposable", "a kernel k Gamma and its Fourier features over a ball",
          decomposable_fields(), answer_decomposable};
}

BoundEntry bounded_features_entry() {
  return {"bounded_features",
          "a kernel of several outputs and features of bounded norm: decomposable ones, fields "
          "with \"bounded\"",
          features_fields("gaussian, decomposable, curl_free or divergence_free of gaussian; or "
                          "outputs, m, u and v instead",
                          "at least sup |A| + sup |K|"),
          answer_features<false>};
}

BoundEntry unbounded_features_entry() {
  return {"unbounded_features",
          "the same of features of sub-exponential norm, as fields have them by default",
          features_fields("gaussian, decomposable, curl_free or divergence_free of gaussian; or "
                          "outputs, m, u and v instead",
                          "at least 4 (|| |A| ||_psi1 + sup |K|)"),
          answer_features<true>};
}

}  // namespace mercer::spec
