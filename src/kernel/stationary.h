// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels that are a function of a sum or product over the input's coordinates, which is every
// shift-invariant one here: k(x, y) = variance * finish(join_j term(x_j, y_j, scale_j)), scale_j =
// multiple / lengthscale_j.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kernel/entry.h"
#include "kernel/jet.h"
#include "kernel/kernel.h"
#include "random/distributions.h"
#include "transform/elements.h"

namespace mercer::kernel {

/// Derived offers  double term(x, y, scale) const  or, where inputs differ by more than their scale,
/// term(x, y, scale, j), and  double finish(joined) const.
template <class Derived, class Join>
class CoordinateKernel : public Kernel {
 public:
  double value(int64_t d, const double* x, const double* y) const noexcept final {
    return value_at_multiple(1, d, x, y);
  }

  double value_at_multiple(double multiple, int64_t d, const double* x,
                           const double* y) const noexcept final {
    return variance() * self().finish(joined(multiple, d, x, y));
  }

  double log_size(int64_t d, const double* x, const double* y) const noexcept final {
    if constexpr (requires(const Derived& own) { own.log_finish(0.0); }) {
      return std::log(variance()) + self().log_finish(joined(1, d, x, y));
    } else {
      return Kernel::log_size(d, x, y);
    }
  }

 protected:
  explicit CoordinateKernel(const Parameters& canonical) : Kernel(canonical) {
    for (const double l : lengthscale()) inverse_.push_back(1 / l);
    if (inverse_.empty()) inverse_.push_back(1);
  }
  /// 1/l_k.
  double inverse(int64_t k) const noexcept {
    return inverse_[inverse_.size() > 1 ? static_cast<size_t>(k) : 0];
  }
  /// One for all inputs, or one for each.
  std::span<const double> inverses() const noexcept { return inverse_; }

 private:
  const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }

  double joined(double multiple, int64_t d, const double* x, const double* y) const noexcept {
    const auto term = [&](int64_t j, double scale) noexcept {
      if constexpr (requires { self().term(x[j], y[j], scale, j); }) {
        return self().term(x[j], y[j], scale, j);
      } else {
        return self().term(x[j], y[j], scale);
      }
    };
    if (inverse_.size() > 1)
      return lane_fold<Join>(d, [&](int64_t j) { return term(j, multiple * inverse_[j]); });
    return lane_fold<Join>(
        d, [&, scale = multiple * inverse_[0]](int64_t j) { return term(j, scale); });
  }

  std::vector<double> inverse_;  // 1/lengthscale; one 1 if there is none
};

/// K(i, j) = what `add` sums over the inputs of X_i and Y_j, of differences times `scales`, one for
/// all inputs or one for each.
void fill_distances(void (*add)(const transform::DifferenceCall&) noexcept,
                    std::span<const double> scales, MatrixView<const double> X,
                    MatrixView<const double> Y, MatrixView<double> K) noexcept;

/// A coordinate kernel with its own spectral law, made from the arguments after the parameters.
template <class Derived, class Join, class Law>
class SpectralKernel : public CoordinateKernel<Derived, Join> {
 public:
  const random::Law* spectral_law() const noexcept final { return &law_; }

 protected:
  template <class... Argument>
  explicit SpectralKernel(const Parameters& canonical, const Argument&... of_law)
      : CoordinateKernel<Derived, Join>(canonical), law_(of_law...) {}

 private:
  Law law_;
};

// Laws of independent, equal coordinates that have a fill function; Derived adds the quantile.

template <auto kFill>
class CoordinateLaw : public random::Law {
 public:
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept final {
    kFill(stream, 0, omega);
  }
  bool isotropic() const noexcept final { return false; }
  bool is_product() const noexcept final { return true; }
};

// Kernels that are a function f of s = sum_k t_k^2, t_k = (x_k - y_k)/l_k, and their derivatives:
//   d^p f(s) = sum_j f^(n)(s) prod_k p_k!/((p_k - 2 j_k)! j_k!) (2 t_k)^{p_k - 2 j_k} / l_k^{p_k},
// 2 j_k <= p_k, n = sum_k (p_k - j_k), since s(x + h) = s + sum_k (2 t_k h_k/l_k + h_k^2/l_k^2).

/// Kernels of this kind, whatever f is.
class RadialSlopes {
 public:
  /// f[n] = d^n k/ds^n, n < f.size() <= most_derivatives() + 1; a finite number where s is 0 and
  /// there is no limit.
  virtual void radial_slopes(double s, std::span<double> f) const noexcept = 0;

 protected:
  ~RadialSlopes() = default;
};

/// Derived offers  double finish(s) const, f itself, and  void slopes(s, count, f) const  which
/// sets f[n] = f^(n)(s), n < count <= most_derivatives() + 1: any finite number where s is 0 and
/// that has no limit. Where it is faster with many s at once, also  bool take_values(s, slopes)
/// const  for take_slopes, with no slopes if these are not asked for; false: one by one.
template <class Derived, class Base = CoordinateKernel<Derived, Sum>>
class RadialKernel : public Base, public RadialSlopes {
 public:
  using Kernel::derivative;
  double term(double x, double y, double scale) const noexcept {
    const double t = (x - y) * scale;
    return t * t;
  }

  double derivative(const MultiIndex& order, int64_t d, const double* x,
                    const double* y) const noexcept override {
    SlopeSum sum;
    for (const PartialFactor& one : order) {
      const double inverse = this->inverse(one.input);
      const double t = (x[one.input] - y[one.input]) * inverse;
      double terms[SlopeSum::kMost + 1] = {};  // of f^(n)
      double term = 1;                         // p!/((p - 2j)! j!) / l^p
      for (int64_t m = 0; m < one.order; ++m) term *= inverse;
      for (int64_t j = 0; 2 * j <= one.order; ++j) {
        double power = 1;
        for (int64_t m = 2 * j; m < one.order; ++m) power *= 2 * t;
        terms[one.order - j] = term * power;
        term *= static_cast<double>((one.order - 2 * j) * (one.order - 2 * j - 1)) /
                static_cast<double>(j + 1);
      }
      sum.multiply(terms, one.order);
    }
    double f[SlopeSum::kMost + 1];
    self().slopes(squares(d, x, y), sum.highest() + 1, f);
    return this->variance() * sum.at(f);
  }

  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    double f[2];
    self().slopes(squares(d, x, y), 2, f);
    if (f[1] == 0) return;  // far out, where t may be infinite
    const double slope = 2 * (factor * this->variance()) * f[1];
    for (int64_t k = 0; k < d; ++k) {
      const double inverse = this->inverse(k);
      out[k] += slope * ((x[k] - y[k]) * inverse) * inverse;
    }
  }

  void compute(MatrixView<const double> X, MatrixView<const double> Y,
               MatrixView<double> K) const override {
    fill_distances(transform::add_squared_differences, this->inverses(), X, Y, K);
    for (int64_t i = 0; i < K.rows; ++i) {
      const std::span<double> row(K.row(i), static_cast<size_t>(K.cols));
      if (all_at_once(row, {})) continue;
      for (double& k : row) k = this->variance() * self().finish(k);
    }
  }

  bool take_slopes(std::span<double> s, std::span<double> slopes) const noexcept override {
    if (all_at_once(s, slopes)) return true;
    for (size_t i = 0; i < s.size(); ++i) {
      double f[2];
      self().slopes(s[i], 2, f);
      s[i] = this->variance() * f[0];
      if (!slopes.empty()) slopes[i] = this->variance() * f[1];
    }
    return true;
  }
  void radial_slopes(double s, std::span<double> f) const noexcept final {
    self().slopes(s, static_cast<int64_t>(f.size()), f.data());
    for (double& slope : f) slope *= this->variance();
  }

 protected:
  template <class... Argument>
  explicit RadialKernel(const Parameters& canonical, const Argument&... of_law)
      : Base(canonical, of_law...) {}

 private:
  const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
  bool all_at_once(std::span<double> s, std::span<double> slopes) const noexcept {
    if constexpr (requires { self().take_values(s, slopes); }) {
      return self().take_values(s, slopes);
    } else {
      return false;
    }
  }
  double squares(int64_t d, const double* x, const double* y) const noexcept {
    return lane_fold<Sum>(d, [&](int64_t k) { return term(x[k], y[k], this->inverse(k)); });
  }
};

}  // namespace mercer::kernel
