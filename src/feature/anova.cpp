// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of ANOVA kernels with random signs w:
//   Z_j = sqrt(variance / D) sum over S, |S| = degree, of prod_{k in S} w_jk x_k,
// unbiased because products over different S are uncorrelated; or over all S,
//   Z_j = sqrt(variance / D) prod_k (1 + w_jk x_k).
// Variances: feature/anova.h.
#include "feature/anova.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/size.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/map_entry.h"
#include "feature/panel_map.h"
#include "transform/panel.h"

namespace mercer::feature {
namespace {

// Even powers of w have the mean 1 and odd ones 0, which leaves the terms of the header.

// Coefficients up to degree m in each of s, t, u, v.
class FourVariables {
 public:
  FourVariables(int64_t degree, std::vector<double>& storage)
      : side_(degree + 1), storage_(storage) {
    storage_.assign(side_ * side_ * side_ * side_, 0.0);
    storage_[0] = 1;
  }
  double highest() const { return storage_.back(); }

  // Times 1 + st xx + uv yy + (su + sv + tu + tv) xy + stuv xx yy, from the highest powers down, so
  // that what is read has not been written yet.
  void multiply(double xx, double yy, double xy) {
    for (int64_t s = side_ - 1; s >= 0; --s)
      for (int64_t t = side_ - 1; t >= 0; --t)
        for (int64_t u = side_ - 1; u >= 0; --u)
          for (int64_t v = side_ - 1; v >= 0; --v) {
            const double cross = at(s - 1, t, u - 1, v) + at(s - 1, t, u, v - 1) +
                                 at(s, t - 1, u - 1, v) + at(s, t - 1, u, v - 1);
            storage_[index(s, t, u, v)] += at(s - 1, t - 1, u, v) * xx +
                                           at(s, t, u - 1, v - 1) * yy + cross * xy +
                                           at(s - 1, t - 1, u - 1, v - 1) * (xx * yy);
          }
  }

 private:
  size_t index(int64_t s, int64_t t, int64_t u, int64_t v) const {
    return static_cast<size_t>(((s * side_ + t) * side_ + u) * side_ + v);
  }
  double at(int64_t s, int64_t t, int64_t u, int64_t v) const {
    return std::min({s, t, u, v}) < 0 ? 0 : storage_[index(s, t, u, v)];
  }

  int64_t side_;
  std::vector<double>& storage_;
};

// Derivatives of one panel of ANOVA features, z_j = scale e_m(w_j1 x_1, ..., w_jd x_d), e_m the
// elementary symmetric polynomial, or z_j = scale prod_k (1 + w_jk x_k).
template <class T>
struct AnovaPanel : PanelRow<T> {
  int64_t degree;  // m; 0: the product
  T scale;
};

// z is linear in every input: its derivative in some inputs is the product of their w times the
// same polynomial of the other inputs, with the degree less by one for each. The polynomial of all
// inputs but k is sum_t e_t(before k) e_{m-1-t}(after k).

// e_0, ..., e_{most} of the inputs so far, for the columns of a panel; the product is e_0 alone.
template <class T>
class Symmetric {
 public:
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;

  Symmetric(T* e, int64_t most, bool all) noexcept : e_(e), most_(most), all_(all) {}
  void begin() noexcept {
    std::fill_n(e_, (most_ + 1) * kWidth, T{0});
    std::fill_n(e_, kWidth, T{1});
  }
  void add(T x, const T* w) noexcept {
    if (all_) {
      for (int64_t j = 0; j < kWidth; ++j) e_[j] *= 1 + x * w[j];
      return;
    }
    for (int64_t t = most_; t > 0; --t)
      for (int64_t j = 0; j < kWidth; ++j)
        e_[t * kWidth + j] += e_[(t - 1) * kWidth + j] * (x * w[j]);
  }
  const T* at(int64_t t) const noexcept { return e_ + t * kWidth; }

 private:
  T* e_;
  int64_t most_;
  bool all_;
};

// Scratch of the functions below, in numbers for each column.
int64_t anova_scratch(int64_t inputs, int64_t degree) {
  return checked_multiply(checked_add(inputs, 2, "a row"), degree + 1, "polynomials of a row");
}

// out[j] = d^p z_j, for every column of the panel: 0 where an order is above 1. O(d m) a column.
template <class T>
void anova_partial(const AnovaPanel<T>& panel, const MultiIndex& p, T* out, T* scratch) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  const bool all = panel.degree == 0;
  const int64_t rest = all ? 0 : panel.degree - total_order(p);
  const bool linear =
      std::ranges::all_of(p, [](const PartialFactor& one) { return one.order < 2; });
  std::fill_n(out, kWidth, linear && rest >= 0 ? panel.scale : T{0});
  if (!linear || rest < 0) return;
  Symmetric<T> others(scratch, rest, all);
  others.begin();
  auto next = p.begin();
  for (int64_t k = 0; k < panel.inputs; ++k) {
    const T* const w = panel.W + k * kWidth;
    if (next != p.end() && next->input == k) {
      for (int64_t j = 0; j < kWidth; ++j) out[j] *= w[j];
      ++next;
    } else {
      others.add(panel.x[k], w);
    }
  }
  for (int64_t j = 0; j < kWidth; ++j) out[j] *= others.at(rest)[j];
}

// out[k columns + j] = dz_j/dx_k for every input, from products over the inputs before k and those
// after it; O(d m) a column in all.
template <class T>
void anova_gradient(const AnovaPanel<T>& panel, T* out, T* scratch) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  const bool all = panel.degree == 0;
  const int64_t most = all ? 0 : panel.degree - 1, state = (most + 1) * kWidth;
  // For every k, the polynomials of the inputs before k; then those of the inputs after it.
  T* before = scratch;
  Symmetric<T>(before, most, all).begin();
  for (int64_t k = 0; k + 1 < panel.inputs; ++k, before += state) {
    std::copy_n(before, state, before + state);
    Symmetric<T>(before + state, most, all).add(panel.x[k], panel.W + k * kWidth);
  }
  Symmetric<T> behind(scratch + panel.inputs * state, most, all);
  behind.begin();
  for (int64_t k = panel.inputs; k-- > 0;) {
    const T* const w = panel.W + k * kWidth;
    T* const z = out + k * kWidth;
    std::fill_n(z, kWidth, T{0});
    for (int64_t t = 0; t <= most; ++t)
      for (int64_t j = 0; j < kWidth; ++j) z[j] += before[t * kWidth + j] * behind.at(most - t)[j];
    for (int64_t j = 0; j < kWidth; ++j) z[j] *= panel.scale * w[j];
    behind.add(panel.x[k], w);
    if (k > 0) before -= state;
  }
}

class Anova final : public PanelMap, public Moments {
 public:
  Anova(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D, uint64_t seed)
      : PanelMap(d, D,
                 projection::drawn_columns(
                     {random::sign_law(), {}, projection::Unit::plain, d, D, seed})),
        kernel_(std::move(kernel)),
        seed_(seed),
        degree_(*kernel_->traits().subset_degree),
        scale_(std::sqrt(kernel_->variance() / static_cast<double>(D))) {}

  std::string_view name() const noexcept override { return "anova"; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override { return common_parameters(seed_); }

  const Moments& moments() const override { return *this; }
  double variance_at(const double* x, const double* y) const override {
    std::vector<double> scratch;
    const double amplitude = kernel_->variance() * kernel_->variance();
    const double square = degree_ > 0 ? symmetric_square(inputs(), x, y, degree_, scratch)
                                      : subsets_square(inputs(), x, y);
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
  require_features(a.kernel.traits().subset_degree.has_value(), a.kernel, "ANOVA", "anova");
  a.kernel.check_dimension(a.inputs);
  return std::make_unique<Anova>(a.kernel.copy(), a.inputs, a.features, a.seed);
}

}  // namespace

double symmetric_square(int64_t d, const double* x, const double* y, int64_t degree,
                        std::vector<double>& scratch) {
  FourVariables product(degree, scratch);
  for (int64_t k = 0; k < d; ++k) product.multiply(x[k] * x[k], y[k] * y[k], x[k] * y[k]);
  return product.highest();
}

double subsets_square(int64_t d, const double* x, const double* y) noexcept {
  double product = 1;
  for (int64_t k = 0; k < d; ++k) {
    const double xx = x[k] * x[k], yy = y[k] * y[k];
    product *= 1 + xx + yy + xx * yy + 4 * (x[k] * y[k]);
  }
  return product;
}

MapEntry anova_entry() {
  return {.name = "anova",
          .help =
              "sums over subsets of products of inputs with random signs, for the kernel anova; "
              "degree*d*D per row",
          .make = anova_from,
          .default_kernel = kernel_named("anova")};
}

}  // namespace mercer::feature
