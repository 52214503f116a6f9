// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/kernel.h for C++17.
//
// Example: a Matern kernel with a lengthscale per input.
//
//   std::vector<double> lengthscale = {0.5, 2.0, 1.0};
//   mercer::Kernel kernel = mercer::Kernel::matern(1.5, lengthscale);
#ifndef MERCER_KERNEL_HPP
#define MERCER_KERNEL_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base.hpp"
#include "mercer/spec.hpp"
#include "mercer/view.hpp"

namespace mercer {
inline namespace hpp {

/// A kernel. lengthscale: one number, or one per input; variance: the amplitude. The makers are
/// short for from_spec, whose text is at most 1 MiB.
class Kernel {
 public:
  static Kernel gaussian(Span<const double> lengthscale, double variance = 1) {
    return from_spec(spec::kernels::Gaussian().lengthscale(each(lengthscale)).variance(variance));
  }
  static Kernel laplacian(Span<const double> lengthscale, double variance = 1) {
    return from_spec(spec::kernels::Laplacian().lengthscale(each(lengthscale)).variance(variance));
  }
  static Kernel cauchy(Span<const double> lengthscale, double variance = 1) {
    return from_spec(spec::kernels::Cauchy().lengthscale(each(lengthscale)).variance(variance));
  }
  static Kernel matern(double nu, Span<const double> lengthscale, double variance = 1) {
    return from_spec(
        spec::kernels::Matern().nu(nu).lengthscale(each(lengthscale)).variance(variance));
  }
  static Kernel rational_quadratic(double alpha, Span<const double> lengthscale,
                                   double variance = 1) {
    return from_spec(spec::kernels::RationalQuadratic()
                         .alpha(alpha)
                         .lengthscale(each(lengthscale))
                         .variance(variance));
  }
  static Kernel generalized_gaussian_spectrum(int64_t order, Span<const double> lengthscale,
                                              double variance = 1) {
    const auto made = spec::kernels::GeneralizedGaussianSpectrum().order(order).variance(variance);
    return from_spec(made.lengthscale(each(lengthscale)));
  }
  static Kernel skewed_chi2(double c, double variance = 1) {
    return from_spec(spec::kernels::SkewedChi2().c(c).variance(variance));
  }
  static Kernel polynomial(int64_t degree, double gamma, double offset, double variance = 1) {
    const auto made = spec::kernels::Polynomial().degree(degree).gamma(gamma).offset(offset);
    return from_spec(made.variance(variance));
  }
  static Kernel bilinear(int64_t left, double variance = 1) {
    return from_spec(spec::kernels::Bilinear().left(left).variance(variance));
  }
  /// scalar times Gamma.
  static Kernel decomposable(const Kernel& scalar, const Rows& gamma, double cutoff = 1e-12) {
    return make([&](auto out) {
      return mercer_kernel_decomposable(scalar.get(), gamma.get(), cutoff, out);
    });
  }
  static Kernel from_spec(const std::string& json) {
    return make([&](auto out) { return mercer_kernel_from_spec(json.c_str(), out); });
  }
  std::string spec() const {
    return detail::text([&](auto... buffer) { return mercer_kernel_spec(get(), buffer...); });
  }
  /// In the builder of another spec.
  operator spec::Of<spec::Kernel>() const { return this->spec(); }
  /// K(i, j) = k(X_i, Y_j), for several outputs a block of K; K of float or double.
  void gram(const Rows& X, const Rows& Y, const Result& K, Context* context = nullptr) const {
    detail::check(mercer_kernel_gram(get(), X.get(), Y.get(), {}, detail::handle(context), K.get()),
                  context);
  }
  /// Row i of out is sum_j K(X_i, Y_j) u_j, without K.
  void multiply(const Rows& X, const Rows& Y, const Rows& U, const Result& out,
                Context* context = nullptr) const {
    detail::check(
        mercer_kernel_gram(get(), X.get(), Y.get(), U.get(), detail::handle(context), out.get()),
        context);
  }
  mercer_kernel* get() const noexcept { return owner_.get(); }

 private:
  friend class Map;
  using Handle = detail::Owner<mercer_kernel, mercer_kernel_free>;
  explicit Kernel(Handle owner) : owner_(std::move(owner)) {}
  template <class Make>
  static Kernel make(Make create) {
    return Kernel(detail::create<Handle>(create));
  }
  static spec::Numbers each(Span<const double> list) {
    if (list.size() == 1) return *list.data();
    return std::vector<double>(list.data(), list.data() + list.size());
  }
  Handle owner_;
};

}  // namespace hpp
}  // namespace mercer
#endif
