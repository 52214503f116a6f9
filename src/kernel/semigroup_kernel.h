// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels E exp(-omega'(x + y)) of rows without negative entries, omega with independent, equal
// coordinates >= 0.
#pragma once

#include <algorithm>
#include <memory>

#include "kernel/half_line_kernel.h"
#include "random/law.h"

namespace mercer::kernel {

/// scale times what kFill draws; kQuantile makes the same of a uniform number.
template <auto kFill, auto kQuantile>
class LaplaceLaw final : public random::Law {
 public:
  explicit LaplaceLaw(double scale) : scale_(scale) {}
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    kFill(stream, 0, omega);
    for (double& w : omega) w = finite(w);
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return false; }  // not symmetric about 0
  /// One component: the coordinates are independent in any case.
  bool is_mixture() const noexcept override { return true; }
  double mixing(double u) const noexcept override { return u; }
  double quantile_given(double /*m*/, int64_t /*k*/, double u) const noexcept override {
    return finite(kQuantile(u));
  }

 private:
  // Heavy tails stay finite as floats: 0 times infinity would be NaN. An entry this large takes a
  // kernel value of 0 from any input above 1e-34.
  double finite(double w) const noexcept {
    constexpr double kMost = 1e37;
    return std::min(scale_ * w, kMost);
  }
  double scale_;
};

/// A product of functions g of x_j + y_j, each a Laplace transform, smooth above 0. Derived also
/// offers  double relative_slope(n, s) const, g^(n)(s)/g(s).
template <class Derived, class Join, auto kFill, auto kQuantile>
class SemigroupKernel : public HalfLineKernel<Derived, Join> {
 public:
  const random::Law* laplace_law() const noexcept final { return &law_; }

  int64_t most_derivatives() const noexcept final { return 2 * kMostDerivatives; }
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const final {
    return make_differential(
        [this, order = sum_of(p, q)](int64_t d, const double* x, const double* y) {
          double product = this->value(d, x, y);
          for (const PartialFactor& one : order)
            product = times_slope(product, one.order, x[one.input] + y[one.input]);
          return product;
        });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept final {
    const double k = factor * this->value(d, x, y);
    for (int64_t j = 0; j < d; ++j) out[j] += times_slope(k, 1, x[j] + y[j]);
  }

 protected:
  SemigroupKernel(const Parameters& canonical, double scale)
      : HalfLineKernel<Derived, Join>(canonical), law_(scale) {}

 private:
  // 0 where the kernel vanishes.
  double times_slope(double k, int64_t n, double s) const noexcept {
    return k == 0 ? 0 : k * static_cast<const Derived&>(*this).relative_slope(n, s);
  }

  LaplaceLaw<kFill, kQuantile> law_;
};

/// The entry of such a kernel with one parameter, whose square and inverse are normal numbers.
template <class Kind>
KernelEntry semigroup_entry(const char* name, const char* help, const char* key,
                            const char* key_help) {
  return entry_of<Kind>(name, help, {number_field(key, 1.0, 1e-100, 1e100, key_help)}, "laplace");
}

}  // namespace mercer::kernel
