// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/kernel.h for C++17.
#ifndef MERCER_KERNEL_HPP
#define MERCER_KERNEL_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "mercer/base.hpp"
#include "mercer/view.hpp"

namespace mercer {
inline namespace hpp {

class Kernel {
 public:
  static Kernel gaussian(Span<const double> lengthscale) {
    return typed(mercer_kernel_gaussian, lengthscale);
  }
  static Kernel laplacian(Span<const double> lengthscale) {
    return typed(mercer_kernel_laplacian, lengthscale);
  }
  static Kernel cauchy(Span<const double> lengthscale) {
    return typed(mercer_kernel_cauchy, lengthscale);
  }
  static Kernel matern(double nu, Span<const double> l) {
    return make([&](auto out) { return mercer_kernel_matern(nu, l.data(), l.size(), out); });
  }
  static Kernel rational_quadratic(double alpha, Span<const double> l) {
    return make(
        [&](auto out) { return mercer_kernel_rational_quadratic(alpha, l.data(), l.size(), out); });
  }
  static Kernel generalized_gaussian_spectrum(int64_t order, Span<const double> l) {
    return make([&](auto out) {
      return mercer_kernel_generalized_gaussian_spectrum(order, l.data(), l.size(), out);
    });
  }
  static Kernel skewed_chi2(double c) {
    return make([&](auto out) { return mercer_kernel_skewed_chi2(c, out); });
  }
  static Kernel polynomial(int64_t degree, double gamma, double offset) {
    return make([&](auto out) { return mercer_kernel_polynomial(degree, gamma, offset, out); });
  }
  static Kernel bilinear(int64_t left) {
    return make([&](auto out) { return mercer_kernel_bilinear(left, out); });
  }
  static Kernel from_spec(const std::string& json) {
    return make([&](auto out) { return mercer_kernel_from_spec(json.c_str(), out); });
  }
  Kernel with_variance(double variance) const {
    return make([&](auto out) { return mercer_kernel_with_variance(get(), variance, out); });
  }
  std::string spec() const {
    return detail::text([&](auto... buffer) { return mercer_kernel_spec(get(), buffer...); });
  }
  void gram(MatrixView<const double> X, MatrixView<const double> Y, MatrixView<double> K) const {
    detail::check_same("columns of X and Y", X.cols, Y.cols);
    detail::check_same("rows of X and of K", X.rows, K.rows);
    detail::check_same("rows of Y and columns of K", Y.rows, K.cols);
    check(mercer_kernel_gram_f64(get(), X.cols, X.rows, X.data, X.ld, Y.rows, Y.data, Y.ld, K.data,
                                 K.ld));
  }
  mercer_kernel* get() const noexcept { return owner_.get(); }

 private:
  using Handle = detail::Owner<mercer_kernel, mercer_kernel_free>;
  explicit Kernel(Handle owner) : owner_(std::move(owner)) {}
  template <class Make>
  static Kernel make(Make create) {
    return Kernel(detail::create<Handle>(create));
  }
  static Kernel typed(mercer_status (*create)(const double*, int64_t, mercer_kernel**),
                      Span<const double> l) {
    return make([&](auto out) { return create(l.data(), l.size(), out); });
  }
  Handle owner_;
};

}  // namespace hpp
}  // namespace mercer
#endif
