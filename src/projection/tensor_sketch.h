// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSketch with all ingredients given: apart from how its numbers are drawn.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "projection/sketch_kind.h"

namespace mercer::projection {

/// Where coordinate k of a factor's u goes, and times which unit. Real: bucket slots[k], unit
/// signs[k]. Complex: bucket slots[k] / 2, unit signs[k] i^(slots[k] mod 2).
struct TensorHash {
  std::vector<uint32_t> slots;
  std::vector<int8_t> signs;
};

/// One hash per factor, of the length of its u.
std::unique_ptr<Multilinear> make_tensor_sketch(const SketchShape& shape,
                                                std::vector<TensorHash> hashes);

}  // namespace mercer::projection
