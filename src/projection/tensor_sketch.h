// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSketch with given hashes.
#pragma once

#include <memory>
#include <vector>

#include "projection/sketch_kind.h"
#include "projection/tensor_hash.h"

namespace mercer::projection {

/// One hash per factor, of the length of its u.
std::unique_ptr<Multilinear> make_tensor_sketch(const SketchShape& shape,
                                                std::vector<TensorHash> hashes);

}  // namespace mercer::projection
