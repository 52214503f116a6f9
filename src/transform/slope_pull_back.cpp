// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Cotangents of P from the slopes of the features, some columns at a time, so that the slopes stay
// in the L1 cache.
#include <algorithm>

#include "transform/dense_panel.h"
#include "transform/epilogue_gradient.h"

namespace mercer::transform {
namespace {

constexpr int64_t kColumns = 256;
constexpr int64_t kMostParts = 2;

// Separate lanes let the compiler vectorise; they also fix the order of sums.
template <class T>
double sum_of_products(const T* a, const T* b, int64_t count) noexcept {
  constexpr int64_t kLanes = 8;
  static_assert(kPanelColumns<T> % kLanes == 0);
  double lane[kLanes] = {};
  for (int64_t j = 0; j < count; j += kLanes)
    for (int64_t l = 0; l < kLanes; ++l)
      lane[l] += static_cast<double>(a[j + l]) * static_cast<double>(b[j + l]);
  for (int64_t width = kLanes / 2; width > 0; width /= 2)
    for (int64_t l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}

template <class T>
void pull_back_by_slopes(const EpilogueGradient& gradient, const GradientBlock<T>& block) noexcept {
  alignas(64) T value[kMostParts * kColumns];
  alignas(64) T slope[kMostParts * kColumns];
  const T angle = static_cast<T>(gradient.angle());
  const int64_t parts = gradient.gradient_parts();
  for (int64_t i = 0; i < block.rows; ++i) {
    for (int64_t j0 = 0; j0 < block.columns; j0 += kColumns) {
      const int64_t count = std::min(kColumns, block.columns - j0), at = i * block.columns + j0;
      gradient.slopes({block.P + at, block.scale + j0, block.phase + j0,
                       block.sums != nullptr ? value : nullptr, slope, kColumns, count,
                       block.row_numbers != nullptr ? block.row_numbers + i : nullptr});
      for (int64_t p = 0; p < parts; ++p) {
        const T* const G = block.G + p * block.part_step + at;
        T* const own = slope + p * kColumns;
        if (block.sums != nullptr) block.sums[i] += sum_of_products(G, value + p * kColumns, count);
        for (int64_t j = 0; j < count; ++j) own[j] *= G[j];
        if (p > 0)
          for (int64_t j = 0; j < count; ++j) slope[j] += own[j];
      }
      for (int64_t j = 0; j < count; ++j) block.out[at + j] = angle * slope[j];
    }
  }
}

}  // namespace

void EpilogueGradient::pull_back(const GradientBlock<float>& block) const noexcept {
  pull_back_by_slopes(*this, block);
}
void EpilogueGradient::pull_back(const GradientBlock<double>& block) const noexcept {
  pull_back_by_slopes(*this, block);
}

}  // namespace mercer::transform
