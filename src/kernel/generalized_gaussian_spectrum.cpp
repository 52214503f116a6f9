// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Spectral density proportional to prod_j exp(-w_j^{2q}) (Szabo, Sriperumbudur 2018, supplement):
// omega_j = sign G^{1/(2q)}, G ~ Gamma(1/(2q)); k(tau) = prod_j phi(tau_j) with phi the
// characteristic function, exp(-t^2/4) for q = 1.
#include "kernel/generalized_gaussian_spectrum.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "kernel/entry.h"
#include "kernel/stationary.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

// phi(t) = int cos(w t) exp(-w^{2q}) dw / int exp(-w^{2q}) dw as Taylor polynomials about the
// multiples of 1/2, and its derivatives likewise. Their coefficients
//   phi^{(m)}(t_i)/m! = E w^m cos(w t_i + m pi/2)/m!
// come from the trapezoidal rule, whose error for so smooth a density is the characteristic
// function itself at 2 pi/step - t (Poisson summation), here beyond the table's end.
constexpr double kSpacing = 0.5;
// Remainder (1/4)^12/12! E w^12 < 2e-16 for q >= 2; of derivative 64, (1/4)^18/18! E w^82 / E w^64
// < 1e-18.
constexpr size_t kTerms = 12, kDerivativeTerms = 18;
constexpr double kNegligible = 40;  // e^{-40} < 1e-17

// The t from which |phi| is below e^{-40}: the saddle point of i w t - w^{2q} gives its decay
// exponent (1 - 1/2q) t (t/2q)^{1/(2q-1)} sin(pi/(2(2q-1))). A derivative has the power of the
// saddle's |w| as a further factor.
double table_end(int64_t order, int64_t derivative) {
  const double two_q = 2 * static_cast<double>(order);
  const double pi = std::acos(-1.0);
  double t = 0;
  double decay = 0;
  while (decay < kNegligible) {
    t += kSpacing;
    const double saddle = std::pow(t / two_q, 1 / (two_q - 1));
    decay = (1 - 1 / two_q) * t * saddle * std::sin(pi / (2 * (two_q - 1)));
    if (derivative > 0) decay -= static_cast<double>(derivative) * std::log(std::max(saddle, 1.0));
  }
  return t;
}

// w^2q beyond which w^derivative exp(-w^2q) is negligible: G - derivative/2q log G = kNegligible.
double reach_power(double two_q, int64_t derivative) {
  double G = kNegligible;
  for (int step = 0; derivative > 0 && step < 20; ++step)
    G = kNegligible + static_cast<double>(derivative) / two_q * std::log(G);
  return G;
}

// Quantiles of the density exp(-w^{2q}): the incomplete gamma function of shape a = 1/(2q) at x =
// r^{2q}, by its power series below x = 3/2 and its continued fraction above (Abramowitz, Stegun
// 1964, 6.5.29 and 6.5.31), inverted by Newton's method from the side on which it converges
// monotonically. All of it decides parameters of a map, hence no libm.
constexpr double kSwitch = 1.5;
constexpr int kFractionTerms = 80;  // error about exp(-4 sqrt(80 kSwitch)) < 1e-18
constexpr int kNewtonSteps = 60;    // a bound only: about six are taken

double even_power(double r, int64_t order) noexcept {
  const double square = r * r;
  double power = 1;
  for (int64_t i = 0; i < order; ++i) power *= square;
  return power;
}

// Gamma(a, x) / (x^a e^{-x}).
double upper_fraction(double a, double x) noexcept {
  double tail = 0;
  for (int k = kFractionTerms; k >= 1; --k) tail = k * (k - a) / (x + 2 * k + 1 - a - tail);
  return 1 / (x + 1 - a - tail);
}

double above(double a, double x) noexcept {
  return a * random::portable_pow(x, a) * random::portable_exp(-x) * upper_fraction(a, x);
}

double distance(double a, double b) noexcept { return a < b ? b - a : a - b; }

constexpr double kMostHalfPower = 16;  // the table of values grows with the order

class EvenPowerLaw final : public random::Law {
 public:
  explicit EvenPowerLaw(int64_t order) : order_(order), quantile_(order) {}

  // G^a = H^a U with a = 1/(2q), H ~ Gamma(1 + a), U uniform: boosting (Marsaglia, Tsang 2000) with
  // the power taken out, so that nothing underflows.
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    random::Cursor cursor(stream);
    const double a = 1 / (2 * static_cast<double>(order_));
    for (double& w : omega) {
      const double magnitude = random::portable_pow(random::gamma(cursor, 1 + a), a);
      const random::Words words = cursor.next();
      const double signed_one = random::second_uniform(words) < 0.5 ? -1 : 1;
      w = signed_one * magnitude * random::uniform(words);
    }
  }
  // With order 1 this is the Gaussian of variance 1/2.
  bool isotropic() const noexcept override { return order_ == 1; }
  double radius(const random::Stream& stream, int64_t d) const noexcept override {
    if (order_ != 1) return random::Law::radius(stream, d);
    random::Cursor cursor(stream);
    return random::chi(cursor, static_cast<double>(d)) * std::sqrt(0.5);
  }
  double fixed_radius(int64_t d) const noexcept override {
    return order_ == 1 ? std::sqrt(0.5 * static_cast<double>(d)) : random::Law::fixed_radius(d);
  }
  double scale_quantile(double u) const noexcept override {
    return order_ == 1 ? std::sqrt(0.5) : random::Law::scale_quantile(u);
  }
  bool is_product() const noexcept override { return true; }
  double quantile(double u) const noexcept override { return quantile_(u); }

 private:
  int64_t order_;
  EvenPowerQuantile quantile_;
};

class GeneralizedGaussianSpectrum final
    : public SpectralKernel<GeneralizedGaussianSpectrum, Product, EvenPowerLaw> {
 public:
  explicit GeneralizedGaussianSpectrum(const Parameters& canonical)
      : SpectralKernel(canonical, canonical.integer("order")), order_(canonical.integer("order")) {
    if (order_ > 1) characteristic_.emplace(order_);
    traits_.even_power_spectrum = {order_, 1};
  }
  double term(double x, double y, double scale) const noexcept {
    const double t = (x - y) * scale;
    return characteristic_ ? (*characteristic_)(t) : std::exp(-0.25 * t * t);
  }
  double finish(double product) const noexcept { return product; }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override;
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const auto factor_of = [=, this](int64_t j) { return term(x[j], y[j], inverse(j)); };
    leave_one_out(
        0, d, factor * variance(), [&](double& product, int64_t j) { product *= factor_of(j); },
        [&](int64_t k, double others) {
          out[k] += others * inverse(k) * slope((x[k] - y[k]) * inverse(k));
        });
  }

 private:
  class PartialDerivative;

  double slope(double t) const noexcept {
    return characteristic_ ? characteristic_->slope(t) : -0.5 * t * std::exp(-0.25 * t * t);
  }

  int64_t order_;
  std::optional<EvenPowerCharacteristic> characteristic_;
};

// Derivatives of a product over the inputs, any factor of which may be 0.
class GeneralizedGaussianSpectrum::PartialDerivative final : public Differential {
 public:
  PartialDerivative(const GeneralizedGaussianSpectrum& kernel, MultiIndex total, double sign)
      : kernel_(kernel), total_(std::move(total)), sign_(sign) {
    for (const PartialFactor& one : total_)
      if (kernel_.order_ > 1 && one.order > 1 && tables_.count(one.order) == 0)
        tables_.emplace(one.order, EvenPowerCharacteristic(kernel_.order_, one.order));
  }
  double at(int64_t d, const double* x, const double* y) const noexcept override {
    double product = sign_ * kernel_.variance();
    auto next = total_.begin();
    for (int64_t j = 0; j < d; ++j) {
      const double l = kernel_.inverse(j);
      const bool is_kept = next == total_.end() || next->input > j;
      product *= is_kept ? kernel_.term(x[j], y[j], l) : factor((next++)->order, x[j] - y[j], l);
    }
    return product;
  }

 private:
  double factor(int64_t n, double difference, double l) const noexcept {
    const double t = difference * l;
    double now = 0;
    if (n == 1) now = kernel_.slope(t);
    if (n > 1) now = kernel_.order_ > 1 ? tables_.find(n)->second(t) : of_gaussian(n, t);
    for (int64_t i = 0; i < n; ++i) now *= l;
    return now;
  }
  // f = exp(-t^2/4): f' = -t/2 f, and so f^(m+1) = -(t f^(m) + m f^(m-1))/2.
  static double of_gaussian(int64_t n, double t) noexcept {
    double before = 0, now = std::exp(-0.25 * t * t);
    if (now == 0) return 0;
    for (int64_t m = 0; m < n; ++m) {
      const double next = -0.5 * (t * now + static_cast<double>(m) * before);
      before = now;
      now = next;
    }
    return now;
  }

  const GeneralizedGaussianSpectrum& kernel_;
  MultiIndex total_;
  double sign_;
  std::map<int64_t, EvenPowerCharacteristic> tables_;  // by their order
};

std::unique_ptr<const Differential> GeneralizedGaussianSpectrum::differential(
    const MultiIndex& p, const MultiIndex& q) const {
  return std::make_unique<const PartialDerivative>(*this, sum_of(p, q),
                                                   total_order(q) % 2 == 0 ? 1 : -1);
}

}  // namespace

EvenPowerCharacteristic::EvenPowerCharacteristic(int64_t order, int64_t derivative)
    : terms_(derivative == 0 ? kTerms : kDerivativeTerms),
      is_odd_(derivative % 2 != 0),
      limit_(table_end(order, derivative)) {
  const double two_q = 2 * static_cast<double>(order);
  const double step = std::acos(-1.0) / limit_;
  const double reach = std::pow(reach_power(two_q, derivative), 1 / two_q);
  std::vector<double> node = {0};
  std::vector<double> weight = {derivative == 0 ? 0.5 : 0};
  double mass = 0.5;
  for (double w = step; w < reach; w = step * static_cast<double>(node.size())) {
    const double density = std::exp(-std::pow(w, two_q));
    node.push_back(w);
    mass += density;
    weight.push_back(derivative == 0 ? density
                                     : density * std::pow(w, static_cast<double>(derivative)));
  }
  // A node times a centre is a whole multiple of pi over the last centre's number.
  const auto last = static_cast<size_t>(std::lround(limit_ / kSpacing)), centres = last + 1;
  std::vector<double> cosine(2 * last), sine(2 * last);
  for (size_t k = 0; k < 2 * last; ++k) {
    const double angle = std::acos(-1.0) * static_cast<double>(k) / static_cast<double>(last);
    cosine[k] = std::cos(angle);
    sine[k] = std::sin(angle);
  }
  std::vector<double> powers;  // of each node, over factorials
  for (size_t k = 0; k < node.size(); ++k) {
    double power = weight[k] / mass;
    for (size_t m = 0; m < terms_; ++m) {
      powers.push_back(power);
      power *= node[k] / static_cast<double>(m + 1);
    }
  }
  coefficients_.assign(centres * terms_, 0.0);
  for (size_t i = 0; i < centres; ++i) {
    double* coefficient = &coefficients_[i * terms_];
    for (size_t k = 0; k < node.size(); ++k) {
      const double c = cosine[k * i % (2 * last)], s = sine[k * i % (2 * last)];
      const double turned[4] = {c, -s, -c, s};
      for (size_t m = 0; m < terms_; ++m)
        coefficient[m] +=
            powers[k * terms_ + m] * turned[(static_cast<size_t>(derivative) + m) % 4];
    }
  }
  if (derivative == 0) coefficients_[0] = 1;  // phi(0), whatever the sum's rounding
}

const double* EvenPowerCharacteristic::polynomial(double t, double* s) const noexcept {
  const auto i = static_cast<size_t>(t / kSpacing + 0.5);
  *s = t - kSpacing * static_cast<double>(i);
  return &coefficients_[i * terms_];
}

double EvenPowerCharacteristic::operator()(double t) const noexcept {
  const double sign = is_odd_ && t < 0 ? -1 : 1;
  t = std::fabs(t);
  if (!(t < limit_)) return std::isnan(t) ? t : 0;
  double s;
  const double* const coefficient = polynomial(t, &s);
  double sum = coefficient[terms_ - 1];
  for (size_t m = terms_ - 1; m-- > 0;) sum = sum * s + coefficient[m];
  return sign * sum;
}

double EvenPowerCharacteristic::slope(double t) const noexcept {
  const double sign = !is_odd_ && t < 0 ? -1 : 1;
  t = std::fabs(t);
  if (!(t < limit_)) return std::isnan(t) ? t : 0;
  double s;
  const double* const coefficient = polynomial(t, &s);
  double sum = 0;
  for (size_t m = terms_ - 1; m > 0; --m) sum = sum * s + static_cast<double>(m) * coefficient[m];
  return sign * sum;
}

EvenPowerQuantile::EvenPowerQuantile(int64_t order)
    : order_(order),
      shape_(1 / (2 * static_cast<double>(order))),
      switch_above_(above(shape_, kSwitch)),
      half_mass_(switch_above_ + below(random::portable_pow(kSwitch, shape_))) {}

double EvenPowerQuantile::below(double r) const noexcept {
  const double x = even_power(r, order_);
  return r * random::portable_exp(-x) * random::lower_gamma_series(shape_, x);
}

// below() is concave and at most r, so Newton's iterates climb to the root from r = mass.
double EvenPowerQuantile::solve_below(double mass) const noexcept {
  double r = mass;
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double step = (mass - below(r)) * random::portable_exp(even_power(r, order_));
    r += step;
    if (distance(step, 0) <= 1e-16 * r) break;
  }
  return r;
}

// The logarithm of the mass above is convex and falling in x, so iterates climb to the root from x
// = kSwitch.
double EvenPowerQuantile::solve_above(double mass) const noexcept {
  const double target = random::portable_log(mass / shape_);
  double x = kSwitch;
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double fraction = upper_fraction(shape_, x);
    const double log_mass = shape_ * random::portable_log(x) - x + random::portable_log(fraction);
    const double step = (log_mass - target) * x * fraction;
    x += step;
    if (distance(step, 0) <= 1e-16 * x) break;
  }
  return random::portable_pow(x, shape_);
}

double EvenPowerQuantile::operator()(double u) const noexcept {
  const double tail = u < 0.5 ? 2 * u : 2 * (1 - u);  // P(|w| > r)
  const double mass = tail * half_mass_;
  const double r = mass < switch_above_ ? solve_above(mass) : solve_below((1 - tail) * half_mass_);
  return u < 0.5 ? -r : r;
}

KernelEntry generalized_gaussian_spectrum_entry() {
  return entry_of<GeneralizedGaussianSpectrum>(
      "generalized_gaussian_spectrum",
      "the kernel of spectral density proportional to prod_j exp(-(l w_j)^(2 order)); "
      "order 1: exp(-||tau||^2 / (4 l^2))",
      {count_field("order", int64_t{2}, kMostHalfPower,
                   "q: half the power in the spectral density"),
       lengthscale_field()});
}

}  // namespace mercer::kernel
