// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Nodes are evaluated depth first on a tile of rows, so that two buffers per level hold all columns
// that wait for their sibling.
#include "feature/sketch_tree.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/size.h"

namespace mercer::feature {
namespace {

using projection::Blocks;
using projection::FactorRows;
using projection::FactorShape;
using projection::Planes;

// Numbers of a tile's buffers: what fits a second-level cache beside the weights.
constexpr int64_t kBufferNumbers = int64_t{1} << 17;
constexpr int64_t kLeastTreeRows = 8;

}  // namespace

// The first and last steps: moments of rows that are not random, and variances from moments.
PairMoments exact_pair(const PairSums& sums) noexcept {
  const double square = sums.s * sums.t;
  return {sums.s, sums.N, square, square, sums.Q, sums.Q, sums.Q};
}

PairSums augmented(const PairSums& sums, double scale, double constant) noexcept {
  const double a = scale * scale, c = constant * constant;
  const double xx = a * sums.xx + c, yy = a * sums.yy + c;
  return {a * sums.s + c, xx * yy, a * a * sums.Q + c * c, xx, yy, a * sums.t + c};
}

PairMoments as_real(const PairMoments& complex) noexcept {
  const double S = (complex.S + complex.R) / 2;
  const double Q = complex.Q / 2 + (complex.T + complex.U) / 4;
  return {complex.mean, complex.N, S, S, Q, Q, Q};
}

double real_variance(const PairMoments& moments) noexcept {
  // std::max in this order keeps a NaN.
  return std::max((moments.S + moments.R) / 2 - moments.mean * moments.mean, 0.0);
}

double pseudo_variance(const PairMoments& moments) noexcept {
  return moments.R - moments.mean * moments.mean;
}

SketchTree::SketchTree(std::vector<SketchNode> nodes) : nodes_(std::move(nodes)) {
  const auto count = static_cast<int64_t>(nodes_.size());
  levels_ = level_below(count - 1);
  for (int64_t node = 0; node < count; ++node) {
    most_factors_ = std::max(most_factors_, nodes_[node].children.size());
    if (node != count - 1) widest_ = std::max(widest_, row_size(node));
  }
}

// Complex columns are stored as all real parts, then all imaginary parts, which is [Re | Im].
int64_t SketchTree::row_size(int64_t node) const noexcept {
  const projection::Multilinear& map = *nodes_[node].map;
  return map.columns() * (map.is_complex() ? 2 : 1);
}

int64_t SketchTree::level_below(int64_t node) const {
  int64_t levels = 0;
  for (const int64_t child : nodes_[node].children) {
    if (is_node(child)) levels = std::max(levels, 1 + level_below(child));
  }
  return levels;
}

int64_t SketchTree::tile_rows() const noexcept {
  int64_t rows = 1;
  for (const SketchNode& node : nodes_) rows = std::max(rows, node.map->tile_rows());
  if (levels_ == 0) return rows;
  return std::min(rows, std::max(kLeastTreeRows, kBufferNumbers / (2 * levels_ * widest_)));
}

template <class T>
int64_t SketchTree::buffer_numbers(int64_t rows) const {
  const int64_t one = checked_multiply(rows, round_up(widest_), "the inner sketches of a tile");
  return checked_multiply(one, 2 * levels_, "the inner sketches of a tile");
}

template <class T>
int64_t SketchTree::workspace_bytes(int64_t rows, int64_t width) const {
  int64_t most = root().scratch(rows, width, T{});
  for (size_t node = 0; node + 1 < nodes_.size(); ++node) {
    const projection::Multilinear& map = *nodes_[node].map;
    most = std::max(most, map.scratch(rows, map.columns(), T{}));
  }
  const int64_t numbers =
      round_up(checked_add(buffer_numbers<T>(rows), most, "the scratch of a tile"));
  return checked_add(inputs_bytes<T>(),
                     checked_multiply(numbers, sizeof(T), "the scratch of a tile"),
                     "the scratch of a tile");
}

// Of every level, one per factor; before the numbers.
template <class T>
int64_t SketchTree::inputs_bytes() const noexcept {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(FactorRows<T>));
  return ((levels_ + 1) * static_cast<int64_t>(most_factors_) * kBytes + 63) / 64 * 64;
}

template <class T>
void SketchTree::begin_workspace(std::byte* memory) const noexcept {
  std::uninitialized_value_construct_n(reinterpret_cast<FactorRows<T>*>(memory),
                                       static_cast<size_t>(levels_ + 1) * most_factors_);
}

template <class T>
SketchTree::Workspace<T> SketchTree::workspace(std::byte* memory) const noexcept {
  return {reinterpret_cast<T*>(memory + inputs_bytes<T>()),
          std::launder(reinterpret_cast<FactorRows<T>*>(memory))};
}

template <class T>
void SketchTree::prepare(Blocks c, Context& context) const {
  for (size_t node = 0; node + 1 < nodes_.size(); ++node) {
    const projection::Multilinear& map = *nodes_[node].map;
    map.prepare({0, map.columns()}, T{}, context);
  }
  root().prepare(c, T{}, context);
}

template <class T>
T* SketchTree::buffer(int64_t level, size_t factor, int64_t n,
                      const Workspace<T>& work) const noexcept {
  return work.numbers + (2 * level + static_cast<int64_t>(factor)) * n * round_up(widest_);
}

// Evaluates the children of a node into the buffers of its level and says where its factors read.
template <class T>
std::span<const FactorRows<T>> SketchTree::gather_inputs(int64_t node, int64_t level,
                                                         const LeafRows<T>& rows, int64_t n,
                                                         const Workspace<T>& work) const noexcept {
  const SketchNode& one = nodes_[node];
  FactorRows<T>* const inputs = work.inputs + static_cast<size_t>(level) * most_factors_;
  for (size_t f = 0; f < one.children.size(); ++f) {
    const int64_t child = one.children[f];
    if (!is_node(child)) {
      const bool reads = one.map->shape().factors[f].inputs > 0;
      inputs[f] = !reads                 ? FactorRows<T>{{{nullptr, n, 0}, {}}, nullptr}
                  : child == kFirstInput ? rows.first
                                         : rows.second;
      continue;
    }
    const projection::Multilinear& map = *nodes_[child].map;
    const int64_t m = map.columns(), size = row_size(child);
    const MatrixView<T> all(buffer(level, f, n, work), n, size, round_up(size));
    const Planes<T> planes{all.block_cols(0, m),
                           map.is_complex() ? all.block_cols(m, 2 * m) : MatrixView<T>()};
    const auto below = gather_inputs(child, level + 1, rows, n, work);
    map.apply(below, {0, m}, planes, work.numbers + 2 * levels_ * n * round_up(widest_));
    if (one.children_as_real) {
      inputs[f] = {{all, {}}, nullptr};
    } else {
      inputs[f] = {{planes.re, planes.im}, nullptr};
    }
  }
  return {inputs, one.children.size()};
}

template <class T>
void SketchTree::evaluate(const LeafRows<T>& rows, int64_t n, Blocks c, Planes<T> Z,
                          const Workspace<T>& work) const noexcept {
  const auto inputs = gather_inputs(static_cast<int64_t>(nodes_.size()) - 1, 0, rows, n, work);
  root().apply(inputs, c, Z, work.numbers + 2 * levels_ * n * round_up(widest_));
}

template <class T>
void SketchTree::evaluate_sum(const LeafRows<T>& rows, int64_t n, Blocks c, Planes<T> Z,
                              const Workspace<T>& work) const noexcept {
  const auto inputs = gather_inputs(static_cast<int64_t>(nodes_.size()) - 1, 0, rows, n, work);
  root().apply_sum(inputs, c, Z, work.numbers + 2 * levels_ * n * round_up(widest_));
}

PairMoments SketchTree::node_moments(int64_t node, const PairSums& first,
                                     const PairSums& second) const {
  const SketchNode& one = nodes_[node];
  const projection::SketchShape& shape = one.map->shape();
  std::vector<PairMoments> factors;
  for (size_t f = 0; f < one.children.size(); ++f) {
    const int64_t child = one.children[f];
    const FactorShape& factor = shape.factors[f];
    if (is_node(child)) {
      const PairMoments below = node_moments(child, first, second);
      factors.push_back(one.children_as_real ? as_real(below) : below);
    } else if (factor.inputs == 0) {
      factors.push_back(exact_pair(augmented({0, 0, 0}, 1, factor.constant)));
    } else {
      factors.push_back(exact_pair(
          augmented(child == kFirstInput ? first : second, factor.scale, factor.constant)));
    }
  }
  return shape.kind->moments(shape.complex, shape.columns,
                             projection::sketch_dimension(shape.factors), factors);
}

PairMoments SketchTree::moments(const PairSums& first, const PairSums& second) const {
  return node_moments(static_cast<int64_t>(nodes_.size()) - 1, first, second);
}

#define MERCER_INSTANTIATE(T)                                                            \
  template int64_t SketchTree::workspace_bytes<T>(int64_t, int64_t) const;               \
  template void SketchTree::begin_workspace<T>(std::byte*) const noexcept;               \
  template SketchTree::Workspace<T> SketchTree::workspace<T>(std::byte*) const noexcept; \
  template void SketchTree::prepare<T>(Blocks, Context&) const;                          \
  template void SketchTree::evaluate(const LeafRows<T>&, int64_t, Blocks, Planes<T>,     \
                                     const Workspace<T>&) const noexcept;                \
  template void SketchTree::evaluate_sum(const LeafRows<T>&, int64_t, Blocks, Planes<T>, \
                                         const Workspace<T>&) const noexcept;
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

}  // namespace mercer::feature
