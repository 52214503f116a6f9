// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// An epsilon-net covers the differences of inputs: Bernstein's inequality for matrices (Minsker
// 2011; Tropp 2015) holds at its centres, Markov's inequality bounds the Lipschitz constant between
// them. Where the paper has the inequality at epsilon the net needs it at epsilon / 2; and its
// constant 8 sqrt(2) is below 4 d^{1/(d+1)} (1 + 1/d) 2^{d/(d+1)} for d = 2, 3, 4: 12 is above it
// for every d.
#include "statistic/operator_bound.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/log_gamma.h"
#include "base/numbers.h"
#include "linalg/blas.h"
#include "statistic/least_frequencies.h"

namespace mercer::statistic {
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

}  // namespace mercer::statistic
