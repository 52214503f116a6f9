// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A few rows on their way through a tree of sketches, and what moves there when they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/matrix_view.h"
#include "feature/sketch_tangents.h"
#include "feature/tangent_plan.h"

namespace mercer::feature {

/// All of it stands in a thread's scratch, 64-byte aligned.
template <class T>
class TangentTile {
 public:
  /// Once for a scratch.
  static void begin_scratch(const TangentPlan& plan, std::byte* scratch) noexcept;
  /// The features of rows X, at most plan.rows.
  TangentTile(const TangentSketch& sketch, const TangentPlan& plan, MatrixView<const T> X,
              std::byte* scratch) noexcept;

  int64_t rows() const noexcept { return X_.rows; }
  /// To be filled before move.
  MatrixView<T> direction() const noexcept { return matrix(plan_.direction, X_.cols); }
  /// What all nodes move by as each row moves along its direction.
  void move() const noexcept;
  void move_along_input(int64_t input) const noexcept;

  /// put(i, j, number) for feature j of row i, as the map lays them out.
  template <class Put>
  void for_each_feature(const Put& put) const noexcept {
    for_each_number(plan_.nodes.back().value, put);
  }
  /// The same of what it moved by.
  template <class Put>
  void for_each_tangent(const Put& put) const noexcept {
    for_each_number(plan_.nodes.back().tangent, put);
  }

 private:
  using FactorRows = projection::FactorRows<T>;
  struct Scales;

  std::span<const SketchNode> nodes() const noexcept { return sketch_.tree.nodes(); }
  MatrixView<T> matrix(int64_t at, int64_t cols) const noexcept {
    return {numbers_ + at, X_.rows, cols};
  }
  template <class Put>
  void for_each_number(int64_t at, const Put& put) const noexcept {
    const int64_t m = sketch_.tree.root().columns();
    const MatrixView<T> all = matrix(at, plan_.nodes.back().size);
    const bool interleaved = sketch_.field == SketchField::complex;
    const int64_t parts = sketch_.tree.root().is_complex() ? 2 : 1;
    for (int64_t i = 0; i < X_.rows; ++i)
      for (int64_t part = 0; part < parts; ++part)
        for (int64_t j = 0; j < m; ++j)
          put(i, interleaved ? 2 * j + part : part * m + j, all(i, part * m + j));
  }

  projection::Planes<T> planes(size_t node, int64_t at) const noexcept;
  FactorRows rows_of(size_t node, size_t f, MatrixView<const T> leaves,
                     int64_t TangentPlan::Node::*below) const noexcept;
  FactorRows values_of(size_t node, size_t f) const noexcept;
  FactorRows tangents_of(size_t node, size_t f) const noexcept;
  FactorRows zeros_like(const FactorRows& rows) const noexcept;
  FactorRows scaled(const FactorRows& rows, const Scales& scales) const noexcept;
  Scales scales_of(size_t node, double constant) const noexcept;

  void gather(size_t node) const noexcept;
  void apply(size_t node, int64_t at) const noexcept;
  void add(size_t node, int64_t at) const noexcept;
  void begin_node(size_t node) const noexcept;
  void move_node(size_t node) const noexcept;

  const TangentSketch& sketch_;
  const TangentPlan& plan_;
  MatrixView<const T> X_;
  FactorRows* inputs_;  // of the node that is next, factor by factor
  T* numbers_;
};

}  // namespace mercer::feature
