// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A build without FFTW knows the tensor sketch and refuses it by name.
#include "projection/sketch_kind.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::projection;

TEST_CASE("without FFTW: tensor_sketch is refused, with the reason") {
  for (const bool complex : {false, true}) {
    const SketchShape shape = {sketch_kind("tensor_sketch"), complex, {{4}, {4}}, 8, 1};
    CHECK_REFUSED(MERCER_UNSUPPORTED, make_tensor_sketch(shape), "tensor_sketch", "lacks FFTW");
  }
}
