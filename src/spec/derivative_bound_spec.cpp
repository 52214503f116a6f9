// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// "derivative": bounds the error of inner products of feature derivatives as kernel derivatives
// (statistic/derivative_bound.h).
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "spec/bound_spec.h"
#include "statistic/derivative_bound.h"

namespace mercer::spec {
namespace {

Field orders_field(const char* key, const char* help) {
  return {.key = key,
          .type = FieldType::numbers,
          .fallback = kOptional,
          .least = 0,
          .most = static_cast<double>(kernel::kMostDerivatives),
          .help = help};
}

/// The orders of a derivative; without the key that of the value itself.
kernel::MultiIndex orders_of(const Parameters& asked, const char* key, int64_t d) {
  kernel::MultiIndex index;
  if (asked.find(key) == nullptr) return index;
  const std::vector<double> orders = asked.numbers(key);
  require(std::ssize(orders) == d, MERCER_DIMENSION_MISMATCH,
          "%s has %zu orders, expected %ld, one for each input", key, orders.size(), d);
  for (int64_t k = 0; k < d; ++k) {
    const double order = orders[k];
    require(order == std::floor(order), MERCER_INVALID_ARGUMENT,
            "%s[%ld] = %g, expected an integer", key, k, order);
    if (order > 0) index.push_back({k, static_cast<int64_t>(order)});
  }
  return index;
}

double number_or(const Parameters& asked, const char* key, double otherwise) {
  return asked.find(key) != nullptr ? asked.number(key) : otherwise;
}

Parameters answer(Parameters asked) {
  const auto kernel = bound_kernel(asked);
  const int64_t d = asked.integer("inputs");
  const kernel::MultiIndex order =
      kernel::sum_of(orders_of(asked, "p", d), orders_of(asked, "q", d));
  const auto constants = statistic::spectral_constants(*kernel, d, order);
  const double bernstein = number_or(asked, "bernstein", constants.bernstein);
  require(bernstein >= constants.bernstein, MERCER_INVALID_ARGUMENT,
          "bernstein = %g, expected at least the least K, %g", bernstein, constants.bernstein);
  const statistic::BoundQuestion question{d, asked.number("diameter"), asked.number("delta"),
                                          number_or(asked, "norm", 0), bernstein};
  const int64_t F =
      is_first_given(asked, "frequencies", "epsilon")
          ? asked.integer("frequencies")
          : statistic::least_frequencies(*kernel, constants, question, asked.number("epsilon"));
  asked.set("frequencies", F);
  set_answer(asked, "epsilon", statistic::derivative_bound(*kernel, constants, question, F));
  set_answer(asked, "bernstein", bernstein);
  set_answer(asked, "sigma", constants.sigma);
  set_answer(asked, "ratio", constants.ratio);
  if (asked.find("moment") != nullptr)
    set_answer(asked, "moment_ratio",
               statistic::moment_ratio(*kernel, order, asked.integer("moment")));
  return asked;
}

}  // namespace

BoundEntry derivative_bound_entry() {
  std::vector<Field> fields = {
      required(bound_kernel_field("gaussian, or generalized_gaussian_spectrum")),
      orders_field("p", "orders of the derivative in each entry of x; absent: 0"),
      orders_field("q", "the same in y"),
      required(number_above_field("diameter", kOptional, 0, kUnbounded,
                                  "the largest distance of two inputs in the set")),
      {.key = "delta",
       .type = FieldType::number,
       .fallback = {},
       .least = 0,
       .most = 1,
       .least_open = true,
       .help = "the bound fails with this probability at most"},
      number_above_field("epsilon", kOptional, 0, kUnbounded,
                         "the bound asked for; answered: the one with these frequencies"),
      number_field("norm", kOptional, 1, kUnbounded, "r of L^r; absent: uniform"),
      number_field("bernstein", kOptional, 1, kUnbounded,
                   "K of Bernstein's condition; absent: the least"),
      integer_field("moment", kOptional, 2, 1e9, "n of moment_ratio, E |omega^{p+q}|^n / sigma^n")};
  const std::vector<Field> sizes = bound_size_fields();
  fields.insert(fields.begin() + 1, sizes.begin(), sizes.end());
  return {"derivative", "|phi_p(x)'phi_q(y) - d^{p,q} k(x, y)| over a set, for Fourier features",
          std::move(fields), answer};
}

}  // namespace mercer::spec
