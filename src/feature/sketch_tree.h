// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A tree of random multilinear maps: what a plain, a hierarchical and a CRAFT sketch are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/context.h"
#include "moment/sketch_moments.h"
#include "projection/multilinear.h"

namespace mercer::feature {

/// What a factor reads if not the columns of an earlier node: the rows themselves, or nothing (a
/// factor without inputs).
inline constexpr int64_t kFirstInput = -1;
inline constexpr int64_t kSecondInput = -2;

struct SketchNode {
  std::unique_ptr<projection::Multilinear> map;
  std::vector<int64_t> children;  // one per factor
  bool children_as_real = false;  // complex children are read as [Re | Im]
};

/// The rows that the leaves read; second is for two-input sketches.
template <class T>
struct LeafRows {
  projection::FactorRows<T> first;
  projection::FactorRows<T> second = {};
};

class SketchTree {
 public:
  /// What one thread needs to evaluate tiles.
  template <class T>
  struct Workspace {
    T* numbers;
    projection::FactorRows<T>* inputs;
  };

  /// Nodes come after their children; the last one is the root. A node with children that are nodes
  /// has two factors at most.
  explicit SketchTree(std::vector<SketchNode> nodes);

  const projection::Multilinear& root() const noexcept { return *nodes_.back().map; }
  std::span<const SketchNode> nodes() const noexcept { return nodes_; }
  /// Of a single node.
  bool is_plain() const noexcept { return nodes_.size() == 1; }
  /// What factor f of the root reads: a node, kFirstInput or kSecondInput.
  const std::vector<int64_t>& root_children() const noexcept { return nodes_.back().children; }

  /// Rows that are worth doing together.
  int64_t tile_rows() const noexcept;
  /// Bytes of a workspace for tiles of `rows` rows and slices of `width` columns of the root, a
  /// multiple of 64.
  template <class T>
  int64_t workspace_bytes(int64_t rows, int64_t width) const;
  /// Begins one in as many bytes, 64-byte aligned; then, and for every later tile, workspace is it.
  template <class T>
  void begin_workspace(std::byte* memory) const noexcept;
  template <class T>
  Workspace<T> workspace(std::byte* memory) const noexcept;

  /// Everything that columns c of the root need.
  template <class T>
  void prepare(projection::Blocks c, Context& context) const;

  /// Columns c of the root for n rows.
  template <class T>
  void evaluate(const LeafRows<T>& rows, int64_t n, projection::Blocks c, projection::Planes<T> Z,
                const Workspace<T>& work) const noexcept;
  /// Z(0, :) += their sum over n rows.
  template <class T>
  void evaluate_sum(const LeafRows<T>& rows, int64_t n, projection::Blocks c,
                    projection::Planes<T> Z, const Workspace<T>& work) const noexcept;

  /// Of the root's columns, from those of the leaves' rows. The second is used by two-input
  /// sketches alone.
  moment::PairMoments moments(const moment::PairSums& first, const moment::PairSums& second) const;

 private:
  bool is_node(int64_t child) const noexcept { return child >= 0; }
  int64_t row_size(int64_t node) const noexcept;
  int64_t level_below(int64_t node) const;
  template <class T>
  int64_t inputs_bytes() const noexcept;
  template <class T>
  int64_t buffer_numbers(int64_t rows) const;
  template <class T>
  T* buffer(int64_t level, size_t factor, int64_t n, const Workspace<T>& work) const noexcept;
  template <class T>
  std::span<const projection::FactorRows<T>> gather_inputs(int64_t node, int64_t level,
                                                           const LeafRows<T>& rows, int64_t n,
                                                           const Workspace<T>& work) const noexcept;
  moment::PairMoments node_moments(int64_t node, const moment::PairSums& first,
                                   const moment::PairSums& second) const;

  std::vector<SketchNode> nodes_;
  int64_t levels_ = 0;  // of nodes below the root
  int64_t widest_ = 0;  // numbers per row of the widest of them
  size_t most_factors_ = 0;
};

}  // namespace mercer::feature
