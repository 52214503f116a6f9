// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a thread needs to move rows through a tree of sketches, and where in its scratch it stands.
#pragma once

#include <cstdint>
#include <vector>

#include "feature/sketch_tree.h"

namespace mercer::feature {

/// Offsets are in numbers from the start of the scratch's numbers, which stand behind the inputs.
struct TangentPlan {
  static constexpr int64_t kMostRows = 32;

  struct Node {
    int64_t size;  // of a row, padded
    int64_t value;
    int64_t constant;  // what all its tangents subtract
    int64_t tangent;
  };

  /// For tiles of rows of d inputs.
  template <class T>
  static TangentPlan of(const SketchTree& tree, int64_t d);

  int64_t rows;  // of a tile, at most kMostRows
  std::vector<Node> nodes;
  int64_t zeros_width = 0;   // of the zeros and of what is scaled
  int64_t most_factors = 0;  // of a node
  int64_t direction = 0;
  int64_t zeros = 0;
  int64_t term = 0;
  int64_t scaled = 0;
  int64_t scratch = 0;       // the sketches'
  int64_t inputs_bytes = 0;  // of the factors' rows
  int64_t bytes = 0;         // of all
};

}  // namespace mercer::feature
