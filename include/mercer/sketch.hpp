// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/sketch.h for C++17. A sketch itself is made by Map::from_spec.
//
// Example: the sketch of at most 512 columns with the least error for a polynomial kernel.
//
//   mercer::Kernel kernel = mercer::Kernel::polynomial(3, 1.0, 1.0);
//   mercer::RecommendedSketch best = mercer::recommend_sketch(kernel, 512, 0, X);
#ifndef MERCER_SKETCH_HPP
#define MERCER_SKETCH_HPP

#include <cstdint>

#include "mercer/map.hpp"

namespace mercer {
inline namespace hpp {

struct RecommendedSketch {
  Map map;
  double predicted_error;
};

/// The plain real sketch of D columns with the lowest predicted error on X; all monomials if there
/// are at most D.
inline RecommendedSketch recommend_sketch(const Kernel& kernel, int64_t D, uint64_t seed,
                                          const Rows& X, Context* context = nullptr) {
  mercer_map* map = nullptr;
  double error = 0;
  detail::check(mercer_sketch_recommend(kernel.get(), D, seed, X.get(), detail::handle(context),
                                        &error, &map),
                context);
  return {Map(map), error};
}

}  // namespace hpp
}  // namespace mercer
#endif
