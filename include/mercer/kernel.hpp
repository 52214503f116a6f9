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
#include "mercer/spec_value.hpp"
#include "mercer/view.hpp"

namespace mercer {
inline namespace hpp {

/// A kernel. lengthscale: one number, or one per input; variance: the amplitude. The makers are
/// short for from_spec, whose text is at most 1 MiB.
class Kernel {
 public:
  static Kernel gaussian(Span<const double> lengthscale, double variance = 1) {
    return from_spec(Named("gaussian", variance, lengthscale));
  }
  static Kernel laplacian(Span<const double> lengthscale, double variance = 1) {
    return from_spec(Named("laplacian", variance, lengthscale));
  }
  static Kernel cauchy(Span<const double> lengthscale, double variance = 1) {
    return from_spec(Named("cauchy", variance, lengthscale));
  }
  static Kernel matern(double nu, Span<const double> lengthscale, double variance = 1) {
    return from_spec(Named("matern", variance, lengthscale).with("nu", spec::Number(nu)));
  }
  static Kernel rational_quadratic(double alpha, Span<const double> lengthscale,
                                   double variance = 1) {
    return from_spec(
        Named("rational_quadratic", variance, lengthscale).with("alpha", spec::Number(alpha)));
  }
  static Kernel generalized_gaussian_spectrum(int64_t order, Span<const double> lengthscale,
                                              double variance = 1) {
    const Named made("generalized_gaussian_spectrum", variance, lengthscale);
    return from_spec(made.with("order", spec::Integer(order)));
  }
  static Kernel skewed_chi2(double c, double variance = 1) {
    return from_spec(Named("skewed_chi2", variance).with("c", spec::Number(c)));
  }
  static Kernel polynomial(int64_t degree, double gamma, double offset, double variance = 1) {
    const Named made = Named("polynomial", variance).with("degree", spec::Integer(degree));
    return from_spec(made.with("gamma", spec::Number(gamma)).with("offset", spec::Number(offset)));
  }
  static Kernel bilinear(int64_t left, double variance = 1) {
    return from_spec(Named("bilinear", variance).with("left", spec::Integer(left)));
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
  struct Named : spec::Of<spec::Kernel> {
    Named(const char* name, spec::Number variance) : Of("kernel", name) {
      set("variance", variance);
    }
    Named(const char* name, spec::Number variance, Span<const double> lengthscale)
        : Named(name, variance) {
      const std::vector<double> list(lengthscale.data(), lengthscale.data() + lengthscale.size());
      set("lengthscale", list.size() == 1 ? spec::Numbers(list[0]) : spec::Numbers(list));
    }
    Named with(const char* key, const spec::Value& value) const {
      return Of::with(*this, key, value);
    }
  };
  Handle owner_;
};

}  // namespace hpp
}  // namespace mercer
#endif
