// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/operator.h for C++17.
//
// Example: a random field without sources at the rows of X, and its Jacobian there.
//
//   const char* spec = R"({"operator":"divergence_free","inputs":3,"features":40})";
//   mercer::OperatorMap field = mercer::OperatorMap::from_spec(spec);
//   mercer::Matrix<double> theta(field.coefficients(), 1);
//   for (int64_t i = 0; i < theta.rows(); ++i) theta(i, 0) = i % 2 == 0 ? 1 : -1;
//   mercer::Matrix<double> f(X.rows(), field.outputs());
//   field.apply(X, theta, f);
//   mercer::Matrix<double> J(X.rows(), field.outputs() * field.inputs());
//   field.apply(X, theta, J, MERCER_FIELD_JACOBIAN);
#ifndef MERCER_OPERATOR_HPP
#define MERCER_OPERATOR_HPP

#include <cstdint>
#include <string>
#include <utility>

#include "mercer/io.hpp"
#include "mercer/kernel.hpp"
#include "mercer/operator.h"

namespace mercer {
inline namespace hpp {

/// An operator-valued kernel.
class OperatorKernel {
 public:
  static OperatorKernel from_spec(const std::string& json) {
    return OperatorKernel(detail::create<Handle>(
        [&](auto out) { return mercer_operator_kernel_from_spec(json.c_str(), out); }));
  }
  std::string spec() const {
    return detail::text(
        [&](auto... buffer) { return mercer_operator_kernel_spec(get(), buffer...); });
  }
  /// Block (i, j) of K is K(X_i, Y_j).
  void gram(const Rows& X, const Rows& Y, const Result& K, Context* context = nullptr) const {
    detail::check(mercer_operator_kernel_gram(get(), X.get(), Y.get(), nullptr,
                                              detail::handle(context), K.get()),
                  context);
  }
  /// Row i of out is sum_j K(X_i, Y_j) u_j, without K.
  void gram_apply(const Rows& X, const Rows& Y, const Rows& U, const Result& out,
                  Context* context = nullptr) const {
    detail::check(mercer_operator_kernel_gram(get(), X.get(), Y.get(), U.get(),
                                              detail::handle(context), out.get()),
                  context);
  }
  mercer_operator_kernel* get() const noexcept { return owner_.get(); }

 private:
  using Handle = detail::Owner<mercer_operator_kernel, mercer_operator_kernel_free>;
  explicit OperatorKernel(Handle owner) : owner_(std::move(owner)) {}
  Handle owner_;
};

/// Gamma or a simplex code; the latter has no data.
inline void output_structure(mercer_structure kind, const Rows& data, const Result& out,
                             double scale = 0, Context* context = nullptr) {
  detail::check(
      mercer_output_structure(kind, data.get(), scale, detail::handle(context), out.get()),
      context);
}
inline void simplex_code(const Result& code, Context* context = nullptr) {
  detail::check(mercer_output_structure(MERCER_STRUCTURE_SIMPLEX, nullptr, 0,
                                        detail::handle(context), code.get()),
                context);
}

/// Random features of an operator-valued kernel.
class OperatorMap
    : public detail::Kept<OperatorMap, mercer_operator_map_load, mercer_operator_map_save,
                          mercer_operator_map_from_bytes, mercer_operator_map_to_bytes> {
  friend Kept;

 public:
  static OperatorMap from_spec(const std::string& json) {
    return make([&](auto out) { return mercer_operator_map_from_spec(json.c_str(), out); });
  }
  static OperatorMap decomposable(const std::string& json, const Kernel& kernel,
                                  const Rows& gamma) {
    return make([&](auto out) {
      return mercer_operator_map_decomposable(json.c_str(), kernel.get(), gamma.get(), out);
    });
  }
  /// roots: a p x q matrix for each row of frequencies.
  static OperatorMap supplied(const Rows& frequencies, int64_t p, int64_t q,
                              Span<const double> roots) {
    if (roots.size() != frequencies.rows() * p * q)
      throw Error(MERCER_DIMENSION_MISMATCH, "p q numbers for each frequency expected");
    return make([&](auto out) {
      return mercer_operator_map_supplied(frequencies.get(), p, q, roots.data(), out);
    });
  }
  /// root(omega, B) writes B(omega), p x q, and must not throw.
  template <class Root>
  static OperatorMap from_roots(const std::string& json, int64_t p, int64_t q, Root root) {
    const auto call = [](void* user, const double* omega, double* B) noexcept -> int32_t {
      (*static_cast<Root*>(user))(omega, B);
      return 0;
    };
    return make([&](auto out) {
      return mercer_operator_map_from_roots(json.c_str(), p, q, call, &root, out);
    });
  }
  std::string spec() const {
    return detail::text([&](auto... buffer) { return mercer_operator_map_spec(get(), buffer...); });
  }

  int64_t inputs() const { return shape().d; }
  int64_t outputs() const { return shape().p; }
  int64_t features() const { return shape().D; }
  int64_t coefficients() const { return shape().r; }
  double dropped() const { return shape().dropped; }

  /// out row i: what `kind` says of the field of each column of theta at X_i.
  void apply(const Rows& X, const Rows& theta, const Result& out,
             mercer_field kind = MERCER_FIELD_VALUE, Context* context = nullptr) const {
    detail::check(mercer_operator_map_apply(get(), X.get(), theta.get(), kind,
                                            detail::handle(context), out.get()),
                  context);
  }
  /// theta = sum_i Phi(X_i) Y_i.
  void adjoint(const Rows& X, const Rows& Y, const Result& theta,
               Context* context = nullptr) const {
    detail::check(
        mercer_operator_map_adjoint(get(), X.get(), Y.get(), detail::handle(context), theta.get()),
        context);
  }
  void matrix(const Rows& X, const Result& phi, Context* context = nullptr) const {
    detail::check(mercer_operator_map_matrix(get(), X.get(), detail::handle(context), phi.get()),
                  context);
  }
  void variance(const Rows& X, const Rows& Y, const Result& out, Context* context = nullptr) const {
    detail::check(
        mercer_operator_map_variance(get(), X.get(), Y.get(), detail::handle(context), out.get()),
        context);
  }
  mercer_operator_map* get() const noexcept { return owner_.get(); }

 private:
  using Handle = detail::Owner<mercer_operator_map, mercer_operator_map_free>;
  struct Shape {
    int64_t d, p, D, r;
    double dropped;
  };
  explicit OperatorMap(Handle owner) : owner_(std::move(owner)) {}
  template <class Make>
  static OperatorMap make(Make create) {
    return OperatorMap(detail::create<Handle>(create));
  }
  Shape shape() const {
    Shape s{};
    check(mercer_operator_map_shape(get(), &s.d, &s.p, &s.D, &s.r, &s.dropped));
    return s;
  }
  Handle owner_;
};

}  // namespace hpp
}  // namespace mercer
#endif
