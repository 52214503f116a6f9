// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every kind of sketch, and what the tests of sketches as maps share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "feature/sketch.h"
#include "kernel/kernel.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/map_calls.h"

namespace mercer::test {

using feature::Composition;
using feature::SketchField;
using feature::SketchOptions;
using projection::sketch_kind;
using projection::SketchKind;

struct SketchCase {
  std::string label;
  SketchOptions options;
};

inline std::unique_ptr<FeatureMap> make(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        const SketchCase& one) {
  return feature::make_sketch(kernel, d, D, one.options);
}

/// A build without FFTW has no TensorSketch.
inline bool has_tensor_sketch() {
  static const bool has = [] {
    SketchOptions options;
    options.kind = sketch_kind("tensor_sketch");
    try {
      feature::make_sketch(*kernel::make_polynomial(2, 1, 0, 1), 2, 2, options);
    } catch (const Error& error) {
      if (error.status() != MERCER_UNSUPPORTED) throw;
      return false;
    }
    return true;
  }();
  return has;
}

/// Every mixing, field and composition. Intermediate sketches have 12 columns where 24 would be
/// more than there are tuples.
inline std::vector<SketchCase> sketch_cases(bool with_compositions = true) {
  constexpr const char* kKinds[] = {"rademacher", "gaussian", "tensor_sketch",
                                    "upsampled",  "stacked",  "tuple"};
  constexpr const char* kFields[] = {" real", " complex", " complex_to_real"};
  constexpr const char* kCompositions[] = {"", " hierarchical", " craft"};
  constexpr const char* kDown[] = {"stacked", "rademacher", "gaussian"};
  std::vector<SketchCase> cases;
  for (int kind = 0; kind < 6; ++kind) {
    if (std::string(kKinds[kind]) == "tensor_sketch" && !has_tensor_sketch()) continue;
    for (int field = 0; field < 3; ++field) {
      for (int composition = 0; composition < (with_compositions ? 3 : 1); ++composition) {
        SketchOptions options;
        options.kind = sketch_kind(kKinds[kind]);
        options.field = static_cast<SketchField>(field);
        options.composition = static_cast<Composition>(composition);
        options.seed = 7;
        if (composition != 0) options.intermediate = 24;
        options.down = sketch_kind(kDown[(kind + field) % 3]);
        cases.push_back(
            {std::string(kKinds[kind]) + kFields[field] + kCompositions[composition], options});
      }
    }
  }
  return cases;
}

/// Whether there are fewer tuples than columns.
inline bool lacks_tuples(const SketchCase& one, int64_t p) {
  return one.options.kind == sketch_kind("tuple") && p == 1 &&
         one.options.composition != Composition::hierarchical;
}

}  // namespace mercer::test
