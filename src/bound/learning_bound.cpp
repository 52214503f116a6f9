// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How many random features learn as well as the kernel itself. "ridge": Rudi, Rosasco 2017,
// theorems 1 to 3, and the condition on F_inf in their proof. "excess_risk": their theorem 7 with
// its constants. "kernel_pca": Sriperumbudur, Sterge 2018; Ullah, Mianjy, Marinov, Arora 2018.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "bound/bound.h"

namespace mercer::bound {
namespace {

constexpr double kMostRows = 9007199254740992;  // 2^53

/// What the proof asks for, with F = F_inf(lambda), N = N(lambda) and t = log(12 kappa^2/(lambda
/// delta)). For the empirical operator M >= (4 + 18 F) t. For r > 1/2 also the bias of M features,
/// at most lambda^{1/2} a^{2r - 1} b^{2 - 2r} times a constant, has to be at most lambda^r, where by
/// Bernstein's inequality a = ||(L + lambda)^{-1/2} (L - L_M)|| is of order (2 kappa^2 N t/M)^{1/2}
/// and b, with the root on both sides, of order (2 F t/M)^{1/2}: M >= c t X,
///   X = kappa^{2(2r - 1)} lambda^{1 - 2r} N^{2r - 1} F^{2 - 2r},
/// with c = 6.3 where M >= 18 F t makes the terms of second order small. At r = 1/2 X is F, so that
/// 18, which is more, serves both.
double asked_for(double r, double lambda, double kappa, double F, double N, double delta) {
  const double grown = std::pow(kappa * kappa * N / lambda, 2 * r - 1) * std::pow(F, 2 - 2 * r);
  return (4 + 18 * std::max(F, grown)) * std::log(12 * kappa * kappa / (lambda * delta));
}

/// The exponent of n in the number of features.
double features_exponent(double r, double gamma, double alpha) {
  return (alpha + (2 * r - 1) * (1 + gamma - alpha)) / (2 * r + gamma);
}

/// A number of features, or of landmarks.
void set_count(Parameters& asked, const char* key, double count) {
  require(count <= kMostRows, MERCER_UNSUPPORTED, "%s would be %g, expected at most 2^53", key,
          count);
  asked.set(key, static_cast<int64_t>(std::ceil(count)));
}

/// The share of N(lambda) by which N_M(lambda), the effective dimension of M features, is off
/// (proposition 10), where M is at least (4 + 18 F) log(12 kappa^2/(lambda delta)).
double change_of_dimension(double M, double F, double N, double delta) {
  const double q = 4 * F * std::log(6 / delta) / (3 * M);
  return q / N + std::sqrt(1.5 * q / N) +
         1.5 * std::pow(3 * q / std::sqrt(N) + std::sqrt(3 * q), 2);
}

void require_exponents(double gamma, double alpha) {
  require(alpha >= gamma, MERCER_INVALID_ARGUMENT, "alpha = %g, expected at least gamma, %g", alpha,
          gamma);
}

Parameters answer_ridge(Parameters asked) {
  const auto n = static_cast<double>(asked.integer("rows"));
  const double r = asked.number("r"), gamma = asked.number("gamma"), alpha = asked.number("alpha");
  require_exponents(gamma, alpha);
  const double lambda = std::pow(n, -1 / (2 * r + gamma));
  const double exponent = features_exponent(r, gamma, alpha);
  const bool known = asked.find("maximum_dimension") != nullptr;
  require(known == (asked.find("delta") != nullptr), MERCER_INVALID_ARGUMENT,
          "key \"delta\" %s \"maximum_dimension\", expected both or neither",
          known ? "is missing beside" : "without");
  const bool has_effective = asked.find("effective_dimension") != nullptr;
  require(known || !has_effective, MERCER_INVALID_ARGUMENT,
          "key \"effective_dimension\" without \"maximum_dimension\", expected both");
  if (known) {
    const double most = asked.number("maximum_dimension");
    const double effective = has_effective ? asked.number("effective_dimension") : most;
    require(
        effective <= most, MERCER_INVALID_ARGUMENT,
        "effective_dimension = %g, expected at most maximum_dimension, %g: it is a mean of what "
        "that is the largest of",
        effective, most);
    const double delta = asked.number("delta");
    set_count(asked, "frequencies",
              asked_for(r, lambda, asked.number("kappa"), most, effective, delta));
    if (has_effective)
      set_answer(asked, "dimension_change",
                 change_of_dimension(static_cast<double>(asked.integer("frequencies")), most,
                                     effective, delta));
  } else {
    set_count(asked, "frequencies", asked.number("constant") * std::pow(n, exponent) * std::log(n));
  }
  const double landmarks = asked.number("constant") * std::log(n);
  set_count(asked, "landmarks", landmarks / lambda);
  set_count(asked, "leverage_landmarks", landmarks * std::pow(lambda, -gamma));
  set_answer(asked, "lambda", lambda);
  set_answer(asked, "exponent", exponent);
  set_answer(asked, "rate", -2 * r / (2 * r + gamma));
  return asked;
}

/// The key's number; where absent, `always`, which holds with the exponent 1 alone.
double factor_of(const Parameters& asked, const char* key, const char* exponent, double always) {
  if (asked.find(key) != nullptr) return asked.number(key);
  require(asked.number(exponent) == 1, MERCER_INVALID_ARGUMENT,
          "key \"%s\" is missing beside %s = %g, expected it, or %s = 1", key, exponent,
          asked.number(exponent), exponent);
  return always;
}

// Theorem 7, for |y| <= b, which is its assumption 4 with sigma = B = 2 b. Its c0 has F nowhere else
// than beside Q, and is less than its own proof asks for where F is far above kappa^2: frequencies
// are the larger of both. In expectation the excess risk has what remains with probability delta
// added, at most (b + sup |f^|)^2, |f^| <= kappa ||w|| <= kappa b/(2 sqrt lambda).
struct Risk {
  double n, r, gamma, alpha, kappa, largest, b, R, delta, Q, F;
  double square = kappa * kappa, lambda = std::pow(n, -1 / (2 * r + gamma));

  explicit Risk(const Parameters& asked)
      : n(static_cast<double>(asked.integer("rows"))),
        r(asked.number("r")),
        gamma(asked.number("gamma")),
        alpha(asked.number("alpha")),
        kappa(asked.number("kappa")),
        largest(asked.number("largest_eigenvalue")),
        b(asked.number("target")),
        R(asked.number("norm")),
        delta(asked.number("delta")),
        Q(factor_of(asked, "effective_constant", "gamma", kappa)),
        F(factor_of(asked, "maximum_constant", "alpha", kappa * kappa)) {
    require_exponents(gamma, alpha);
    require(2 * r + gamma > 1, MERCER_UNSUPPORTED,
            "r = %g and gamma = %g, expected 2 r + gamma > 1", r, gamma);
    require(largest <= square, MERCER_INVALID_ARGUMENT,
            "largest_eigenvalue = %g, expected at most kappa^2, %g", largest, square);
  }

  double c0() const {
    const double of_source = std::pow(Q, 2 * r - 1) * std::pow(F, 2 - 2 * r);
    return 9 * (3 + 4 * square + 4 * square / largest + square / 4 * of_source);
  }
  double c1() const {
    const double largest_error = 2 * b + 2 * kappa * R,
                 deviation = 2 * b + 2 * kappa * std::sqrt(R);
    return 64 * std::pow(largest_error * kappa + deviation * Q + R, 2);
  }
  double n0() const {
    const double p = 1 / (2 * r + gamma - 1);
    const double log = std::log(556 * square * kappa * std::sqrt(p) / delta);
    return std::max(std::pow(2 / largest, (p + 1) / p), std::pow(264 * square * p * log, 1 + p));
  }
  double frequencies() const {
    const double printed = c0() * std::pow(n, features_exponent(r, gamma, alpha)) *
                           std::log(108 * square / (lambda * delta));
    return std::max(printed, asked_for(r, lambda, kappa, F * std::pow(lambda, -alpha),
                                       Q * Q * std::pow(lambda, -gamma), delta / 9));
  }
  double excess() const {
    return c1() * std::pow(std::log(18 / delta), 2) * std::pow(lambda, 2 * r);
  }
  double at_worst() const { return std::pow(b + kappa * b / (2 * std::sqrt(lambda)), 2); }
};

Parameters answer_excess_risk(Parameters asked) {
  const Risk of(asked);
  set_count(asked, "frequencies", of.frequencies());
  set_answer(asked, "lambda", of.lambda);
  set_answer(asked, "c0", of.c0());
  set_answer(asked, "c1", of.c1());
  set_answer(asked, "n0", of.n0());
  set_answer(asked, "excess_risk", of.excess());
  set_answer(asked, "expected", of.excess() + of.delta * of.at_worst());
  asked.set("holds", of.n >= of.n0());
  return asked;
}

constexpr const char* kDecays[] = {"polynomial", "exponential"};
constexpr const char* kAlgorithms[] = {"whole", "oja"};

Parameters answer_kernel_pca(Parameters asked) {
  const bool polynomial = asked.text("decay") == kDecays[0];
  const bool streams = asked.text("algorithm") == kAlgorithms[1];
  require(!streams || !polynomial, MERCER_UNSUPPORTED,
          "algorithm = \"oja\" beside decay = \"polynomial\", expected decay = \"exponential\"");
  const double exponent = polynomial ? 2.0 / 3 : 0.5;
  const auto n = static_cast<double>(asked.integer("rows"));
  set_count(asked, "frequencies",
            asked.number("constant") * std::pow(n, exponent) * (streams ? std::log(n) : 1));
  set_answer(asked, "exponent", exponent);
  return asked;
}

}  // namespace

BoundEntry kernel_pca_bound_entry() {
  return {"kernel_pca",
          "the number of random features on which kernel PCA is as good as with the kernel",
          {integer_field("rows", {}, 2, kMostRows, "n"),
           choice_field("decay", "polynomial", {std::begin(kDecays), std::end(kDecays)},
                        "how the kernel operator's eigenvalues fall"),
           choice_field("algorithm", "whole", {std::begin(kAlgorithms), std::end(kAlgorithms)},
                        "of all rows at once, or Oja's updates row by row"),
           number_above_field("constant", 1, 0, kUnbounded, "c in c n^exponent features")},
          answer_kernel_pca};
}

BoundEntry excess_risk_bound_entry() {
  Field delta = number_above_field("delta", 0.05, 0, 1, "it fails with this probability");
  return {
      "excess_risk",
      "the risk of ridge regression on random features above the kernel's best, in numbers",
      {integer_field("rows", {}, 2, kMostRows, "n"),
       required(optional_above_zero("target", "b: |y| <= b")),
       required(optional_above_zero("largest_eigenvalue", "of the kernel's operator L")),
       number_field("norm", 1, 1, kUnbounded,
                    "R: f = L^r g with |g| <= R; of r = 1/2 the norm of f in the kernel's space"),
       number_field("kappa", 1, 1, kUnbounded, "largest |psi|"),
       number_field("r", 0.5, 0.5, 1, "the source condition: smoothness of the target"),
       number_field("gamma", 1, 0, 1, "N(lambda) <= Q^2 lambda^-gamma"),
       optional_above_zero("effective_constant",
                           "Q; absent with gamma = 1 alone, where kappa serves"),
       number_field("alpha", 1, 0, 1, "F_inf(lambda) <= F lambda^-alpha"),
       optional_above_zero("maximum_constant",
                           "F; absent with alpha = 1 alone, where kappa^2 serves"),
       std::move(delta)},
      answer_excess_risk};
}

BoundEntry ridge_bound_entry() {
  Field delta = number_above_field("delta", kOptional, 0, 1, "it fails with this probability");
  return {"ridge",
          "the number of random features on which ridge regression learns at the kernel's own rate",
          {integer_field("rows", {}, 2, kMostRows, "n"),
           number_field("r", 0.5, 0.5, 1, "the source condition: smoothness of the target"),
           number_field("gamma", 1, 0, 1, "N(lambda) grows as lambda^-gamma"),
           number_field("alpha", 1, 0, 1, "F_inf(lambda) grows as lambda^-alpha; 1: always holds"),
           number_above_field("constant", 1, 0, kUnbounded, "c in c n^exponent log n features"),
           number_above_field("maximum_dimension", kOptional, 0, kUnbounded,
                              "F_inf(lambda), for what the proof asks for"),
           number_above_field("effective_dimension", kOptional, 0, kUnbounded,
                              "N(lambda), which counts where r > 1/2; absent: F_inf(lambda)"),
           std::move(delta),
           number_field("kappa", 1, 1, kUnbounded, "largest |psi|, beside maximum_dimension")},
          answer_ridge};
}

}  // namespace mercer::bound
