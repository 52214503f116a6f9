// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z as an argument: real functions for real maps, complex ones for complex maps.
#pragma once

#include <limits>

#include "arguments.h"
#include "feature/feature_map.h"

namespace mercer::capi {

/// Which functions a caller uses, and what to say when the map is of the other kind.
struct NumberField {
  bool is_complex;
  const char* refusal;
};
inline constexpr NumberField kRealF32 = {
    false, "the map is complex, expected a call of the _c32 function"};
inline constexpr NumberField kRealF64 = {
    false, "the map is complex, expected a call of the _c64 function"};
inline constexpr NumberField kComplexF32 = {
    true, "the map is real, expected a call of the _f32 function"};
inline constexpr NumberField kComplexF64 = {
    true, "the map is real, expected a call of the _f64 function"};

/// UNSUPPORTED if the map is of the other kind.
inline void check_field(const feature::FeatureMap& map, const NumberField& field) {
  require(map.is_complex() == field.is_complex, MERCER_UNSUPPORTED, "%s", field.refusal);
}

/// Z counts real numbers inside the core: two per complex column.
template <class T>
Argument<T> feature_matrix(const NumberField& field, T* Z, int64_t n, int64_t columns,
                           int64_t ldz) {
  if (!field.is_complex) return matrix("Z", Z, "n", n, columns, "ldz", ldz);
  require(columns <= std::numeric_limits<int64_t>::max() / 2 &&
              ldz <= std::numeric_limits<int64_t>::max() / 2,
          MERCER_INVALID_ARGUMENT, "ldz = %lld, expected Z to fit the address space",
          static_cast<long long>(ldz));
  require(n <= 0 || ldz >= columns, MERCER_INVALID_ARGUMENT,
          "ldz = %lld, expected at least the %lld complex columns of Z",
          static_cast<long long>(ldz), static_cast<long long>(columns));
  return matrix("Z", Z, "n", n, 2 * columns, "ldz (in reals)", 2 * ldz);
}

}  // namespace mercer::capi
