// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = (1 - ||x - y||^2/a^2)^degree for rows of norm 1, which there is the polynomial kernel
// (1 - 2/a^2 + 2/a^2 x'y)^degree. It is no function of x - y on all of R^d that has a distribution
// of frequencies; one fitted to it between the distances 0 and 2 gives random Fourier features with
// a bias (Pennington, Yu, Kumar 2015; Wacker 2022, section 2.2.4).
#include "kernel/sphere_polynomial.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/aligned.h"
#include "base/numbers.h"
#include "kernel/entry.h"
#include "kernel/inner_product.h"
#include "kernel/stationary.h"
#include "linalg/non_negative.h"
#include "random/distributions.h"
#include "random/scalar_math.h"
#include "transform/row_prologue.h"

namespace mercer::kernel {
namespace {

// The fit of Pennington, Yu, Kumar ("Spherical random features for polynomial kernels", NIPS 2015)
// minimises the same error over densities that are sums of some ten Gaussians, by a search over
// their widths and factors, a problem with local minima. Over all distributions of the norm it is
// convex: non-negative least squares with the weights of many norms as unknowns. The best
// distribution has few norms, and no density does better.
constexpr int64_t kSampledDistances = 129;  // odd, for Simpson's rule
constexpr int64_t kScales = 100;
constexpr double kLeastGradient = 1e-14;

double distance_at(int64_t j) noexcept {
  return kMostDistance * static_cast<double>(j) / static_cast<double>(kSampledDistances - 1);
}

double simpson_weight(int64_t j) noexcept {
  const double step = kMostDistance / static_cast<double>(kSampledDistances - 1);
  if (j == 0 || j == kSampledDistances - 1) return step / 3;
  return (j % 2 == 1 ? 4 : 2) * step / 3;
}

std::vector<double> target(int64_t degree, double a) {
  std::vector<double> k(kSampledDistances, 1.0);
  for (int64_t j = 0; j < kSampledDistances; ++j) {
    const double t = distance_at(j) / a, base = 1 - t * t;
    for (int64_t n = 0; n < degree; ++n) k[j] *= base;
  }
  return k;
}

// Near t = 0, k is exp(-degree t^2/a^2), of the one scale sqrt(2 degree)/a; beyond twice that no
// fit had weight that mattered.
double scale_at(int64_t i, int64_t degree, double a) noexcept {
  return 2 * std::sqrt(2 * static_cast<double>(degree)) / a * static_cast<double>(i) /
         static_cast<double>(kScales - 1);
}

// The least ||sum_i w_i (Lambda_i - k)||^2 with sum_i w_i = 1, w >= 0: that of the least
// ||sum_i w_i (Lambda_i - k)||^2 + (1 - sum_i w_i)^2, divided by its sum. For w = c v of sum c the
// latter is at best ||v||^2/(1 + ||v||^2), which grows with ||v||.
std::vector<double> weights_of(MatrixView<const double> waves, std::span<const double> k) {
  const Matrix<double> G(kScales, kScales);
  const std::vector<double> b(kScales, 1.0);
  G.fill(1);
  for (int64_t j = 0; j < kSampledDistances; ++j) {
    const double* const wave = waves.row(j);
    for (int64_t i = 0; i < kScales; ++i) {
      const double weighted = simpson_weight(j) * (wave[i] - k[j]);
      for (int64_t l = 0; l < kScales; ++l) G(i, l) += weighted * (wave[l] - k[j]);
    }
  }
  return linalg::non_negative_least_squares(G.view(), b, kLeastGradient);
}

constexpr double kLeastRange = 1.4142135623730951;  // below, 1 - 2/a^2 < 0: not positive definite
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
        inverse_square_(1 / (canonical.number("a") * canonical.number("a"))) {
    traits_.needs_unit_rows = true;
  }
  std::optional<StandIn> stand_in(int64_t d) const override { return waves_of(*this, d); }
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

/// The kernel at x/||x|| and y/||y||.
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

// With z_1 = sqrt(m) cos theta, theta of density proportional to sin^{m-2} theta,
//   Lambda(u) = int_0^pi sin^{m-2} theta cos(u sqrt(m) cos theta) dtheta / int_0^pi sin^{m-2} theta
//   dtheta = Gamma(m/2) (2/r)^{m/2-1} J_{m/2-1}(r),  r = u sqrt(m).
// For even m the integrand is periodic and entire: midpoints are exact to rounding once they follow
// its oscillations, m - 2 of the sine and r of the cosine (Trefethen, Weideman 2014). Bessel
// functions of libraries differ in the last places.
RadialWave::RadialWave(int64_t m, double largest) {
  if (m == kNormalWaves) return;
  const double dimension = static_cast<double>(m), root = std::sqrt(dimension);
  // A quarter of the circle: both sine and cosine repeat, up to signs that do not matter.
  const auto points = static_cast<int64_t>((dimension + root * largest) / 4) + 24;
  double sum = 0;
  for (int64_t q = 0; q < points; ++q) {
    const double turns = (static_cast<double>(q) + 0.5) / (4 * static_cast<double>(points));
    const random::SinCos at = random::portable_sincos_turns(turns);
    double weight = 1;
    for (int64_t k = 2; k < m; k += 2) weight *= at.sin * at.sin;
    if (weight < 1e-20) continue;
    turns_.push_back(0.5 * kInversePi * root * at.cos);
    weights_.push_back(weight);
    sum += weight;
  }
  for (double& weight : weights_) weight /= sum;
}

double RadialWave::operator()(double u) const noexcept {
  if (turns_.empty()) return random::portable_exp(-0.5 * u * u);
  double sum = 0;
  for (size_t q = 0; q < turns_.size(); ++q)
    sum += weights_[q] * random::portable_sincos_turns(u * turns_[q]).cos;
  return sum;
}

WaveLaw::WaveLaw(const WaveMixture& mixture) : m_(mixture.m), scales_(mixture.scales) {
  double end = 0;
  for (const double weight : mixture.weights) ends_.push_back(end += weight);
}

double WaveLaw::draw_scale(random::Cursor& cursor) const noexcept {
  const double u = random::uniform(cursor.next());
  size_t i = 0;
  while (i + 1 < ends_.size() && u >= ends_[i]) ++i;
  return scales_[i];
}

double WaveLaw::stretch(random::Cursor& cursor, int64_t d, double squares) const noexcept {
  if (m_ == kNormalWaves) return 1;
  const auto others = static_cast<double>(m_ - d);
  const double rest = others > 0 ? random::chi_squared(cursor, others) : 0;
  return std::sqrt(static_cast<double>(m_) / (squares + rest));
}

void WaveLaw::draw(const random::Stream& stream, std::span<double> omega) const noexcept {
  random::Cursor cursor(stream);
  const double scale = draw_scale(cursor);
  double squares = 0;
  for (double& w : omega) {
    w = random::normal(cursor);
    squares += w * w;
  }
  const double factor = scale * stretch(cursor, std::ssize(omega), squares);
  for (double& w : omega) w *= factor;
}

double WaveLaw::radius(const random::Stream& stream, int64_t d) const noexcept {
  random::Cursor cursor(stream);
  const double scale = draw_scale(cursor);
  const double squares = random::chi_squared(cursor, static_cast<double>(d));
  return scale * std::sqrt(squares) * stretch(cursor, d, squares);
}

RadialFit fit_sphere_polynomial(int64_t degree, double a, int64_t m) {
  const RadialWave wave(m, kMostDistance * scale_at(kScales - 1, degree, a));
  const Matrix<double> waves(kSampledDistances, kScales);
  for (int64_t j = 0; j < kSampledDistances; ++j)
    for (int64_t i = 0; i < kScales; ++i)
      waves(j, i) = wave(scale_at(i, degree, a) * distance_at(j));
  const std::vector<double> k = target(degree, a), weights = weights_of(waves.view(), k);
  double sum = 0;
  for (const double weight : weights) sum += weight;
  RadialFit fit{{m, {}, {}}, 0, 0};
  for (int64_t i = 0; i < kScales; ++i) {
    if (weights[i] == 0) continue;
    fit.mixture.scales.push_back(scale_at(i, degree, a));
    fit.mixture.weights.push_back(weights[i] / sum);
  }
  double squares = 0;
  for (int64_t j = 0; j < kSampledDistances; ++j) {
    double error = -k[j];
    for (int64_t i = 0; i < kScales; ++i) error += weights[i] / sum * waves(j, i);
    fit.largest_error = std::max(fit.largest_error, std::fabs(error));
    squares += simpson_weight(j) * error * error;
  }
  fit.rms_error = std::sqrt(squares / kMostDistance);
  return fit;
}

KernelEntry sphere_polynomial_entry() {
  return {"sphere_polynomial",
          "(1 - ||tau||^2 / a^2)^degree of rows of norm 1, that is (1 - 2/a^2 + 2/a^2 x'y)^degree",
          {count_field("degree", int64_t{10}, double{kMostPower}, "the power"),
           number_field("a", 2.0, kLeastRange, kMostRange,
                        "the distance where it vanishes; sqrt(2): (x'y)^degree"),
           {.key = "unit_rows",
            .type = FieldType::boolean,
            .fallback = false,
            .help = "divide rows by their norms; false: rows of another norm are refused"}},
          make,
          "fourier"};
}

}  // namespace mercer::kernel
