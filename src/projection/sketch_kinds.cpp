// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What sketches exist, one line per family: each is defined in the file of its name.
#include "base/entry_table.h"
#include "base/error.h"
#include "projection/sketch_kind.h"

// clang-format off
#define MERCER_SKETCHES(entry) \
  entry(product_sketch)        \
  entry(tensor_sketch)         \
  entry(tensor_srht)
// clang-format on

namespace mercer::projection {

MERCER_ENTRY_TABLE(SketchFamily, sketch_families, MERCER_SKETCHES)

const SketchKind* sketch_kind(std::string_view name) noexcept {
  for (const SketchFamily& family : sketch_families()) {
    for (const SketchKind& kind : family.kinds) {
      if (name == kind.name) return &kind;
    }
  }
  return nullptr;
}

const SketchFamily& family_of(const SketchKind& kind) {
  for (const SketchFamily& family : sketch_families()) {
    for (const SketchKind& one : family.kinds) {
      if (&one == &kind) return family;
    }
  }
  fail(MERCER_INTERNAL, "sketch kind %s is not in the table", kind.name);
}

const SketchKind& single_kind(const SketchKind& kind) {
  return kind.single == nullptr ? kind : *sketch_kind(kind.single);
}

}  // namespace mercer::projection
