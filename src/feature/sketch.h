// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sketches of the polynomial kernel variance (gamma x'y + offset)^p and of the bilinear kernel
// variance (x1'y1)(x2'y2): plain, as a binary tree, or projected from a wider
// sketch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "feature/derivatives.h"
#include "feature/map_entry.h"
#include "feature/sketch_tree.h"
#include "projection/sketch_kind.h"

namespace mercer::feature {

using projection::SketchField;

enum class Composition {
  plain,
  hierarchical,  // binary tree: leaves of degree 1, inner nodes two-input sketches of their
                 // children
  craft          // a sketch of `intermediate` columns, then a projection to D
};

struct SketchOptions {
  const projection::SketchKind* kind = projection::sketch_kind("rademacher");
  SketchField field = SketchField::real;
  Composition composition = Composition::plain;
  /// hierarchical, craft: columns of the inner sketches, counted as features are; 0: D for
  /// hierarchical, 4 D for craft.
  int64_t intermediate = 0;
  /// craft: the projection from these columns to D, a kind with a name as a projection.
  const projection::SketchKind* down = projection::sketch_kind("stacked");
  uint64_t seed = 0;
};

/// The map of the kind's family, "hierarchical_sketch" or "craft". The kernel is polynomial, or
/// bilinear, whose rows are [x1 | x2] and whose factors read one part each. Errors: UNSUPPORTED
/// (another kernel; tensor_sketch without FFTW), INVALID_ARGUMENT (D, d or intermediate too large
/// or odd where pairs are needed; tuple: D > d^p).
std::unique_ptr<FeatureMap> make_sketch(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        const SketchOptions& options);

/// A sketch inside a map (canonical_sketch), and what such Parameters say.
Field sketch_field(const char* key, Parameters fallback, const char* help);
SketchOptions sketch_options(const Parameters& sketch, uint64_t seed);

/// The entries of sketches: one for each family, then the composed ones.
std::vector<MapEntry> sketch_entries();

// Derivatives of sketches of any kind, by their power series.

/// A tree, the inputs of a row that kFirstInput reads, and how columns are laid out.
struct SketchParts {
  const SketchTree& tree;
  int64_t left;
  SketchField field;
};

/// These are as in Derivatives. UNSUPPORTED for a multi-index p with prod_k (p_k + 1) > 1,024.
/// Cost: the images of each node once for a tile of rows; then for every multi-index p prod_k (p_k
/// + 1) times the products of the factors, and for trees the images of inner nodes as often;
/// pull_back costs the adjoint of all images.
MERCER_DERIVATIVES(SketchParts)

}  // namespace mercer::feature
