// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// "ridge": how many random features learn as well as the kernel itself (Rudi, Rosasco 2017,
// theorems 1 to 3, and the condition on F_inf in their proof).
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "spec/bound_spec.h"

namespace mercer::spec {
namespace {

constexpr double kMostRows = 9007199254740992;  // 2^53

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
          "\"delta\" %s \"maximum_dimension\", expected both or neither",
          known ? "is missing beside" : "without");
  if (known) {
    const double kappa = asked.number("kappa");
    set_frequencies(asked, (4 + 18 * asked.number("maximum_dimension")) *
                               std::log(12 * kappa * kappa / (lambda * asked.number("delta"))));
  } else {
    set_frequencies(asked, asked.number("constant") * std::pow(n, exponent) * std::log(n));
  }
  set_answer(asked, "lambda", lambda);
  set_answer(asked, "exponent", exponent);
  set_answer(asked, "rate", -2 * r / (2 * r + gamma));
  return asked;
}

}  // namespace

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
           std::move(delta),
           number_field("kappa", 1, 1, kUnbounded, "largest |psi|, beside maximum_dimension")},
          answer_ridge};
}

}  // namespace mercer::spec
