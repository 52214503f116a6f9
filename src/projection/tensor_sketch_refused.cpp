// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Replaces tensor_sketch.cpp in a build without FFTW: the name is known and refused.
#include "base/error.h"
#include "projection/sketch_kind.h"

namespace mercer::projection {

std::unique_ptr<Multilinear> make_tensor_sketch(const SketchShape&) {
  fail(MERCER_UNSUPPORTED, "tensor_sketch: this build of mercer lacks FFTW (MERCER_WITH_FFTW=OFF)");
}

}  // namespace mercer::projection
