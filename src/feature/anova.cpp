// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of ANOVA kernels with random signs w (SPEC section 6):
//   Z_j = sqrt(variance / D) sum over S, |S| = degree, of prod_{k in S} w_jk x_k,
// unbiased because products over different S are uncorrelated; or over all S,
//   Z_j = sqrt(variance / D) prod_k (1 + w_jk x_k).
// Variances: moment/anova_variance.h.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "feature/anova_derivative.h"
#include "feature/map_entry.h"
#include "feature/moments.h"
#include "feature/panel_map.h"
#include "moment/anova_variance.h"
#include "transform/elementary_symmetric.h"

namespace mercer::feature {
namespace {

class Anova final : public PanelMap, public Moments {
 public:
  Anova(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D, uint64_t seed)
      : PanelMap(d, D,
                 projection::drawn_columns(
                     {random::sign_law(), {}, projection::Unit::plain, d, D, seed})),
        kernel_(std::move(kernel)),
        seed_(seed),
        degree_(*kernel_->subset_degree()),
        scale_(std::sqrt(kernel_->variance() / static_cast<double>(D))) {}

  std::string_view name() const noexcept override { return "anova"; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override { return common_parameters(seed_); }

  const Moments& moments() const override { return *this; }
  double variance_at(const double* x, const double* y) const override {
    std::vector<double> scratch;
    const double amplitude = kernel_->variance() * kernel_->variance();
    const double square = degree_ > 0 ? moment::symmetric_square(inputs(), x, y, degree_, scratch)
                                      : moment::subsets_square(inputs(), x, y);
    const double k = kernel_->value(inputs(), x, y);
    // std::max in this order keeps a NaN.
    return std::max((amplitude * square - k * k) / static_cast<double>(features()), 0.0);
  }

  ColumnForm column_form() const noexcept override { return ColumnForm::real; }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    return independent_columns(*this, x, y);
  }

 private:
  template <class T>
  AnovaPanel<T> panel_of(const T* x, const T* W) const noexcept {
    return {{x, W, inputs()}, degree_, static_cast<T>(scale_)};
  }
  int64_t derivative_scratch() const override { return anova_scratch(inputs(), degree_); }
  void panel_gradient(const float* x, const float* W, float* dz,
                      float* scratch) const noexcept override {
    anova_gradient(panel_of(x, W), dz, scratch);
  }
  void panel_gradient(const double* x, const double* W, double* dz,
                      double* scratch) const noexcept override {
    anova_gradient(panel_of(x, W), dz, scratch);
  }
  void panel_partial(const MultiIndex& p, const float* x, const float* W, float* z,
                     float* scratch) const noexcept override {
    anova_partial(panel_of(x, W), p, z, scratch);
  }
  void panel_partial(const MultiIndex& p, const double* x, const double* W, double* z,
                     double* scratch) const noexcept override {
    anova_partial(panel_of(x, W), p, z, scratch);
  }

  template <class T>
  void finish_panel(MatrixView<const T> X, const T* panel, T* P) const noexcept {
    const T scale = static_cast<T>(scale_);
    if (degree_ > 0) return transform::symmetric_panel(X, panel, degree_, scale, P);
    transform::subsets_panel(X, panel, scale, P);
  }
  void finish(MatrixView<const float> X, const float* panel, float* P,
              float*) const noexcept override {
    finish_panel(X, panel, P);
  }
  void finish(MatrixView<const double> X, const double* panel, double* P,
              double*) const noexcept override {
    finish_panel(X, panel, P);
  }

  std::unique_ptr<const kernel::Kernel> kernel_;
  uint64_t seed_;
  int64_t degree_;  // 0: all subsets
  double scale_;
};

std::unique_ptr<FeatureMap> anova_from(const MapArguments& a) {
  require_features(a.kernel.subset_degree().has_value(), a.kernel, "ANOVA", "anova");
  a.kernel.check_dimension(a.inputs);
  return std::make_unique<Anova>(a.kernel.copy(), a.inputs, a.features, a.seed);
}

}  // namespace

MapEntry anova_entry() {
  return {.name = "anova",
          .help =
              "sums over subsets of products of inputs with random signs, for the kernel anova; "
              "degree*d*D per row",
          .make = anova_from,
          .default_kernel = kernel_named("anova")};
}

}  // namespace mercer::feature
