// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "projection/hadamard_blocks.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/size.h"
#include "random/stream.h"
#include "transform/dense_panel.h"
#include "transform/fwht.h"
#include "transform/gather.h"
#include "transform/row_permutation.h"

namespace mercer::projection {
namespace {

using transform::DiagonalKind;

constexpr int64_t kLeastDimension = 16;
constexpr int64_t kMostInputs = int64_t{1} << 28;
constexpr int64_t kColumnsTogether = 1024;

}  // namespace

template <class T>
void sorf_blocks(const T* x, const T* signs, const T* scale, int64_t n, int64_t blocks,
                 T* out) noexcept {
  transform::fwht_chain(x, 0, signs, DiagonalKind::signs, 3, scale, out, n, blocks);
}

template <class T>
void fastfood_blocks(const T* x, const T* signs, const PermutationIndex<T>* permutation,
                     const T* gaussian, const T* scale, int64_t n, int64_t blocks, T* scratch,
                     T* out) noexcept {
  transform::fwht_chain(x, 0, signs, DiagonalKind::signs, 1, nullptr, scratch, n, blocks);
  for (int64_t b = 0; b < blocks; ++b)
    transform::gather(scratch + b * n, permutation + b * n, n, out + b * n);
  transform::fwht_chain(out, n, gaussian, DiagonalKind::any, 1, scale, out, n, blocks);
}

template <class T>
void fastfood_rows(const T* const* x, const T* signs, const PermutationIndex<T>* permutation,
                   const T* gaussian, const T* scale, int64_t n, int64_t blocks, T* scratch,
                   T* out) noexcept {
  constexpr int64_t kRows = transform::kPermutedRows<T>;
  const int64_t size = n * blocks;
  for (int64_t r = 0; r < kRows; ++r) {
    transform::fwht_chain(x[r], 0, signs, DiagonalKind::signs, 1, nullptr, out + r * size, n,
                          blocks);
  }
  transform::interleave_rows(out, size, size, scratch);
  for (int64_t b = 0; b < size; b += n)
    transform::permute_rows(scratch + kRows * b, permutation + b, n, out + b, size);
  for (int64_t r = 0; r < kRows; ++r) {
    transform::fwht_chain(out + r * size, n, gaussian, DiagonalKind::any, 1, scale, out + r * size,
                          n, blocks);
  }
}

#define MERCER_INSTANTIATE(T)                                                                  \
  template void sorf_blocks(const T*, const T*, const T*, int64_t, int64_t, T*) noexcept;      \
  template void fastfood_blocks(const T*, const T*, const PermutationIndex<T>*, const T*,      \
                                const T*, int64_t, int64_t, T*, T*) noexcept;                  \
  template void fastfood_rows(const T* const*, const T*, const PermutationIndex<T>*, const T*, \
                              const T*, int64_t, int64_t, T*, T*) noexcept;
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

int64_t padded_dimension(int64_t d) {
  require(d <= kMostInputs, MERCER_INVALID_ARGUMENT,
          "inputs = %ld, expected at most %ld for a structured projection", d, kMostInputs);
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(d, kLeastDimension))));
}

BlockGroups hadamard_groups(int64_t padded, int64_t F) noexcept {
  const int64_t least = std::max<int64_t>(1, transform::kPanelColumns<float> / padded);
  const int64_t most = std::max(least, kColumnsTogether / padded);
  const int64_t needed = (F - 1) / padded + 1;
  return {padded, std::clamp(round_up(needed, least), least, most)};
}

double column_norm(const ProjectionArguments& arguments, int64_t padded, int64_t j) noexcept {
  const random::Law& law = *arguments.law;
  const double norm = arguments.radius == Radius::fixed
                          ? law.fixed_radius(padded)
                          : law.radius(random::Stream(arguments.seed, random::Tag::radius,
                                                      static_cast<uint64_t>(j)),
                                       padded);
  const double lengthscale = arguments.lengthscale.size() == 1 ? arguments.lengthscale[0] : 1.0;
  return norm / lengthscale * factor_of(arguments.unit);
}

}  // namespace mercer::projection
