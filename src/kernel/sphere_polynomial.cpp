// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = (1 - ||x - y||^2/a^2)^degree for rows of norm 1, which there is the polynomial kernel
// (1 - 2/a^2 + 2/a^2 x'y)^degree. It is no function of x - y on all of R^d that has a distribution
// of frequencies; one fitted to it between the distances 0 and 2 gives random Fourier features with
// a bias (Pennington, Yu, Kumar 2015; Wacker 2022, section 2.2.4).
#include <cmath>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "kernel/inner_product_kernel.h"
#include "kernel/radial_fit.h"
#include "kernel/radial_kernel.h"
#include "transform/inverse_norm.h"

namespace mercer::kernel {
namespace {

constexpr double kLeastRange = 2;  // below, points of the sphere are farther apart than a
constexpr double kMostRange = 1e6;
// Beyond, the waves are normal: those of dimension 128 differ from them by at most 0.0043.
constexpr int64_t kMostWaveDimension = 128;
constexpr int64_t kLeastWaveDimension = 16;  // what structured projections pad to

/// The dimension that structured projections pad d to, so that one fit serves all projections.
int64_t wave_dimension(int64_t d) noexcept {
  int64_t m = kLeastWaveDimension;
  while (m < d && m <= kMostWaveDimension) m *= 2;
  return m > kMostWaveDimension ? kNormalWaves : m;
}

/// The last fit asked for, since maps that differ in seed or size ask again. A fork while another
/// thread holds the lock leaves it locked in the child, which then fits anew.
std::shared_ptr<const RadialFit> fit_of(int64_t degree, double a, int64_t m) {
  using Key = std::tuple<int64_t, double, int64_t>;
  static std::mutex mutex;
  static Key last_key;
  static std::shared_ptr<const RadialFit> last;
  const Key key{degree, a, m};
  {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (lock.owns_lock() && last != nullptr && key == last_key) return last;
  }
  const auto made = std::make_shared<const RadialFit>(fit_sphere_polynomial(degree, a, m));
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (lock.owns_lock()) last_key = key, last = made;
  return made;
}

double squared_distance(bool scales, int64_t d, const double* x, const double* y) noexcept {
  const double of_x = scales ? transform::inverse_norm(d, x) : 1;
  const double of_y = scales ? transform::inverse_norm(d, y) : 1;
  return lane_fold<Sum>(d, [=](int64_t k) {
    const double t = x[k] * of_x - y[k] * of_y;
    return t * t;
  });
}

/// The kernel of fitted frequencies, under the name and parameters of the one that it stands for.
class SphereWaves final : public Kernel {
 public:
  SphereWaves(const Parameters& canonical, std::shared_ptr<const RadialFit> fit)
      : Kernel(canonical),
        scales_rows_(canonical.boolean("unit_rows")),
        fit_(std::move(fit)),
        law_(fit_->mixture),
        wave_(fit_->mixture.m, 2 * kMostDistance * fit_->mixture.scales.back()) {}
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return value_at_multiple(1, d, x, y);
  }
  double value_at_multiple(double multiple, int64_t d, const double* x,
                           const double* y) const noexcept override {
    const double t = multiple * std::sqrt(squared_distance(scales_rows_, d, x, y));
    const WaveMixture& mixture = fit_->mixture;
    double sum = 0;
    for (size_t i = 0; i < mixture.scales.size(); ++i)
      sum += mixture.weights[i] * wave_(mixture.scales[i] * t);
    return variance() * sum;
  }
  const random::Law* spectral_law() const noexcept override { return &law_; }

 private:
  bool scales_rows_;
  std::shared_ptr<const RadialFit> fit_;
  WaveLaw law_;
  RadialWave wave_;
};

StandIn waves_of(const Kernel& kernel, int64_t d) {
  const Parameters& own = kernel.parameters();
  auto fit = fit_of(own.integer("degree"), own.number("a"), wave_dimension(d));
  const double largest = kernel.variance() * fit->largest_error;
  const double rms = kernel.variance() * fit->rms_error;
  return {std::make_shared<const SphereWaves>(own, std::move(fit)), largest, rms};
}

class SpherePolynomial final : public RadialKernel<SpherePolynomial> {
 public:
  explicit SpherePolynomial(const Parameters& canonical)
      : RadialKernel(canonical),
        degree_(canonical.integer("degree")),
        inverse_square_(1 / (canonical.number("a") * canonical.number("a"))) {}
  std::optional<StandIn> stand_in(int64_t d) const override { return waves_of(*this, d); }
  bool needs_unit_rows() const noexcept override { return true; }
  double finish(double squared) const noexcept {
    return std::pow(1 - squared * inverse_square_, static_cast<double>(degree_));
  }
  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  void slopes(double squared, int64_t count, double* f) const noexcept {
    const double base = 1 - squared * inverse_square_;
    double factor = 1;  // degree!/(degree - n)! (-1/a^2)^n, 0 beyond the degree
    for (int64_t n = 0; n < count; ++n) {
      const int64_t rest = degree_ - n;
      f[n] = rest < 0 ? 0 : factor * std::pow(base, static_cast<double>(rest));
      factor *= -static_cast<double>(rest) * inverse_square_;
    }
  }

 private:
  int64_t degree_;
  double inverse_square_;
};

/// The same at x/||x|| and y/||y||.
class DirectionPolynomial final : public Kernel {
 public:
  explicit DirectionPolynomial(const Parameters& canonical)
      : Kernel(canonical), of_unit_rows_(canonical) {}
  std::optional<StandIn> stand_in(int64_t d) const override { return waves_of(*this, d); }
  std::shared_ptr<const transform::RowPrologue> prologue() const override {
    return transform::unit_norm_prologue();
  }
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() * of_unit_rows_.finish(squared_distance(true, d, x, y));
  }

 private:
  SpherePolynomial of_unit_rows_;
};

std::unique_ptr<Kernel> make(const Parameters& canonical) {
  if (canonical.boolean("unit_rows")) return std::make_unique<DirectionPolynomial>(canonical);
  return std::make_unique<SpherePolynomial>(canonical);
}

}  // namespace

KernelEntry sphere_polynomial_entry() {
  return {"sphere_polynomial",
          "(1 - ||tau||^2 / a^2)^degree of rows of norm 1, that is (1 - 2/a^2 + 2/a^2 x'y)^degree",
          {count_field("degree", int64_t{10}, double{kMostPower}, "the power"),
           number_field("a", 2.0, kLeastRange, kMostRange, "the distance where it vanishes"),
           {.key = "unit_rows",
            .type = FieldType::boolean,
            .fallback = false,
            .help = "divide rows by their norms; false: rows of another norm are refused"}},
          make,
          "fourier"};
}

}  // namespace mercer::kernel
