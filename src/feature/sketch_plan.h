// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From options to the tree of a sketch, its name and its parameters in specs.
#pragma once

#include <cstdint>
#include <vector>

#include "feature/sketch.h"
#include "feature/sketch_tree.h"

namespace mercer::feature {

/// What the leaves of a sketch read: one row for all p factors, or the two parts of a row.
struct SketchLeaves {
  int64_t degree;
  bool two;
  projection::FactorShape first;
  projection::FactorShape second;
  double scale;  // of every column
};

/// Errors: UNSUPPORTED for a kernel that is neither polynomial nor bilinear; INVALID_ARGUMENT for
/// an amplitude or gamma whose root is no positive finite number.
SketchLeaves sketch_leaves(const kernel::Kernel& kernel, int64_t d);

/// INVALID_ARGUMENT if `count` is not in 1, ..., 2^31 - 1, the limit of specs; products of a few
/// such sizes are checked for overflow.
void check_sketch_columns(const char* name, int64_t count);

/// The tree for D features; errors as for make_sketch. All inner sketches of a hierarchical one
/// together have at most 2^31 - 1 columns.
SketchTree plan_sketch(const SketchLeaves& leaves, int64_t D, const SketchOptions& options);

/// "product_sketch", ...
const char* sketch_name(const SketchOptions& options);

/// The fields of the map's table row; D is the number of features.
void add_sketch_parameters(const SketchOptions& options, int64_t D, Parameters& spec);

}  // namespace mercer::feature
