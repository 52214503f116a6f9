// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random monomials for the Gaussian kernel (Rudi, Rosasco 2017, appendix E; SPEC section 6):
//   Z_j = sqrt(variance / D) prod_k exp((1 - x_k^2) / (2 l_k^2)) x_k^omega_jk,
// omega_jk independent Poisson(1 / l_k^2), since E (x y)^omega = exp((x y - 1) / l^2). One
// lengthscale or one per input. The estimate has the variance (variance^2 exp(sum_k (1 - x_k^2)(1 -
// y_k^2) / l_k^2) - k^2) / D. Powers are exponentials of a projection of log |x|, their signs the
// parity of a projection of the negative inputs, so that nothing overflows on the way.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "feature/map_entry.h"
#include "feature/moments.h"
#include "feature/panel_map.h"
#include "feature/poisson_derivative.h"
#include "random/distributions.h"
#include "transform/signed_exp.h"

namespace mercer::feature {
namespace {

// Below this the variance is about exp(100 d) and estimates are useless.
constexpr double kLeastLengthscale = 0.1;
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
  require_features(a.kernel.is_gaussian(), a.kernel, "Poisson", "gaussian");
  a.kernel.check_dimension(a.inputs);
  for (const double l : a.kernel.lengthscale()) {
    require(
        l >= kLeastLengthscale, MERCER_UNSUPPORTED,
        "lengthscale = %g, expected at least %g: the variance of map poisson grows as exp(1/l^2) "
        "for each input",
        l, kLeastLengthscale);
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
