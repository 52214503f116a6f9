// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/sketch.h for C++17.
#ifndef MERCER_SKETCH_HPP
#define MERCER_SKETCH_HPP

#include <complex>
#include <cstdint>
#include <type_traits>

#include "mercer/map.hpp"

namespace mercer {
inline namespace hpp {

inline mercer_sketch_options sketch_options() { return defaults(mercer_sketch_options_init); }

/// A sketch of a polynomial or bilinear kernel.
inline Map sketch(const Kernel& kernel, int64_t d, int64_t D,
                  const mercer_sketch_options& options = sketch_options()) {
  mercer_map* map = nullptr;
  check(mercer_sketch_create(kernel.get(), d, D, &options, &map));
  return Map(map);
}

/// Z(i, :) = the sum of the features of rows i*locations, ..., i*locations + locations - 1 of [X |
/// Y]. Real maps: T = float or double in all; complex ones: Z of std::complex<T>.
template <class T, class S, class U>
void apply_pair(const Map& map, int64_t locations, MatrixView<T> X, MatrixView<S> Y,
                MatrixView<U> Z, Context* context = nullptr) {
  using Real = std::remove_const_t<T>;
  static_assert(std::is_same_v<std::remove_const_t<S>, Real>, "X and Y hold the same numbers");
  static_assert(std::is_same_v<U, Real> || std::is_same_v<U, std::complex<Real>>,
                "Z holds what X holds, or its complex numbers");
  detail::check_same("rows of X and Y", X.rows, Y.rows);
  detail::check_same("rows of X and locations * rows of Z", X.rows, locations * Z.rows);
  int64_t d2 = 0;
  detail::check(mercer_map_right_inputs(map.get(), &d2), nullptr);
  detail::check_same("columns of Y", d2, Y.cols);
  detail::check_same("inputs and columns of X and Y", map.inputs(), X.cols + Y.cols);
  detail::check_same("features and columns of Z", map.features(), Z.cols);
  const auto call = [&](auto function) {
    // Complex arrays are interleaved reals by [complex.numbers].
    detail::check(function(map.get(), Z.rows, locations, X.data, X.ld, Y.data, Y.ld,
                           detail::handle(context), reinterpret_cast<Real*>(Z.data), Z.ld),
                  context);
  };
  constexpr bool real = std::is_same_v<U, Real>;
  if constexpr (detail::is_float<T>) {
    call(real ? mercer_map_apply_pair_f32 : mercer_map_apply_pair_c32);
  } else {
    call(real ? mercer_map_apply_pair_f64 : mercer_map_apply_pair_c64);
  }
}

/// The relative Frobenius error that the map's estimate of the Gram matrix of X is expected to
/// have.
inline double predicted_error(const Map& map, MatrixView<const double> X,
                              Context* context = nullptr) {
  detail::check_same("inputs and columns of X", map.inputs(), X.cols);
  double error = 0;
  detail::check(mercer_map_predicted_error_f64(map.get(), X.rows, X.data, X.ld,
                                               detail::handle(context), &error),
                context);
  return error;
}

struct RecommendedSketch {
  Map map;
  double predicted_error;
};

/// The plain real sketch of D columns with the lowest predicted error on X.
inline RecommendedSketch recommend_sketch(const Kernel& kernel, int64_t D, uint64_t seed,
                                          MatrixView<const double> X, Context* context = nullptr) {
  mercer_map* map = nullptr;
  double error = 0;
  detail::check(mercer_sketch_recommend(kernel.get(), D, seed, X.rows, X.cols, X.data, X.ld,
                                        detail::handle(context), &error, &map),
                context);
  return {Map(map), error};
}

}  // namespace hpp
}  // namespace mercer
#endif
