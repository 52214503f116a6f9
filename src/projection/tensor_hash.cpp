// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Buckets and signs are those of a CountSketch per factor; a complex sketch has units uniform on
// {1, -1, i, -i}, whose powers of i go into the slots.
#include "projection/tensor_hash.h"

#include <algorithm>
#include <utility>

#include "base/size.h"
#include "projection/count_sketch.h"
#include "random/distributions.h"

namespace mercer::projection {
namespace {

TensorHash draw_hash(const SketchShape& shape, int64_t factor, int64_t dimension) {
  const int64_t stream = shape.first_factor + factor;
  const CountSketch sketch = CountSketch::draw(shape.seed, stream, dimension, shape.columns);
  const auto size = static_cast<size_t>(dimension);
  TensorHash hash = {std::vector<uint32_t>(size), sketch.signs()};
  for (size_t k = 0; k < size; ++k) hash.slots[k] = static_cast<uint32_t>(sketch.buckets()[k]);
  if (!shape.complex) return hash;
  std::vector<double> units(2 * size);
  random::fill_complex_rademacher(
      random::Stream(shape.seed, random::Tag::sign, static_cast<uint64_t>(stream)), 0, units);
  for (size_t k = 0; k < size; ++k) {
    const bool imaginary = units[2 * k] == 0;
    hash.slots[k] = 2 * hash.slots[k] + (imaginary ? 1 : 0);
    hash.signs[k] = static_cast<int8_t>(units[2 * k + (imaginary ? 1 : 0)]);
  }
  return hash;
}

// `each` bytes for every coordinate of all factors.
int64_t coordinate_bytes(const SketchShape& shape, int64_t each, const char* what) {
  int64_t count = 0;
  for (const FactorShape& factor : shape.factors)
    count = checked_add(count, factor.dimension(), what);
  return checked_multiply(count, each, what);
}

}  // namespace

std::vector<TensorHash> draw_tensor_hashes(const SketchShape& shape, Context& context) {
  Stage stage(context, std::ssize(shape.factors));
  std::vector<TensorHash> hashes;
  for (const FactorShape& factor : shape.factors) {
    hashes.push_back(draw_hash(shape, std::ssize(hashes), factor.dimension()));
    stage.advance(1);
    context.checkpoint();
  }
  return hashes;
}

// For each coordinate a slot and a sign.
int64_t tensor_hash_bytes(const SketchShape& shape, const char* what) {
  return coordinate_bytes(shape, 5, what);
}

// The form in which one factor's hash is drawn.
int64_t tensor_hash_drawing_bytes(const SketchShape& shape, const char* what) {
  int64_t longest = 0;
  for (const FactorShape& factor : shape.factors) longest = std::max(longest, factor.dimension());
  return checked_multiply(longest, 27, what);
}

// The scale of the sketch goes with its first factor.
template <class T>
PackedFactors<T> pack_factors(const SketchShape& shape, std::span<const TensorHash> hashes) {
  PackedFactors<T> packed;
  for (size_t f = 0; f < hashes.size(); ++f) {
    const FactorShape& factor = shape.factors[f];
    const double scale = f == 0 ? shape.scale : 1.0;
    AlignedBuffer<T> multipliers(factor.dimension());
    for (int64_t k = 0; k < factor.dimension(); ++k) {
      const double own = k < factor.inputs ? factor.scale : factor.constant;
      multipliers[k] = static_cast<T>(scale * own * hashes[f].signs[k]);
    }
    packed.factors.push_back(
        {hashes[f].slots.data(), multipliers.data(), factor.inputs, factor.constant != 0});
    packed.multipliers.push_back(std::move(multipliers));
  }
  return packed;
}

template <class T>
int64_t packed_bytes(const SketchShape& shape, const char* what) {
  return coordinate_bytes(shape, sizeof(T), what);
}

template PackedFactors<float> pack_factors(const SketchShape&, std::span<const TensorHash>);
template PackedFactors<double> pack_factors(const SketchShape&, std::span<const TensorHash>);
template int64_t packed_bytes<float>(const SketchShape&, const char*);
template int64_t packed_bytes<double>(const SketchShape&, const char*);

}  // namespace mercer::projection
