// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Jets, truncated power series in a few variables: derivatives of products of many factors, one
// factor after the other, without a division (Griewank, Walther 2008, chapter 13).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "kernel/kernel.h"

namespace mercer::kernel {

/// Coefficients of t^q, q <= p, one variable for each input of p. The last is that of t^p, which
/// times `factorial` is the derivative of order p.
struct Jet {
  static constexpr int64_t kMost = 1024;

  MultiIndex p;
  std::vector<int64_t> steps;  // in the list of coefficients, of each variable
  int64_t count = 1;
  double factorial = 1;

  /// UNSUPPORTED: more than kMost coefficients.
  explicit Jet(const MultiIndex& order) : p(order) {
    for (const PartialFactor& one : p) {
      steps.push_back(count);
      count *= one.order + 1;
      require(count <= kMost, MERCER_UNSUPPORTED,
              "a derivative of order %ld of a product has more than %ld coefficients, expected "
              "lower orders or fewer inputs in one multi-index",
              total_order(p), kMost);
      for (int64_t n = 2; n <= one.order; ++n) factorial *= static_cast<double>(n);
    }
    digits_.resize(count, 0);
    int place = 0;
    for (size_t v = 0; v < p.size(); ++v) {
      for (int64_t c = 0; c < count; ++c)
        digits_[c] |= static_cast<uint64_t>(exponent(v, c)) << place;
      place += std::bit_width(static_cast<uint64_t>(p[v].order));
      guards_ |= uint64_t{1} << place++;
    }
  }
  /// Exponent of variable v in coefficient c.
  int64_t exponent(size_t v, int64_t c) const noexcept { return c / steps[v] % (p[v].order + 1); }
  /// The order of the derivative that coefficient c stands for.
  MultiIndex order(int64_t c) const {
    MultiIndex q;
    for (size_t v = 0; v < p.size(); ++v)
      if (exponent(v, c) > 0) q.push_back({p[v].input, exponent(v, c)});
    return q;
  }
  /// Replaces the first jet by the product of both; they may be the same. Cost: count times the
  /// non-zero coefficients of the second.
  void multiply(double* product, const double* by) const noexcept {
    int64_t terms[kMost], some = 0;
    for (int64_t a = 0; a < count; ++a)
      if (by[a] != 0) terms[some++] = a;
    for (int64_t c = count - 1; c >= 0; --c) {
      double sum = 0;
      for (int64_t t = 0; t < some && terms[t] <= c; ++t)
        if (divides(terms[t], c)) sum += product[c - terms[t]] * by[terms[t]];
      product[c] = sum;
    }
  }
  /// a <= c in every variable.
  bool divides(int64_t a, int64_t c) const noexcept {
    const uint64_t left = digits_[c] | guards_;
    return ((left - digits_[a]) & guards_) == guards_;
  }
  /// binomial(c, a), the derivatives of orders a and c - a in that of order c of a product; a
  /// divides c.
  double binomial(int64_t c, int64_t a) const noexcept {
    double product = 1;
    for (size_t v = 0; v < p.size(); ++v) {
      const int64_t n = exponent(v, c), k = exponent(v, a);
      for (int64_t i = 1; i <= k; ++i)
        product *= static_cast<double>(n - k + i) / static_cast<double>(i);
    }
    return product;
  }

 private:
  // The exponents of a coefficient side by side, each below a bit of its own that a difference
  // borrows where it would be negative: 1,024 coefficients need 30 bits at most.
  std::vector<uint64_t> digits_;
  uint64_t guards_ = 0;
};

/// The derivative of order a in one variable and b in another of e^g over e^g itself, a + b <= 2
/// kMostDerivatives; g(i, j) is that of g. By Taylor coefficients: i E_ij is the sum of
/// r G_rs E_{i-r,j-s}.
template <class Slopes>
double exponential_slope(int64_t a, int64_t b, const Slopes& g) noexcept {
  constexpr int64_t kMost = (kMostDerivatives + 1) * (kMostDerivatives + 1);
  double E[kMost], G[kMost];
  const int64_t width = b + 1;
  double over_a = 1;  // 1/i!
  for (int64_t i = 0; i <= a; over_a /= static_cast<double>(++i)) {
    double over_b = over_a;
    for (int64_t j = 0; j <= b; over_b /= static_cast<double>(++j))
      G[i * width + j] = i + j == 0 ? 0 : g(i, j) * over_b;
  }
  E[0] = 1;
  for (int64_t i = 0; i <= a; ++i) {
    for (int64_t j = i == 0 ? 1 : 0; j <= b; ++j) {
      double sum = 0;
      for (int64_t r = 0; r <= i; ++r)
        for (int64_t s = 0; s <= j; ++s)
          if (const int64_t times = i > 0 ? r : s; times > 0)
            sum += static_cast<double>(times) * G[r * width + s] * E[(i - r) * width + j - s];
      E[i * width + j] = sum / static_cast<double>(i > 0 ? i : j);
    }
  }
  double factorials = E[a * width + b];
  for (int64_t i = 2; i <= a; ++i) factorials *= static_cast<double>(i);
  for (int64_t j = 2; j <= b; ++j) factorials *= static_cast<double>(j);
  return factorials;
}

// Derivatives of f(s(x, y)) where the derivatives of s end after the second: each is a sum of
// f^(n)(s), whose coefficients are those of a polynomial, a product over the inputs.

class SlopeSum {
 public:
  static constexpr int64_t kMost = 2 * kMostDerivatives;

  /// The coefficients so far times those of one input, terms[0], ..., terms[count]; all highest()
  /// together at most kMost.
  void multiply(const double* terms, int64_t count) noexcept {
    double product[kMost + 1] = {};
    for (int64_t a = 0; a <= highest_; ++a)
      for (int64_t b = 0; b <= count; ++b) product[a + b] += coefficients_[a] * terms[b];
    highest_ += count;
    std::copy_n(product, highest_ + 1, coefficients_);
  }
  int64_t highest() const noexcept { return highest_; }
  /// sum_n coefficient n times f[n]; terms with f[n] = 0 are left out.
  double at(const double* f) const noexcept {
    double sum = 0;
    for (int64_t n = 0; n <= highest_; ++n)
      if (f[n] != 0 && coefficients_[n] != 0) sum += coefficients_[n] * f[n];
    return sum;
  }

 private:
  double coefficients_[kMost + 1] = {1};
  int64_t highest_ = 0;
};

}  // namespace mercer::kernel
