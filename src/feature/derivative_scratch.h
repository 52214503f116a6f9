// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scratch of one thread to differentiate a few rows of a projected map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/size.h"
#include "transform/scaled_sums.h"

namespace mercer::feature {

template <class T>
struct DerivativeScratch {
  T* P;          // a block, of the rows of a step
  T* value;      // features of the rows of a step, part by part
  T* slope;      // the same
  T* along;      // a direction's P for each number of a part
  T* weights;    // of one row along a direction, then ones
  T* direction;  // as it is projected, of the rows of a step
  T* factors;    // of one row's terms
  T* numbers;    // for the epilogue, of the rows of a tile
  T* rows;       // of a tile, rewritten
  T* own;        // the projection's
  transform::ScaledTerm<T>* terms;
};

/// Numbers of each.
struct DerivativeSizes {
  int64_t P;
  int64_t features;
  int64_t along;
  int64_t weights;
  int64_t direction;
  int64_t terms;
  int64_t numbers;
  int64_t rows;
  int64_t own;
};

template <class T>
class DerivativeScratchPlan {
 public:
  explicit DerivativeScratchPlan(const DerivativeSizes& sizes) {
    const int64_t parts[] = {sizes.P,       sizes.features,  sizes.features, sizes.along,
                             sizes.weights, sizes.direction, sizes.terms,    sizes.numbers,
                             sizes.rows,    sizes.own};
    static_assert(std::size(parts) == kParts);
    for (size_t part = 0; part < kParts; ++part) add(part, parts[part]);
    constexpr auto kWords = static_cast<int64_t>(sizeof(transform::ScaledTerm<T>) / sizeof(T));
    add(kParts, checked_multiply(sizes.terms, kWords, kWhat));
  }

  int64_t bytes() const { return checked_multiply(numbers_, sizeof(T), kWhat); }
  /// The parts in that many bytes; all are 64-byte aligned.
  DerivativeScratch<T> at(std::byte* scratch) const noexcept {
    T* const first = reinterpret_cast<T*>(scratch);
    const auto part = [&](size_t which) { return first + offsets_[which]; };
    return {part(0),
            part(1),
            part(2),
            part(3),
            part(4),
            part(5),
            part(6),
            part(7),
            part(8),
            part(9),
            reinterpret_cast<transform::ScaledTerm<T>*>(part(kParts))};
  }

 private:
  static constexpr const char* kWhat = "tiles of derivatives";
  static constexpr size_t kParts = 10;

  void add(size_t part, int64_t count) {
    offsets_[part] = numbers_;
    numbers_ = checked_add(numbers_, checked_add(count, 15, kWhat) / 16 * 16, kWhat);
  }

  int64_t offsets_[kParts + 1] = {};
  int64_t numbers_ = 0;
};

}  // namespace mercer::feature
