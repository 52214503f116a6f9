// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Spectral density proportional to prod_j exp(-w_j^{2q}) (Szabo, Sriperumbudur 2018, supplement):
// omega_j = sign G^{1/(2q)}, G ~ Gamma(1/(2q)); k(tau) = prod_j phi(tau_j) with phi the
// characteristic function, exp(-t^2/4) for q = 1.
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "kernel/coordinate_kernel.h"
#include "kernel/even_power_law.h"
#include "kernel/leave_one_out.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

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
  }
  std::optional<EvenPowerSpectrum> even_power_spectrum() const noexcept override {
    return EvenPowerSpectrum{order_, 1};
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
  class Differentiated;

  double slope(double t) const noexcept {
    return characteristic_ ? characteristic_->slope(t) : -0.5 * t * std::exp(-0.25 * t * t);
  }

  int64_t order_;
  std::optional<EvenPowerCharacteristic> characteristic_;
};

// Derivatives of a product over the inputs, any factor of which may be 0.
class GeneralizedGaussianSpectrum::Differentiated final : public Differential {
 public:
  Differentiated(const GeneralizedGaussianSpectrum& kernel, MultiIndex total, double sign)
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
  return std::make_unique<const Differentiated>(*this, sum_of(p, q),
                                                total_order(q) % 2 == 0 ? 1 : -1);
}

}  // namespace

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
