// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// First derivatives of sketches of any kind, by what they are all: trees of maps that are linear in
// each factor.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/derivative.h"
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
template <class T>
void differentiate_sketch(const TangentSketch& sketch, const Derivative& what,
                          MatrixView<const T> X, Context& context, MatrixView<T> out);
template <class T>
void push_forward_sketch(const TangentSketch& sketch, MatrixView<const T> X, MatrixView<const T> V,
                         Context& context, MatrixView<T> out);
template <class T>
void pull_back_sketch(const TangentSketch& sketch, MatrixView<const T> X, MatrixView<const T> G,
                      Context& context, MatrixView<T> out);

}  // namespace mercer::feature
