// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The hashes of a TensorSketch: as they are drawn, and packed for one precision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "projection/hashed_terms.h"
#include "projection/multilinear.h"

namespace mercer::projection {

/// The bucket and unit of coordinate k of a factor's u. Real: bucket slots[k], unit signs[k].
/// Complex: bucket slots[k] / 2, unit signs[k] i^(slots[k] mod 2).
struct TensorHash {
  std::vector<uint32_t> slots;
  std::vector<int8_t> signs;
};

/// Hashes of all factors, as a stage of the context.
std::vector<TensorHash> draw_tensor_hashes(const SketchShape& shape, Context& context);
/// Bytes of those hashes, and bytes that drawing them takes besides.
int64_t tensor_hash_bytes(const SketchShape& shape, const char* what);
int64_t tensor_hash_drawing_bytes(const SketchShape& shape, const char* what);

/// Refers to the slots of the hashes that it was made from.
template <class T>
struct PackedFactors {
  std::vector<AlignedBuffer<T>> multipliers;
  std::vector<PackedFactor<T>> factors;
};

template <class T>
PackedFactors<T> pack_factors(const SketchShape& shape, std::span<const TensorHash> hashes);
/// Bytes that they take.
template <class T>
int64_t packed_bytes(const SketchShape& shape, const char* what);

}  // namespace mercer::projection
