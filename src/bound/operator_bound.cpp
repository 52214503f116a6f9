// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// An epsilon-net covers the differences of inputs: Bernstein's inequality for matrices (Minsker
// 2011; Tropp 2015) holds at its centres, Markov's inequality bounds the Lipschitz constant between
// them. Where the paper has the inequality at epsilon the net needs it at epsilon / 2; and its
// constant 8 sqrt(2) is below 4 d^{1/(d+1)} (1 + 1/d) 2^{d/(d+1)} for d = 2, 3, 4: 12 is above it
// for every d.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/context.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "bound/bound.h"
#include "kernel/kernel.h"
#include "kernel/matrix_kernel.h"
#include "linalg/blas.h"

namespace mercer::bound {
namespace {

/// E ||omega||^n for ||omega|| = chi_k / sigma.
double chi_moment(double k, double n, double sigma) {
  return std::exp(0.5 * n * std::log(2.0) + log_gamma((k + n) / 2) - log_gamma(k / 2)) /
         std::pow(sigma, n);
}

/// log(log(1 + x)), given log x.
double log_log1p(double log_x) {
  if (log_x < -40) return log_x;  // log(1 + x) = x
  return std::log(log_x > 40 ? log_x : std::log1p(std::exp(log_x)));
}

/// log of r_{v/F}(epsilon) = 1 + 3 / (epsilon log(1 + F epsilon / v))^2.
double log_remainder(const OperatorBoundQuestion& question, double F) {
  const double log_epsilon = std::log(question.epsilon / 2);
  const double log_x = std::log(F) + log_epsilon - std::log(question.constants.v);
  const double log_t = std::log(3.0) - 2 * (log_epsilon + log_log1p(log_x));
  return log_t > 40 ? log_t : std::log1p(std::exp(log_t));
}

/// -log of the exponential factor at a centre, sub-exponential A.
double exponential_rate(const OperatorBoundQuestion& question, double F) {
  const auto p = static_cast<double>(question.p);
  const OperatorConstants& of = question.constants;
  const double K = std::log(16 * std::sqrt(2.0) * p) + 2 * std::log(of.u) - std::log(of.v);
  const double epsilon = question.epsilon;
  return epsilon <= of.v / of.u * (1 + 1 / p) / K
             ? F / (8 * (1 + 1 / p)) * (epsilon / of.v) * epsilon
             : F / (8 * K) * (epsilon / of.u);
}

/// The same for bounded A; negative where the inequality does not hold.
double bounded_rate(const OperatorBoundQuestion& question, double F) {
  const OperatorConstants& of = question.constants;
  const double epsilon = question.epsilon;
  if (epsilon < 2 * std::sqrt(of.v / F) + 4 * of.u / (3 * F)) return -1;
  return F / 8 * (epsilon / (of.v / epsilon + of.u / 3));
}

/// 4 p_int exp(-rate) bounds P(lambda_max >= epsilon) (Minsker 2011; Tropp 2015, theorem 7.3.1).
/// The norm may also be at -lambda_min, so it needs 8 p_int, or the 2 p of the inequality without
/// intrinsic dimension. Nothing is added where 4 p_int >= 2 p, nor for decomposable kernels, whose
/// norms are those of numbers.
double intrinsic_of_norm(const OperatorBoundQuestion& question) {
  const double intrinsic = question.constants.intrinsic;
  if (!question.constants.of_any_matrix) return intrinsic;
  return std::min(2 * intrinsic, std::max(intrinsic, 0.5 * static_cast<double>(question.p)));
}

/// log(m |C|/epsilon). What holds over a ball holds over one inside it: where epsilon is above
/// m |C|, which the proofs of 28, 31 and 32 exclude, they are taken at the ball of diameter
/// epsilon/m.
double log_ball(double log_m, double diameter, double epsilon) {
  return std::max(0.0, log_m + std::log(diameter) - std::log(epsilon));
}

/// The best radius for a ball, from a r + b r^{-d}.
double over_a_ball(const OperatorBoundQuestion& question, double log_many, double rate) {
  if (rate < 0) return kInfinity;
  const double power = 1 / static_cast<double>(question.d + 1);
  const double ball = log_ball(std::log(question.constants.m), question.diameter, question.epsilon);
  return std::exp(std::log(12.0) + ball + power * (log_many - rate));
}

double over_a_covering(const OperatorBoundQuestion& question, double log_many, double rate) {
  if (rate < 0) return kInfinity;
  const double within =
      std::log(question.radius) + std::log(question.constants.m) - std::log(question.epsilon);
  return 4 * (std::exp(within) + std::exp(log_many + std::log(question.covering) - rate));
}

}  // namespace

double squared_norm_psi1(int64_t d, double sigma) {
  return 2 / (sigma * sigma * -std::expm1(-std::log(4.0) / static_cast<double>(d)));
}

OperatorConstants gaussian_constants(const GaussianOperator& of, bool exponential) {
  const auto d = static_cast<double>(of.d);
  const double s2 = of.sigma * of.sigma, log2 = std::log(2.0);
  OperatorConstants constants;
  double largest = 0, kernel = of.norm, psi1 = of.norm / log2;  // sup |A|, |K(0)|, of |A|
  if (of.kind == GaussianOperator::Kind::decomposable) {
    largest = of.norm;
    constants = {of.norm * chi_moment(d, 1, of.sigma), 0, of.norm * of.norm, of.intrinsic, false};
  } else {
    require(of.bounded || exponential, MERCER_UNSUPPORTED,
            "unbounded form: |A(omega)| has no largest value, expected the bounded form, or "
            "corollary 31 or proposition 46");
    // E A = |K(0)| I; A^2 = ||omega||^2 A, or sup |A| A in the bounded form.
    kernel = of.norm * (of.kind == GaussianOperator::Kind::curl_free ? 1 : d - 1) / s2;
    largest = of.norm * d / s2;
    psi1 = of.bounded ? largest / log2 : of.norm * squared_norm_psi1(of.d, of.sigma);
    const double m = of.bounded ? largest * chi_moment(d + 2, 1, of.sigma)
                                : of.norm * chi_moment(d, 3, of.sigma);
    const double v = of.norm * kernel * (of.bounded ? d : d + 2) / s2;
    constants = {m, 0, v, d};
  }
  constants.u = exponential ? 4 * (psi1 + kernel) : largest + kernel;
  return constants;
}

double corollary28(int64_t d, double s, double norm, double diameter, double epsilon, double F) {
  const double ratio = epsilon / norm;
  return std::exp(std::log(256.0) + 2 * log_ball(std::log(norm) + std::log(s), diameter, epsilon) -
                  F / (4 * static_cast<double>(d + 2)) * ratio * ratio);
}

double corollary31(const OperatorBoundQuestion& question, double F) {
  return over_a_ball(question, std::log(question.constants.intrinsic) + log_remainder(question, F),
                     exponential_rate(question, F));
}

double corollary32(const OperatorBoundQuestion& question, double F) {
  return over_a_ball(question, std::log(intrinsic_of_norm(question)), bounded_rate(question, F));
}

double proposition46(const OperatorBoundQuestion& question, double F) {
  return over_a_covering(question,
                         std::log(question.constants.intrinsic) + log_remainder(question, F),
                         exponential_rate(question, F));
}

double proposition47(const OperatorBoundQuestion& question, double F) {
  return over_a_covering(question, std::log(intrinsic_of_norm(question)),
                         bounded_rate(question, F));
}

int64_t least_frequencies(const std::function<double(double F)>& bound, double delta) {
  return least_where([&](int64_t F) { return bound(static_cast<double>(F)) <= delta; }, "delta",
                     delta);
}

Matrix<double> proposition33(const VarianceBoundParts& parts, double F) {
  using linalg::Transpose;
  const int64_t p = parts.at_tau.rows;
  Matrix<double> sum(p, p), product(p, p), result(p, p);
  for (int64_t i = 0; i < p; ++i)
    for (int64_t j = 0; j < p; ++j) {
      sum(i, j) = parts.at_twice(i, j) + parts.at_zero(i, j);
      result(i, j) = 2 * parts.variance(i, j);
    }
  linalg::multiply(1.0, Transpose::no, sum.view(), Transpose::no, parts.mean, 0.0, product.view());
  for (int64_t i = 0; i < p; ++i)  // they commute where axes have one lengthscale alone
    for (int64_t j = 0; j < p; ++j) result(i, j) += 0.5 * (product(i, j) + product(j, i));
  linalg::multiply(-2.0, Transpose::no, parts.at_tau, Transpose::no, parts.at_tau, 1.0,
                   result.view());
  for (int64_t i = 0; i < p; ++i)
    for (int64_t j = 0; j <= i; ++j)  // exactly symmetric, whatever rounding
      result(i, j) = result(j, i) = 0.5 * (result(i, j) + result(j, i)) / (2 * F);
  return result;
}

// (1/2F) ((K(2 tau) + K(0)) E A - 2 K(tau)^2 + 2 Var A): E A = K(0), and Var A is F times the exact
// variance at tau = 0, where all cosines are 1. If there is one A, the two sides of the proposition
// are equal (the report, section 4.4.1); then K(2 tau), which kernels that warp their inputs do not
// have, is not needed.

void operator_variance_bound(const feature::FieldMap& map, MatrixView<const double> X,
                             MatrixView<const double> Y, Context& context, MatrixView<double> out) {
  if (map.shared_root().rows > 0) return map.variances(X, Y, context, out);
  const int64_t d = map.inputs(), p = map.outputs();
  const auto F = static_cast<double>(map.scalar().features() / 2);
  const Matrix<double> zero(1, d), tau(1, d), twice(1, d), spread(1, p * p);
  zero.fill(0);
  map.variances(zero.view(), zero.view(), context, spread.view());
  for (int64_t at = 0; at < p * p; ++at) spread.data()[at] *= F;
  const kernel::Kernel& kernel = map.kernel();
  const Matrix<double> at_zero(p, p), at_tau(p, p), at_twice(p, p);
  kernel::gram(kernel, zero.view(), zero.view(), context, at_zero.view());
  Stage stage(context, X.rows);
  for (int64_t i = 0; i < X.rows; ++i) {
    for (int64_t k = 0; k < d; ++k) {
      tau(0, k) = X(i, k) - Y(i, k);
      twice(0, k) = 2 * tau(0, k);
    }
    kernel::gram(kernel, tau.view(), zero.view(), context, at_tau.view());
    kernel::gram(kernel, twice.view(), zero.view(), context, at_twice.view());
    const Matrix<double> bound = proposition33(
        {at_tau.view(), at_twice.view(), at_zero.view(), at_zero.view(), {spread.data(), p, p}}, F);
    std::copy_n(bound.data(), p * p, out.row(i));
    stage.advance(1);
    context.checkpoint();
  }
}

// The entries: the corollaries, or, with the caller's covering, the propositions they follow from.

namespace {

using Bound = double (*)(const OperatorBoundQuestion& question, double F);

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
      scalar.traits().is_gaussian && scalar.lengthscale().size() == 1, MERCER_UNSUPPORTED,
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
  require(value > 0, MERCER_INVALID_ARGUMENT,
          "%s of the kernel is %g, expected a number > 0: its lengthscale is too extreme", key,
          value);
  set_answer(asked, key, value);
}

/// "frequencies" and "delta": one is given, both are answered.
template <class BoundOf>
Parameters with_frequencies(Parameters asked, const BoundOf& bound) {
  const int64_t F = is_first_given(asked, "frequencies", "delta")
                        ? asked.integer("frequencies")
                        : least_frequencies(bound, asked.number("delta"));
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
  return with_frequencies(std::move(asked),
                          [=](double F) { return corollary28(d, s, norm, diameter, epsilon, F); });
}

/// m, u, v, intrinsic and outputs, from the kernel if there is one.
OperatorConstants take_constants(Parameters& asked, bool exponential) {
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
      gaussian_constants(gaussian_operator(*kernel, d, !exponential), exponential);
  set_constant(asked, "m", constants.m);
  set_constant(asked, "u", constants.u);
  set_constant(asked, "v", constants.v);
  set_constant(asked, "intrinsic", constants.intrinsic);
  return constants;
}

template <bool kExponential>
Parameters answer_features(Parameters asked) {
  OperatorBoundQuestion question;
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
  const Bound bound =
      kExponential ? (ball ? corollary31 : proposition46) : (ball ? corollary32 : proposition47);
  return with_frequencies(std::move(asked), [&](double F) { return bound(question, F); });
}

std::vector<Field> common_fields(const char* kernel_help) {
  std::vector<Field> fields = {bound_kernel_field(kernel_help)};
  for (Field& field : bound_size_fields()) fields.push_back(std::move(field));
  fields.push_back(
      required(optional_above_zero("epsilon", "the error of the kernel, in the operator norm")));
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
  fields.push_back(required(optional_above_zero("diameter", "of the ball of inputs")));
  fields.push_back(optional_above_zero("s", "(E ||omega||^2)^{1/2}"));
  fields.push_back(optional_above_zero("norm", "|Gamma|"));
  return fields;
}

std::vector<Field> features_fields(const char* kernel_help, const char* u_help) {
  std::vector<Field> fields = common_fields(kernel_help);
  const Field own[] = {
      optional_above_zero("diameter", "of the ball of inputs; or a covering instead"),
      optional_above_zero("radius", "of the balls of a covering"),
      optional_above_zero("covering",
                          "balls of that radius that cover the differences of the inputs"),
      count_field("outputs", kOptional, 1e9, "p"),
      optional_above_zero("m",
                          "at least E ||omega|| |A(omega)|, A the matrix of the spectral density"),
      optional_above_zero("u", u_help),
      optional_above_zero("v", "at least F times the largest |E (K~ - K)^2|"),
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

}  // namespace mercer::bound
