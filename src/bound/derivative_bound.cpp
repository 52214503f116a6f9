// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With u of density proportional to exp(-u^{2q}), E|u|^s = Gamma((s+1)/2q) / Gamma(1/2q);
// coordinates are independent, so that moments of omega^p are products. The L^r form has
// sqrt(d ln(...)) as the theorem, not the remark's sqrt(2d ln(...)).
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "bound/bound.h"

namespace mercer::bound {
namespace {

constexpr double kPi = 3.14159265358979323846;
// Bernstein's condition is checked for each of so many moments; beyond, in steps of 1 %, and then
// one by one about the largest.
constexpr int64_t kMostMoment = 400;
constexpr int64_t kLastMoment = int64_t{1} << 40;

kernel::EvenPowerSpectrum spectrum_of(const kernel::Kernel& kernel) {
  const auto spectrum = kernel.traits().even_power_spectrum;
  require(spectrum.has_value(), MERCER_UNSUPPORTED,
          "kernel %s has no bound of its derivatives, expected gaussian or "
          "generalized_gaussian_spectrum",
          std::string(kernel.name()).c_str());
  return *spectrum;
}

/// log E|u|^s.
double log_moment(double s, int64_t q) {
  const double width = 2 * static_cast<double>(q);
  return log_gamma((s + 1) / width) - log_gamma(1 / width);
}

/// log E |u^order|^n.
double log_moment(const kernel::MultiIndex& order, int64_t n, int64_t q) {
  double sum = 0;
  for (const kernel::PartialFactor& factor : order)
    sum += log_moment(static_cast<double>(factor.order * n), q);
  return sum;
}

double log_ratio(const kernel::MultiIndex& order, int64_t n, int64_t q) {
  return log_moment(order, n, q) - 0.5 * static_cast<double>(n) * log_moment(order, 2, q);
}

/// log (2 A_n / n!)^{1/(n-2)}.
double log_root(const kernel::MultiIndex& order, int64_t n, int64_t q) {
  const double excess =
      std::log(2.0) + log_ratio(order, n, q) - log_gamma(static_cast<double>(n) + 1);
  return excess / static_cast<double>(n - 2);
}

/// The largest over n >= 3. For total orders just below 2q it lies far out: for 31 of order 16, in
/// as many inputs, at n = 3,450.
double largest_log_root(const kernel::MultiIndex& order, int64_t q) {
  int64_t best = 3;
  double largest = log_root(order, best, q);
  const auto look_at = [&](int64_t n) {
    const double root = log_root(order, n, q);
    if (root <= largest) return;
    best = n;
    largest = root;
  };
  for (int64_t n = 4; n < kLastMoment; n += n < kMostMoment ? 1 : n / 100) look_at(n);
  for (int64_t step = best / 100; step > 0 && best > kMostMoment; step /= 2) {
    look_at(best + step);
    look_at(best - step);
  }
  return largest;
}

/// sup_n (2 A_n / n!)^{1/(n-2)}, at least 1. As n grows the root tends to 0 for total orders below
/// 2q, and to exp(sum_k rho_k log rho_k) / sigma, rho_k = order_k / 2q, for 2q (Stirling).
double least_bernstein(const kernel::MultiIndex& order, int64_t q) {
  double largest = std::max(0.0, largest_log_root(order, q));
  if (kernel::total_order(order) == 2 * q) {
    double limit = -0.5 * log_moment(order, 2, q);
    for (const kernel::PartialFactor& factor : order) {
      const double rho = static_cast<double>(factor.order) / static_cast<double>(2 * q);
      limit += rho * std::log(rho);
    }
    largest = std::max(largest, limit);
  }
  return std::exp(largest);
}

double lengthscale_of(const kernel::Kernel& kernel, int64_t k) {
  const auto lengthscale = kernel.lengthscale();
  return lengthscale[lengthscale.size() == 1 ? 0 : static_cast<size_t>(k)];
}

}  // namespace

double moment_ratio(const kernel::Kernel& kernel, const kernel::MultiIndex& order, int64_t n) {
  return std::exp(log_ratio(order, n, spectrum_of(kernel).order));
}

SpectralConstants spectral_constants(const kernel::Kernel& kernel, int64_t d,
                                     const kernel::MultiIndex& order) {
  const kernel::EvenPowerSpectrum spectrum = spectrum_of(kernel);
  kernel.check_dimension(d);
  const int64_t q = spectrum.order, total = kernel::total_order(order);
  require(
      total <= 2 * q, MERCER_UNSUPPORTED,
      "|p| + |q| = %ld of kernel %s, expected at most %ld: beyond, A_n grows faster than any n! "
      "K^n, Bernstein's condition does not hold, and there is no bound, uniform or of L^r",
      total, std::string(kernel.name()).c_str(), 2 * q);
  double log_sigma = 0.5 * log_moment(order, 2, q), squares = 0;
  auto factor = order.begin();
  for (int64_t k = 0; k < d; ++k) {
    const bool differentiated = factor != order.end() && factor->input == k;
    const double n = differentiated ? static_cast<double>(factor->order) : 0.0;
    const double unit = spectrum.scale / lengthscale_of(kernel, k);
    log_sigma += n * std::log(unit);
    squares += unit * unit * std::exp(log_moment(2 * n + 2, q) - log_moment(2 * n, q));
    if (differentiated) ++factor;
  }
  return {std::exp(log_sigma), std::sqrt(squares), least_bernstein(order, q)};
}

double derivative_bound(const kernel::Kernel& kernel, const SpectralConstants& constants,
                        const BoundQuestion& question, int64_t F) {
  const double m = static_cast<double>(F), d = static_cast<double>(question.d);
  const double log2 = std::log(2.0), K = question.bernstein, t = log2 - std::log(question.delta);
  const double C1 = 14 * std::sqrt(6 * log2) + 1, C2 = 36 * K * (log2 + 1);
  const double C3 = 7 * std::sqrt(6.0) * (1 + std::sqrt(kPi) / std::pow(log2, 1.5));
  const double log_reach = std::log(16.0) + std::log(question.diameter) + std::log(constants.ratio);
  const double log_cover = log_reach > 40 ? log_reach : std::log(std::exp(log_reach) + 4);
  const double entropy = std::sqrt(d * log_cover);
  const double L = std::sqrt(6.0) * K / (2 * std::sqrt(m));
  const double deviation = 24 * std::sqrt(6.0) * (std::sqrt(t) + 0.5 * L * t);
  const double uniform = kernel.variance() * constants.sigma *
                         ((C3 * entropy + C1 + deviation) / std::sqrt(m) + C2 / m);
  if (question.norm == 0) return uniform;
  const double log_volume =
      d * (std::log(std::sqrt(kPi) / 2) + std::log(question.diameter)) - log_gamma(0.5 * d + 1);
  return std::exp(std::log(uniform) + 2 / question.norm * log_volume);
}

int64_t least_frequencies(const kernel::Kernel& kernel, const SpectralConstants& constants,
                          const BoundQuestion& question, double epsilon) {
  return least_where(
      [&](int64_t F) { return derivative_bound(kernel, constants, question, F) <= epsilon; },
      "epsilon", epsilon);
}

// The entry "derivative": the error of inner products of feature derivatives as kernel derivatives.

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
  const auto constants = spectral_constants(*kernel, d, order);
  const double bernstein = number_or(asked, "bernstein", constants.bernstein);
  require(bernstein >= constants.bernstein, MERCER_INVALID_ARGUMENT,
          "bernstein = %g, expected at least the least K, %g", bernstein, constants.bernstein);
  const BoundQuestion question{d, asked.number("diameter"), asked.number("delta"),
                               number_or(asked, "norm", 0), bernstein};
  const int64_t F = is_first_given(asked, "frequencies", "epsilon")
                        ? asked.integer("frequencies")
                        : least_frequencies(*kernel, constants, question, asked.number("epsilon"));
  asked.set("frequencies", F);
  set_answer(asked, "epsilon", derivative_bound(*kernel, constants, question, F));
  set_answer(asked, "bernstein", bernstein);
  set_answer(asked, "sigma", constants.sigma);
  set_answer(asked, "ratio", constants.ratio);
  if (asked.find("moment") != nullptr)
    set_answer(asked, "moment_ratio", moment_ratio(*kernel, order, asked.integer("moment")));
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

}  // namespace mercer::bound
