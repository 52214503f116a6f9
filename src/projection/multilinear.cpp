// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "projection/multilinear.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "projection/sketch_kind.h"
#include "transform/stream_copy.h"

namespace mercer::projection {

template <class T>
void put_row(const T* from, int64_t n, T* to, bool around_caches) noexcept {
  if (!around_caches) return void(std::copy_n(from, n, to));
  transform::stream_copy(from, n, to);
}
template void put_row(const float*, int64_t, float*, bool) noexcept;
template void put_row(const double*, int64_t, double*, bool) noexcept;

int64_t sketch_dimension(std::span<const FactorShape> factors) {
  constexpr int64_t kMostInputs = int64_t{1} << 28;
  int64_t most = 1;
  for (const FactorShape& factor : factors) most = std::max(most, factor.dimension());
  require(most <= kMostInputs, MERCER_INVALID_ARGUMENT,
          "inputs = %ld, expected at most %ld for a sketch", most, kMostInputs);
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(most)));
}

std::unique_ptr<Multilinear> make_multilinear(const SketchShape& shape) {
  return shape.kind->make(shape);
}

}  // namespace mercer::projection
