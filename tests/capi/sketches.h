// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Specs of sketches: every kind, field and composition.
#pragma once

#include <string>

#include "fixture.h"

namespace mercer::test {

/// Maps of one level, as their specs begin.
inline const std::string kKinds[] = {R"("product_sketch","kind":"rademacher")",
                                     R"("product_sketch","kind":"gaussian")",
                                     R"("tensor_sketch")",
                                     R"("tensor_srht","kind":"upsampled")",
                                     R"("tensor_srht","kind":"stacked")",
                                     R"("tensor_srht","kind":"tuple")"};
inline const std::string kTuple = kKinds[5];

enum class Composition { plain, hierarchical, craft };
inline constexpr Composition kCompositions[] = {Composition::plain, Composition::hierarchical,
                                                Composition::craft};

/// A spec without kernel and sizes. intermediate = 0: the default.
struct Sketch {
  std::string kind = kKinds[0];
  std::string field = "real";
  Composition composition = Composition::plain;
  int64_t intermediate = 0;
  std::string projection = {};

  std::string spec() const {
    const std::string level = kind + ",\"field\":\"" + field + '"';
    if (composition == Composition::plain) return level;
    const std::string name =
        composition == Composition::craft ? "\"craft\"" : "\"hierarchical_sketch\"";
    return name + ",\"base\":{\"map\":" + level + '}' +
           (intermediate == 0 ? "" : ",\"intermediate\":" + std::to_string(intermediate)) +
           (projection.empty() ? "" : ",\"projection\":\"" + projection + '"');
  }
};

inline const std::string kPolynomial = R"({"kernel":"polynomial","degree":2,"gamma":1,"offset":0})";
inline std::string bilinear_spec(int64_t left) {
  return "{\"kernel\":\"bilinear\",\"left\":" + std::to_string(left) + "}";
}

inline MapHandle sketch(const std::string& kernel, int64_t d, int64_t D, const Sketch& wanted) {
  return make_map(wanted.spec() + ",\"kernel\":" + kernel, d, D);
}

/// A build without FFTW refuses TensorSketch, as documented.
inline bool lacks_fourier_transforms() {
  mercer_map* map = nullptr;
  const std::string text = fault(
      mercer_map_from_spec(
          R"({"map":"tensor_sketch","kernel":{"kernel":"polynomial"},"inputs":3,"features":8})",
          &map),
      MERCER_UNSUPPORTED, "mercer_map_from_spec", "tensor_sketch", "FFTW");
  mercer_map_free(map);
  return text == "";
}

/// Calls body(kind) for every kind that this build has.
template <class Body>
void for_each_kind(const Body& body) {
  const bool without = lacks_fourier_transforms();
  for (const std::string& kind : kKinds)
    if (!without || kind.find("tensor_sketch") == kind.npos) body(kind);
}

}  // namespace mercer::test
