// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// First derivatives of sketches of any kind, by what they are all: trees of maps that are linear in
// each factor.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/derivative.h"
#include "feature/derivative_calls.h"
#include "feature/sketch.h"
#include "feature/sketch_tree.h"

namespace mercer::feature {

struct TangentSketch {
  const SketchTree& tree;
  int64_t left;       // inputs of a row that kFirstInput reads
  SketchField field;  // how columns are laid out
};

/// As FeatureMap::differentiate, of order 1, push_forward and pull_back. Cost: for every direction
/// a sketch for each factor of each node; pull_back takes the gradient's directions.
MERCER_DERIVATIVES(TangentSketch)

}  // namespace mercer::feature
