// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of inputs on circles, one circle for each: periodic and spline. Their spectral laws have
// independent coordinates 2 pi n / period, n whole, with the coefficients of their Fourier series as
// probabilities, which are all positive.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "kernel/entry.h"
#include "kernel/jet.h"
#include "kernel/stationary.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

constexpr double kTurn = 6.28318530717958647693;

/// P(N > n) of a random integer N, symmetric about 0.
struct Tail {
  std::vector<double> above;  // for n = 0, 1, ...
  // Beyond the list scale (n + 1/2)^-power; power 0: nothing.
  double scale = 0, power = 0;
};

/// Coordinates 2 pi N.
class LatticeLaw final : public random::Law {
 public:
  explicit LatticeLaw(Tail tail) : tail_(std::move(tail)) {}
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    random::fill_uniform(stream, 0, omega);
    for (double& w : omega) w = quantile(w);
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return true; }
  double quantile(double u) const noexcept override {
    return u < 0.5 ? -kTurn * magnitude(u) : kTurn * magnitude(1 - u);
  }

 private:
  /// The n with P(N > n) < u <= P(N >= n), u <= 1/2.
  double magnitude(double u) const noexcept {
    const std::vector<double>& above = tail_.above;
    const auto found =
        std::partition_point(above.begin(), above.end(), [u](double mass) { return mass >= u; });
    if (found != above.end() || tail_.power == 0)
      return static_cast<double>(std::min(found - above.begin(), std::ssize(above) - 1));
    return std::ceil(random::portable_pow(tail_.scale / u, 1 / tail_.power) - 0.5);
  }

  Tail tail_;
};

/// The tail where P(n) is proportional to weights[n] = weights[-n]; `beyond` is their sum after the
/// last.
Tail tail_of(const std::vector<double>& weights, double beyond = 0, double scale = 0,
             double power = 0) {
  Tail tail{std::vector<double>(weights.size()), scale, power};
  double sum = beyond;
  for (size_t n = weights.size(); n-- > 0;) {
    tail.above[n] = sum;
    if (n > 0) sum += weights[n];
  }
  const double whole = weights[0] + 2 * sum;
  for (double& mass : tail.above) mass /= whole;
  tail.scale /= whole;
  return tail;
}

/// (x - y)/p less the nearest whole number, also where the difference or quotient overflows.
double part_of_turn(double x, double y, double inverse) noexcept {
  double t = (x - y) * inverse;
  if (!std::isfinite(t))
    t = (std::remainder(x, 1 / inverse) - std::remainder(y, 1 / inverse)) * inverse;
  return t - std::rint(t);
}

// k(tau) = exp(-2 sum_j sin^2(pi tau_j / p_j) / width^2) (MacKay 1998). With c = 1/width^2 a factor
// is exp(c (cos(2 pi t) - 1)), t = tau / p, whose series is e^{-c} (I_0(c) + 2 sum_n I_n(c) cos(2
// pi n t)) with modified Bessel functions I_n.

/// I_n(c) / I_0(c), n = 0, 1, ..., until they are below 1e-20, by I_n/I_{n-1} = 1/(2n/c +
/// I_{n+1}/I_n) from the last n back, which is stable and does not overflow.
std::vector<double> bessel_ratios(double c) {
  const auto count = static_cast<int64_t>(10 * std::sqrt(c)) + 40;
  std::vector<double> ratio(count, 1.0);
  double next = 0;
  for (int64_t n = count - 1; n > 0; --n)
    ratio[n] = next = 1 / (2 * static_cast<double>(n) / c + next);
  for (int64_t n = 1; n < count; ++n) ratio[n] *= ratio[n - 1];
  return ratio;
}

class Periodic final : public SpectralKernel<Periodic, Sum, LatticeLaw> {
 public:
  explicit Periodic(const Parameters& canonical)
      : Periodic(canonical, canonical.number("width") * canonical.number("width")) {}
  double term(double x, double y, double scale) const noexcept {
    const double sine = std::sin(0.5 * kTurn * part_of_turn(x, y, scale));
    return sine * sine;
  }
  double finish(double squares) const noexcept { return std::exp(log_finish(squares)); }
  double log_finish(double squares) const noexcept { return -2 * concentration_ * squares; }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  double derivative(const MultiIndex& order, int64_t d, const double* x,
                    const double* y) const noexcept override {
    double product = value(d, x, y);
    for (const PartialFactor& one : order) {
      if (product == 0) return 0;
      const double t = part_of_turn(x[one.input], y[one.input], inverse(one.input));
      product *= exponential_slope(one.order, 0, [&](int64_t n, int64_t) { return slope(n, t); });
      for (int64_t n = 0; n < one.order; ++n) product *= kTurn * inverse(one.input);
    }
    return product;
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const double k = factor * value(d, x, y);
    for (int64_t j = 0; j < d; ++j)
      out[j] += k * slope(1, part_of_turn(x[j], y[j], inverse(j))) * (kTurn * inverse(j));
  }

 private:
  Periodic(const Parameters& canonical, double square)
      : SpectralKernel(canonical, tail_of(bessel_ratios(1 / square))), concentration_(1 / square) {}
  /// d^n/da^n of c cos(a), n >= 1, at a = 2 pi t, |t| <= 1/2.
  double slope(int64_t n, double t) const noexcept {
    const double angle = kTurn * t;
    const double size = n % 4 == 1 || n % 4 == 2 ? -concentration_ : concentration_;
    return size * (n % 2 == 1 ? std::sin(angle) : std::cos(angle));
  }

  double concentration_;
};

// k(tau) = prod_j L(tau_j / p_j) / L(0), L(t) = 1 + 2 sum_{n >= 1} cos(2 pi n t) / n^q (Rudi, Rosasco
// 2017, section 5; even q: Wahba 1990, section 2.1). With a = 2 pi |t|, |t| <= 1/2, half of the sum
// is the real part of the polylogarithm of e^{ia}, sum_j (-1)^j zeta(q - 2j) a^{2j} / (2j)! without
// 2j = q - 1, and beside it
//   for even q  (-1)^{q/2} (pi/2) a^{q-1} / (q-1)!
//   for odd q   (-1)^{(q-1)/2} (1 + 1/2 + ... + 1/(q-1) - log a) a^{q-1} / (q-1)!
// Of even q it ends at 2j = q, since zeta is 0 at negative even numbers: a Bernoulli polynomial. Of
// odd q the terms after that are, by Riemann's reflection of zeta, 2 (q-1)! zeta(2r) t^{2r} /
// (2r (2r + 1) ... (2r + q - 1)) times (-1)^{(q-1)/2} a^{q-1} / (q-1)!: 28 of them leave out 1e-19 of
// L(0).
constexpr int64_t kMostSplineOrder = 32;

/// sum_{m > n} m^-q: an integral from n + 1/2 on by the midpoint rule and its corrections, for n >=
/// 63 to 1e-16 of L(0).
double power_tail(int64_t q, int64_t n) noexcept {
  const auto s = static_cast<double>(q);
  const double from = static_cast<double>(n) + 0.5, square = 1 / (from * from);
  const double second = s * (s - 1) * square, fourth = (s + 1) * (s + 2) * square,
               sixth = (s + 3) * (s + 4) * square;
  return random::portable_pow(from, 1 - s) / (s - 1) *
         (1 - second * (1.0 / 24 - fourth * (7.0 / 5760 - sixth * (31.0 / 967680))));
}

double zeta(int64_t q) noexcept {
  constexpr int64_t kTerms = 63;
  double sum = power_tail(q, kTerms);
  for (int64_t n = kTerms; n > 0; --n)
    sum += std::pow(static_cast<double>(n), -static_cast<double>(q));
  return sum;
}

/// 1 and n^-q for n = 1, 2, ..., to 1024 or to what is below rounding.
std::vector<double> powers(int64_t q) {
  std::vector<double> all{1};
  for (int64_t n = 1; n <= 1024 && all.back() > 1e-20; ++n) {
    all.push_back(1);
    for (int64_t i = 0; i < q; ++i) all.back() /= static_cast<double>(n);
  }
  return all;
}

Tail power_law(int64_t q) {
  const std::vector<double> listed = powers(q);
  const auto power = static_cast<double>(q - 1);
  return tail_of(listed, power_tail(q, std::ssize(listed) - 1), 1 / power, power);
}

/// 2 (2 pi)^m / m!, negative where i^m is -1 or -i.
double exponential_term(int64_t m) noexcept {
  double term = m % 4 < 2 ? 2 : -2;
  for (int64_t i = 1; i <= m; ++i) term *= kTurn / static_cast<double>(i);
  return term;
}

class Spline final : public SpectralKernel<Spline, Product, LatticeLaw> {
 public:
  explicit Spline(const Parameters& canonical) : Spline(canonical, canonical.integer("order")) {}
  double term(double x, double y, double scale) const noexcept {
    const double t = std::fabs(part_of_turn(x, y, scale));
    double sum = 0, power = 1;
    for (size_t j = series_.size(); j-- > 0;) sum = sum * (t * t) + series_[j];
    if (t == 0) return 1;
    for (int64_t i = 1; i < order_; ++i) power *= t;
    return sum + kink_ * power * (order_ % 2 == 0 ? 1 : std::log(t));
  }
  double finish(double product) const noexcept { return product; }

  // As often as the series of cosines may be differentiated term by term.
  int64_t most_derivatives() const noexcept override { return order_ - 2; }
  double derivative(const MultiIndex& order, int64_t d, const double* x,
                    const double* y) const noexcept override {
    double product = variance();
    auto next = order.begin();
    for (int64_t j = 0; j < d; ++j) {
      const bool differs = next != order.end() && next->input == j;
      product *= differs ? slope(next->order, j, x, y) : term(x[j], y[j], inverse(j));
      next += differs ? 1 : 0;
    }
    return product;
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    leave_one_out(
        0, d, factor * variance(),
        [&](double& product, int64_t j) { product *= term(x[j], y[j], inverse(j)); },
        [&](int64_t j, double others) { out[j] += others * slope(1, j, x, y); });
  }

 private:
  /// The derivative of order m of factor j, 0 < m <= order - 2.
  double slope(int64_t m, int64_t j, const double* x, const double* y) const noexcept {
    const double s = part_of_turn(x[j], y[j], inverse(j)), t = std::fabs(s);
    double sum = 0;
    for (int64_t n = std::ssize(series_) - 1; 2 * n >= m; --n)
      sum = sum * (t * t) + series_[n] * falling(2 * n, m);
    if (m % 2 == 1) sum *= t;
    if (t > 0) {
      double kink = kink_ * falling(order_ - 1, m) * (order_ % 2 == 0 ? 1 : std::log(t));
      for (int64_t i = order_ - m; order_ % 2 == 1 && i < order_; ++i)
        kink += kink_ * falling(order_ - 1, m) / static_cast<double>(i);
      for (int64_t i = m + 1; i < order_; ++i) kink *= t;
      sum += kink;
    }
    for (int64_t i = 0; i < m; ++i) sum *= s < 0 ? -inverse(j) : inverse(j);
    return sum;
  }
  /// p (p - 1) ... (p - m + 1).
  static double falling(int64_t p, int64_t m) noexcept {
    double product = 1;
    for (int64_t i = 0; i < m; ++i) product *= static_cast<double>(p - i);
    return product;
  }

  Spline(const Parameters& canonical, int64_t q)
      : SpectralKernel(canonical, power_law(q)), order_(q) {
    for (int64_t m = 0; m < q - 1; m += 2) series_.push_back(exponential_term(m) * zeta(q - m));
    const double last = exponential_term(q - 1);
    if (q % 2 == 0) {
      series_.push_back(-0.5 * exponential_term(q));
      kink_ = -0.25 * kTurn * last;
    } else {
      add_odd(q, last);
    }
    series_[0] += 1;
    const double whole = series_[0];
    for (double& one : series_) one /= whole;
    kink_ /= whole;
  }
  void add_odd(int64_t q, double last) {
    constexpr int64_t kTerms = 28;
    double harmonic = -std::log(kTurn);
    for (int64_t i = 1; i < q; ++i) harmonic += 1 / static_cast<double>(i);
    series_.push_back(last * harmonic);
    kink_ = -last;
    for (int64_t r = 1; r <= kTerms; ++r) {
      double term = 2 * last * zeta(2 * r) / static_cast<double>(2 * r);
      for (int64_t i = 1; i < q; ++i)
        term *= static_cast<double>(i) / static_cast<double>(2 * r + i);
      series_.push_back(term);
    }
  }

  int64_t order_;
  std::vector<double> series_;  // coefficients of t^{2j}
  double kink_ = 0;             // of t^{q-1}, or of t^{q-1} log t
};

Field period_field() {
  return {
      .key = "period",
      .type = FieldType::number_or_numbers,
      .fallback = 1.0,
      .least = kLeastLengthscale,
      .most = kMostLengthscale,
      .help =
          "p: one number, or one per input, in units of the inputs as the kernel is given them"};
}

}  // namespace

KernelEntry periodic_entry() {
  return entry_of<Periodic>(
      "periodic", "exp(-2 sum_j sin^2(pi tau_j / p_j) / width^2)",
      {period_field(), number_field("width", 1.0, 1e-3, 1e100,
                                    "in radians of the period: near 0 the kernel is "
                                    "exp(-(2 pi tau / p)^2 / (2 width^2))")});
}

KernelEntry spline_entry() {
  return entry_of<Spline>(
      "spline", "prod_j L(tau_j / p_j) / L(0), L(t) = 1 + 2 sum_{n>=1} cos(2 pi n t) / n^order",
      {integer_field("order", int64_t{2}, 2, kMostSplineOrder,
                     "fall of the spectrum; even: Bernoulli polynomials"),
       period_field()});
}

}  // namespace mercer::kernel
