// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How many random features learn as well as the kernel itself. "ridge": Rudi, Rosasco 2017, theorems
// 1 to 3, and the condition on F_inf in their proof. "kernel_pca": Sriperumbudur, Sterge 2018.
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

void set_frequencies(Parameters& asked, double frequencies) {
  require(frequencies <= kMostRows, MERCER_UNSUPPORTED,
          "frequencies would be %g, expected at most 2^53", frequencies);
  asked.set("frequencies", static_cast<int64_t>(std::ceil(frequencies)));
}

Parameters answer_ridge(Parameters asked) {
  const auto n = static_cast<double>(asked.integer("rows"));
  const double r = asked.number("r"), gamma = asked.number("gamma"), alpha = asked.number("alpha");
  require(alpha >= gamma, MERCER_INVALID_ARGUMENT, "alpha = %g, expected at least gamma, %g", alpha,
          gamma);
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
    set_frequencies(
        asked, asked_for(r, lambda, asked.number("kappa"), most, effective, asked.number("delta")));
  } else {
    set_frequencies(asked, asked.number("constant") * std::pow(n, exponent) * std::log(n));
  }
  set_answer(asked, "lambda", lambda);
  set_answer(asked, "exponent", exponent);
  set_answer(asked, "rate", -2 * r / (2 * r + gamma));
  return asked;
}

constexpr const char* kDecays[] = {"polynomial", "exponential"};

Parameters answer_kernel_pca(Parameters asked) {
  const double exponent = asked.text("decay") == kDecays[0] ? 2.0 / 3 : 0.5;
  const auto n = static_cast<double>(asked.integer("rows"));
  set_frequencies(asked, asked.number("constant") * std::pow(n, exponent));
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
           number_above_field("constant", 1, 0, kUnbounded, "c in c n^exponent features")},
          answer_kernel_pca};
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
