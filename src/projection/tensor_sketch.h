// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSketch, the circular convolution of CountSketches: with hashes that are drawn or given.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "projection/multilinear.h"
#include "projection/sketch_kind.h"

namespace mercer::projection {

/// The bucket and unit of coordinate k of a factor's u. Real: bucket slots[k], unit signs[k].
/// Complex: bucket slots[k] / 2, unit signs[k] i^(slots[k] mod 2).
struct TensorHash {
  std::vector<uint32_t> slots;
  std::vector<int8_t> signs;
};

/// UNSUPPORTED in a build without Fourier transforms.
std::unique_ptr<Multilinear> make_tensor_sketch(const SketchShape& shape);
/// With given hashes, one per factor, of the length of its u.
std::unique_ptr<Multilinear> make_tensor_sketch(const SketchShape& shape,
                                                std::vector<TensorHash> hashes);

}  // namespace mercer::projection
