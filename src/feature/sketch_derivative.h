// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of sketches of any kind, by their power series.
#pragma once

#include "feature/derivatives.h"
#include "feature/sketch.h"
#include "feature/sketch_tree.h"

namespace mercer::feature {

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
