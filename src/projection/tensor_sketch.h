// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSketch, the circular convolution of CountSketches.
#pragma once

#include <memory>

#include "projection/multilinear.h"
#include "projection/sketch_kind.h"

namespace mercer::projection {

/// UNSUPPORTED in a build without Fourier transforms.
std::unique_ptr<Multilinear> make_tensor_sketch(const SketchShape& shape);

}  // namespace mercer::projection
