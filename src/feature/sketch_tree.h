// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Trees of random multilinear maps: plain, hierarchical and CRAFT sketches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/context.h"
#include "feature/linear.h"
#include "projection/sketch_kind.h"

namespace mercer::feature {

// Second moments of polynomial sketches and of their compositions, in closed form. Every sketch
// turns the moments of its factors into those of its columns (SketchKind::moments), so that a tree
// of sketches is worked out node by node (the papers have one node, on rows that are not random).

using projection::PairMoments;

/// Moments of rows that are not random: S = R = s^2, Q = T = U.
PairMoments exact_pair(const PairSums& sums) noexcept;

/// Sums of the vectors [scale x, constant], [scale y, constant] (projection::FactorShape).
PairSums augmented(const PairSums& sums, double scale, double constant) noexcept;

/// Moments of the real vectors [Re u | Im u].
PairMoments as_real(const PairMoments& complex) noexcept;

/// Variance of Re <u, v>, and pseudo-variance E (<u, v> - mean)^2.
double real_variance(const PairMoments& moments) noexcept;
double pseudo_variance(const PairMoments& moments) noexcept;

/// What a factor reads, if not the columns of an earlier node: the rows themselves, or nothing (a
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
  /// Scratch of one thread to evaluate tiles.
  template <class T>
  struct Workspace {
    T* numbers;
    projection::FactorRows<T>* inputs;
  };

  /// Nodes come after their children; the last one is the root. A node whose children are nodes has
  /// at most two factors.
  explicit SketchTree(std::vector<SketchNode> nodes);

  const projection::Multilinear& root() const noexcept { return *nodes_.back().map; }
  std::span<const SketchNode> nodes() const noexcept { return nodes_; }
  /// Whether it is a single node.
  bool is_plain() const noexcept { return nodes_.size() == 1; }

  /// Rows per tile at which it is fastest.
  int64_t tile_rows() const noexcept;
  /// Bytes of a workspace for tiles of `rows` rows and slices of `width` columns of the root, a
  /// multiple of 64.
  template <class T>
  int64_t workspace_bytes(int64_t rows, int64_t width) const;
  /// Lays out a workspace in that many bytes, 64-byte aligned; it serves all later tiles.
  template <class T>
  void begin_workspace(std::byte* memory) const noexcept;
  template <class T>
  Workspace<T> workspace(std::byte* memory) const noexcept;

  /// Draws and packs what columns c of the root need.
  template <class T>
  void prepare(projection::Blocks c, Context& context) const;

  /// Columns c of the root for n rows.
  template <class T>
  void evaluate(const LeafRows<T>& rows, int64_t n, projection::Blocks c, projection::Planes<T> Z,
                const Workspace<T>& work) const noexcept;
  /// Z(0, :) += the sum of these columns over n rows.
  template <class T>
  void evaluate_sum(const LeafRows<T>& rows, int64_t n, projection::Blocks c,
                    projection::Planes<T> Z, const Workspace<T>& work) const noexcept;

  /// Moments of the root's columns from those of the rows; `second` is for two-input sketches.
  PairMoments moments(const PairSums& first, const PairSums& second) const;

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
  PairMoments node_moments(int64_t node, const PairSums& first, const PairSums& second) const;

  std::vector<SketchNode> nodes_;
  int64_t levels_ = 0;  // of nodes below the root
  int64_t widest_ = 0;  // numbers per row of the widest of them
  size_t most_factors_ = 0;
};

}  // namespace mercer::feature
