// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/map.h for C++17.
#ifndef MERCER_MAP_HPP
#define MERCER_MAP_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mercer/kernel.hpp"

namespace mercer {
inline namespace hpp {

class Map {
 public:
  explicit Map(mercer_map* owned) : owner_(owned) {}
  static Map fourier(const Kernel& kernel, int64_t d, int64_t D,
                     const mercer_fourier_options& options = fourier_options()) {
    return make([&](auto out) { return mercer_fourier_create(kernel.get(), d, D, &options, out); });
  }
  /// weights empty: 1/F each.
  static Map fourier_supplied(const Kernel& kernel, MatrixView<const double> frequencies,
                              Span<const double> weights = {},
                              const mercer_fourier_options& options = fourier_options()) {
    if (weights.size() != 0)
      detail::check_same("weights and frequencies", weights.size(), frequencies.rows);
    return make([&](auto out) {
      return mercer_fourier_create_supplied(kernel.get(), frequencies.cols, frequencies.rows,
                                            frequencies.data, frequencies.ld, weights.data(),
                                            &options, out);
    });
  }
  static Map linear(const Kernel& kernel, int64_t d, int64_t D,
                    const mercer_linear_options& options = linear_options()) {
    return make([&](auto out) { return mercer_linear_create(kernel.get(), d, D, &options, out); });
  }
  static Map from_spec(const std::string& json) {
    return make([&](auto out) { return mercer_map_from_spec(json.c_str(), out); });
  }
  static Map load(const std::string& path) {
    return make([&](auto out) { return mercer_map_load(path.c_str(), out); });
  }
  void save(const std::string& path) const { check(mercer_map_save(get(), path.c_str())); }
  std::string spec() const {
    return detail::text([&](auto... buffer) { return mercer_map_spec(get(), buffer...); });
  }
  int64_t inputs() const { return ask<int64_t>(mercer_map_inputs); }
  int64_t features() const { return ask<int64_t>(mercer_map_features); }
  bool is_complex() const { return ask<int32_t>(mercer_map_is_complex) != 0; }
  void prepare(mercer_precision precision, Context* context = nullptr) const {
    detail::check(mercer_map_prepare(get(), precision, detail::handle(context)), context);
  }

  /// Z(i, :) = phi(X_i). Real maps: T = float or double in both; complex ones: Z of
  /// std::complex<T>.
  template <class T, class U>
  void apply(MatrixView<T> X, MatrixView<U> Z) const {
    detail::check_same("features and columns of Z", features(), Z.cols);
    apply_columns(0, X, Z);
  }
  /// Columns j0, j0 + 1, ... as many as Z has.
  template <class T, class U>
  void apply_columns(int64_t j0, MatrixView<T> X, MatrixView<U> Z,
                     Context* context = nullptr) const {
    using Real = std::remove_const_t<T>;
    static_assert(std::is_same_v<U, Real> || std::is_same_v<U, std::complex<Real>>,
                  "Z holds what X holds, or its complex numbers");
    detail::check_same("inputs and columns of X", inputs(), X.cols);
    detail::check_same("rows of X and Z", X.rows, Z.rows);
    Real* out = reinterpret_cast<Real*>(
        Z.data);  // complex arrays are interleaved reals by [complex.numbers]
    const auto call = [&](auto function) {
      detail::check(function(get(), j0, j0 + Z.cols, X.rows, X.data, X.ld, detail::handle(context),
                             out, Z.ld),
                    context);
    };
    constexpr bool real = std::is_same_v<U, Real>;
    if constexpr (detail::is_float<T>) {
      call(real ? mercer_map_apply_columns_f32 : mercer_map_apply_columns_c32);
    } else {
      call(real ? mercer_map_apply_columns_f64 : mercer_map_apply_columns_c64);
    }
  }
  /// The same of sparse rows.
  template <class T, class Index, class U>
  void apply(const CsrView<T, Index>& X, MatrixView<U> Z, Context* context = nullptr) const {
    static_assert(std::is_same_v<U, T> || std::is_same_v<U, std::complex<T>>,
                  "Z holds what X holds, or its complex numbers");
    detail::check_same("rows of X and Z", X.rows, Z.rows);
    detail::check_same("features and columns of Z", features(), Z.cols);
    constexpr bool real = std::is_same_v<U, T>;
    const auto call = [&](auto real_function, auto complex_function) {
      const auto function = real ? real_function : complex_function;
      detail::check(function(get(), X.rows, X.nonzeros, X.offsets, X.indices, X.values,
                             detail::handle(context), reinterpret_cast<T*>(Z.data), Z.ld),
                    context);
    };
    constexpr bool narrow = std::is_same_v<Index, int32_t>;
    static_assert(narrow || std::is_same_v<Index, int64_t>, "indices have 32 or 64 bits");
    if constexpr (detail::is_float<T>) {
      if constexpr (narrow) call(mercer_map_apply_csr32_f32, mercer_map_apply_csr32_c32);
      if constexpr (!narrow) call(mercer_map_apply_csr64_f32, mercer_map_apply_csr64_c32);
    } else {
      if constexpr (narrow) call(mercer_map_apply_csr32_f64, mercer_map_apply_csr32_c64);
      if constexpr (!narrow) call(mercer_map_apply_csr64_f64, mercer_map_apply_csr64_c64);
    }
  }

  template <class T>
  Matrix<std::remove_const_t<T>> apply(MatrixView<T> X) const {
    Matrix<std::remove_const_t<T>> Z(X.rows, features());
    apply(X, Z.view());
    return Z;
  }
  std::vector<double> variance(MatrixView<const double> X, MatrixView<const double> Y) const {
    detail::check_same("rows of X and Y", X.rows, Y.rows);
    detail::check_same("inputs and columns of X", inputs(), X.cols);
    detail::check_same("columns of X and Y", X.cols, Y.cols);
    std::vector<double> result(static_cast<size_t>(X.rows));
    check(mercer_map_variance_f64(get(), X.rows, X.data, X.ld, Y.data, Y.ld, result.data()));
    return result;
  }
  mercer_map* get() const noexcept { return owner_.get(); }

 private:
  using Handle = detail::Owner<mercer_map, mercer_map_free>;
  template <class Make>
  static Map make(Make create) {
    return Map(detail::create<Handle>(create).release());
  }
  template <class T>
  T ask(mercer_status (*question)(const mercer_map*, T*)) const {
    T answer{};
    check(question(get(), &answer));
    return answer;
  }
  Handle owner_;
};

}  // namespace hpp
}  // namespace mercer
#endif
