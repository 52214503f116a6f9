// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random monomials for the Gaussian kernel (Rudi, Rosasco 2017, appendix E):
//   Z_j = sqrt(variance / D) prod_k exp((1 - x_k^2) / (2 l_k^2)) x_k^omega_jk,
// omega_jk independent Poisson(1 / l_k^2), since E (x y)^omega = exp((x y - 1) / l^2). One
// lengthscale or one per input. The estimate has the variance (variance^2 exp(sum_k (1 - x_k^2)(1 -
// y_k^2) / l_k^2) - k^2) / D. Powers are exponentials of a projection of log |x|, their signs the
// parity of a projection of the negative inputs, so that nothing overflows on the way.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "feature/panel_map.h"
#include "random/distributions.h"
#include "transform/panel.h"

namespace mercer::feature {
namespace {

// Derivatives of one panel of Poisson features, z_j = scale prod_k h(x_k, w_jk) with h(x, w) =
// exp(m (1 - x^2)/2) x^w, m_k = 1/l_k^2 and integers w >= 0.
template <class T>
struct PoissonPanel : PanelRow<T> {
  std::span<const double> means;  // m: one, or one for each input
  double scale;

  double mean(int64_t k) const noexcept {
    return means[means.size() == 1 ? 0 : static_cast<size_t>(k)];
  }
};

// With He the Hermite polynomials, d^n exp(-m x^2/2) = (-sqrt(m))^n He_n(sqrt(m) x) exp(-m x^2/2)
// and by Leibniz' rule
//   d^n h = h sum_i binomial(n, i) w (w - 1) ... (w - i + 1) x^-i (-sqrt(m))^{n-i} He_{n-i}(sqrt(m)
//   x).
// At x = 0 only i = w is left. Of |x| <= 1 the power x^-min(n, w) is taken out of the sum, of
// others x^n, and what is left does not overflow: such powers, and those of z itself, are
// multiplied as logarithms. Factors of 0 are counted.
double log_size(double x) noexcept { return x == 0 ? 0 : std::log(std::fabs(x)); }

// d^n h = h factor |x|^power; at x = 0, the factor of exp(m/2).
struct Slope {
  double factor;
  double power;
};

Slope slope_of(double x, double w, double m, int64_t n) noexcept {
  const bool near = std::fabs(x) <= 1;
  const double q = near ? x : 1 / x, most = std::min(static_cast<double>(n), w);
  if (x == 0 && w > most) return {0, 0};
  // (-sqrt(m))^i He_i(sqrt(m) x), far out over x^i.
  double hermite[kernel::kMostDerivatives + 1] = {1};
  for (int64_t i = 0; i < n; ++i) {
    const double before = i > 0 ? static_cast<double>(i) * hermite[i - 1] : 0;
    hermite[i + 1] = -m * (near ? q * hermite[i] + before : hermite[i] + q * q * before);
  }
  double sum = 0, term = 1, power = 1;  // binomial(n, i) w (w - 1) ...; q^{2 i}
  for (int64_t i = 0; static_cast<double>(i) <= most; ++i) {
    sum = near ? sum * q + term * hermite[n - i] : sum + term * power * hermite[n - i];
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1) * (w - static_cast<double>(i));
    power *= q * q;
  }
  const double taken = near ? -most : static_cast<double>(n);
  return {x < 0 && std::fmod(taken, 2) != 0 ? -sum : sum, taken};
}

// For the columns of a panel: the product of the factors of inputs that are not 0, and for how many
// inputs that are 0 the exponent is above 0.
template <class T>
class Products {
 public:
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;

  explicit Products(const PoissonPanel<T>& panel) noexcept : panel_(panel) {
    double exponent = 0;
    for (int64_t k = 0; k < panel.inputs; ++k) {
      const double x = panel.x[k];
      exponent += 0.5 * panel.mean(k) * (1 - x * x);
    }
    std::fill_n(log_, kWidth, exponent);
    std::fill_n(scale_, kWidth, panel.scale);
    for (int64_t k = 0; k < panel.inputs; ++k) {
      const double x = panel.x[k], log_x = log_size(x);
      for (int64_t j = 0; j < kWidth; ++j) {
        const double w = exponent_of(k, j);
        log_[j] += w * log_x;
        zeros_[j] += x == 0 && w > 0;
        if (x < 0 && std::fmod(w, 2) == 1) scale_[j] = -scale_[j];
      }
    }
    for (int64_t j = 0; j < kWidth; ++j) value_[j] = scale_[j] * std::exp(log_[j]);
  }

  /// z_j without the factors of `replaced` inputs that are 0, times `factor` exp(log).
  double at(int64_t j, int64_t replaced, double factor, double log) const noexcept {
    if (factor == 0 || zeros_[j] > replaced) return std::isnan(log_[j]) ? log_[j] : 0;
    return scale_[j] * factor * std::exp(log_[j] + log);
  }
  /// The same with log = 0; `factor` may be infinite where z_j is 0.
  double at(int64_t j, int64_t replaced, double factor) const noexcept {
    if (factor == 0 || zeros_[j] > replaced) return std::isnan(log_[j]) ? log_[j] : 0;
    return value_[j] == 0 ? 0 : value_[j] * factor;
  }
  double exponent_of(int64_t k, int64_t j) const noexcept { return panel_.W[k * kWidth + j]; }
  bool is_zero(int64_t k, int64_t j) const noexcept {
    return panel_.x[k] == 0 && exponent_of(k, j) > 0;
  }

 private:
  const PoissonPanel<T>& panel_;
  double log_[kWidth], scale_[kWidth], value_[kWidth];  // z_j = scale exp(log)
  int64_t zeros_[kWidth] = {};
};

// Below, x^w may be 0 where x^(w - 1) is not.
constexpr double kSmall = 1e-3;

// out[j] = d^p z_j, for every column of the panel; in double. O(d) a column.
template <class T>
void poisson_partial(const PoissonPanel<T>& panel, const MultiIndex& p, T* out) noexcept {
  constexpr int64_t kWidth = Products<T>::kWidth;
  const Products<T> products(panel);
  double factor[kWidth], log[kWidth] = {};
  int64_t replaced[kWidth] = {};
  std::fill_n(factor, kWidth, 1.0);
  for (const PartialFactor& one : p) {
    const double x = panel.x[one.input], m = panel.mean(one.input), log_x = log_size(x);
    for (int64_t j = 0; j < kWidth; ++j) {
      const Slope slope = slope_of(x, products.exponent_of(one.input, j), m, one.order);
      factor[j] *= slope.factor;
      log[j] += slope.power * log_x;
      replaced[j] += products.is_zero(one.input, j);
    }
  }
  for (int64_t j = 0; j < kWidth; ++j)
    out[j] = static_cast<T>(products.at(j, replaced[j], factor[j], log[j]));
}

// out[k columns + j] = dz_j/dx_k for every input, all in O(d) a column.
template <class T>
void poisson_gradient(const PoissonPanel<T>& panel, T* out) noexcept {
  const Products<T> products(panel);
  for (int64_t k = 0; k < panel.inputs; ++k) {
    const double x = panel.x[k], m = panel.mean(k), log_x = log_size(x);
    const bool small = std::fabs(x) < kSmall;
    for (int64_t j = 0; j < Products<T>::kWidth; ++j) {
      const double w = products.exponent_of(k, j);
      if (small) {
        const Slope slope = slope_of(x, w, m, 1);
        *out++ = static_cast<T>(
            products.at(j, products.is_zero(k, j), slope.factor, slope.power * log_x));
      } else {
        *out++ = static_cast<T>(products.at(j, 0, w / x - m * x));
      }
    }
  }
}

// Below this the variance is about exp(100 d) and estimates are useless.
constexpr double kLeastPoissonLengthscale = 0.1;
// Stands for log 0: its multiple by 0 is 0, and the exponential of any other multiple is 0.
constexpr double kLogZero = -1e30;

class PoissonLaw final : public random::Law {
 public:
  explicit PoissonLaw(std::vector<double> means) : means_(std::move(means)) {}
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    random::fill_uniform(stream, 0, omega);
    for (size_t k = 0; k < omega.size(); ++k)
      omega[k] = random::poisson_quantile(omega[k], means_[means_.size() == 1 ? 0 : k]);
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return false; }  // not symmetric about 0

 private:
  std::vector<double> means_;
};

// 1 / l_k^2: one, or one for each input.
std::vector<double> means_of(const kernel::Kernel& kernel) {
  std::vector<double> means;
  for (const double l : kernel.lengthscale()) means.push_back(1 / (l * l));
  return means;
}

class Poisson final : public PanelMap, public Moments {
 public:
  Poisson(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D, uint64_t seed)
      : PanelMap(d, D,
                 projection::drawn_columns({std::make_shared<PoissonLaw>(means_of(*kernel)),
                                            {},
                                            projection::Unit::plain,
                                            d,
                                            D,
                                            seed})),
        kernel_(std::move(kernel)),
        means_(means_of(*kernel_)),
        seed_(seed),
        scale_(std::sqrt(kernel_->variance() / static_cast<double>(D))) {}

  std::string_view name() const noexcept override { return "poisson"; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override { return common_parameters(seed_); }

  const Moments& moments() const override { return *this; }
  double variance_at(const double* x, const double* y) const override {
    const double amplitude = kernel_->variance() * kernel_->variance();
    double exponent = 0;
    for (int64_t k = 0; k < inputs(); ++k)
      exponent += mean(k) * (1 - x[k] * x[k]) * (1 - y[k] * y[k]);
    const double k = kernel_->value(inputs(), x, y);
    return std::max((amplitude * std::exp(exponent) - k * k) / static_cast<double>(features()),
                    0.0);
  }

  // The exponents' distribution depends on the lengthscale.
  bool is_of_scaled_inputs() const override { return false; }

  ColumnForm column_form() const noexcept override { return ColumnForm::real; }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    return independent_columns(*this, x, y);
  }

 private:
  double mean(int64_t k) const noexcept {
    return means_[means_.size() == 1 ? 0 : static_cast<size_t>(k)];
  }

  template <class T>
  PoissonPanel<T> panel_of(const T* x, const T* W) const noexcept {
    return {{x, W, inputs()}, means_, scale_};
  }
  void panel_gradient(const float* x, const float* W, float* dz, float*) const noexcept override {
    poisson_gradient(panel_of(x, W), dz);
  }
  void panel_gradient(const double* x, const double* W, double* dz,
                      double*) const noexcept override {
    poisson_gradient(panel_of(x, W), dz);
  }
  void panel_partial(const MultiIndex& p, const float* x, const float* W, float* z,
                     float*) const noexcept override {
    poisson_partial(panel_of(x, W), p, z);
  }
  void panel_partial(const MultiIndex& p, const double* x, const double* W, double* z,
                     double*) const noexcept override {
    poisson_partial(panel_of(x, W), p, z);
  }

  // [log |x| | 1 where x < 0 | the exponent that all columns share, the number of x < 0].
  int64_t prepared() const noexcept override { return 2 * inputs() + 2; }
  template <class T>
  void prepare_any(const T* x, T* out) const noexcept {
    const int64_t d = inputs();
    double shared = 0;
    T negative = 0;
    for (int64_t k = 0; k < d; ++k) {
      const double value = x[k];
      out[k] = static_cast<T>(value == 0 ? kLogZero : std::log(std::fabs(value)));
      out[d + k] = static_cast<T>(value < 0 ? 1 : 0);
      negative += out[d + k];
      shared += mean(k) * (1 - value * value);
    }
    out[2 * d] = static_cast<T>(0.5 * shared);
    out[2 * d + 1] = negative;
  }
  void prepare_row(const float* x, float* out) const noexcept override { prepare_any(x, out); }
  void prepare_row(const double* x, double* out) const noexcept override { prepare_any(x, out); }

  int64_t scratch() const noexcept override { return 1; }
  template <class T>
  void finish_panel(MatrixView<const T> X, const T* panel, T* P, T* counts) const noexcept {
    constexpr int64_t kWidth = transform::kPanelColumns<T>;
    const int64_t d = inputs();
    transform::project_panel(X.block_cols(0, d), panel, P);
    bool negative = false;
    for (int64_t i = 0; i < X.rows; ++i) negative = negative || X(i, 2 * d + 1) > 0;
    if (negative) {
      transform::project_panel(X.block_cols(d, 2 * d), panel, counts);
    } else {
      std::fill_n(counts, X.rows * kWidth, T{0});
    }
    transform::signed_exp(counts, X.rows, kWidth, X.data + 2 * d, X.ld, static_cast<T>(scale_), P);
  }
  void finish(MatrixView<const float> X, const float* panel, float* P,
              float* scratch) const noexcept override {
    finish_panel(X, panel, P, scratch);
  }
  void finish(MatrixView<const double> X, const double* panel, double* P,
              double* scratch) const noexcept override {
    finish_panel(X, panel, P, scratch);
  }

  std::unique_ptr<const kernel::Kernel> kernel_;
  std::vector<double> means_;
  uint64_t seed_;
  double scale_;
};

std::unique_ptr<FeatureMap> poisson_from(const MapArguments& a) {
  require_features(a.kernel.traits().is_gaussian, a.kernel, "Poisson", "gaussian");
  a.kernel.check_dimension(a.inputs);
  for (const double l : a.kernel.lengthscale()) {
    require(
        l >= kLeastPoissonLengthscale, MERCER_UNSUPPORTED,
        "lengthscale = %g, expected at least %g: the variance of map poisson grows as exp(1/l^2) "
        "for each input",
        l, kLeastPoissonLengthscale);
  }
  return std::make_unique<Poisson>(a.kernel.copy(), a.inputs, a.features, a.seed);
}

}  // namespace

MapEntry poisson_entry() {
  return {.name = "poisson",
          .help =
              "random monomials with Poisson exponents, for the Gaussian: for few inputs of size "
              "about 1, or long lengthscales; 2*d*D per row",
          .make = poisson_from};
}

}  // namespace mercer::feature
