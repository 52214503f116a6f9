// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// All forms of TensorSRHT.
#pragma once

#include <memory>

#include "projection/multilinear.h"
#include "projection/tensor_srht_index.h"

namespace mercer::projection {

/// INVALID_ARGUMENT for a tuple form of more columns than there are tuples.
std::unique_ptr<Multilinear> make_tensor_srht(const SketchShape& shape, SrhtRows rows);

}  // namespace mercer::projection
