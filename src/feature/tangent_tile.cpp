// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A node S(u_1, ..., u_p) of factors u_f = [x_f, c] moves along t by sum_f S(..., [t_f, 0], ...),
// which is S(..., [t_f, c], ...) - S(..., [0, c], ...): a sketch has its constants, and what is
// subtracted is the same for all directions. Of t far smaller than c, or larger, that loses what is
// asked for, so every row of t goes in as large as c, times a power of two that comes out again:
// tangents are linear in t. Nodes in order, so that a node's rows and their tangents are there
// before it is (Griewank, Walther 2008, chapter 3).
#include "feature/tangent_tile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>

namespace mercer::feature {
namespace {

using projection::Multilinear;
using projection::Planes;

// The largest constant in units of the inputs beside it; 0: nothing is subtracted.
double largest_constant(const Multilinear& map) noexcept {
  double largest = 0;
  for (const projection::FactorShape& factor : map.shape().factors)
    if (factor.inputs > 0) largest = std::max(largest, std::fabs(factor.constant / factor.scale));
  return std::min(largest, std::numeric_limits<double>::max());
}

}  // namespace

// Powers of two that the directions of the rows of a tile are multiplied by, in two steps that
// neither overflow; 0 where there is no direction.
template <class T>
struct TangentTile<T>::Scales {
  T up[TangentPlan::kMostRows];
  T down[TangentPlan::kMostRows];  // 1/up

  void set(int64_t i, double constant, double largest) noexcept {
    up[i] = down[i] = static_cast<T>(largest > 0);
    if (!(largest > 0) || std::isinf(largest)) return;
    constexpr int kMost = (std::numeric_limits<T>::max_exponent - 4) / 2;
    const int half = std::clamp((std::ilogb(constant) - std::ilogb(largest)) / 2, -kMost, kMost);
    up[i] = std::ldexp(T{1}, half);
    down[i] = std::ldexp(T{1}, -half);
  }
};

template <class T>
void TangentTile<T>::begin_scratch(const TangentPlan& plan, std::byte* scratch) noexcept {
  std::uninitialized_value_construct_n(reinterpret_cast<FactorRows*>(scratch),
                                       static_cast<size_t>(plan.most_factors));
  T* const numbers = reinterpret_cast<T*>(scratch + plan.inputs_bytes);
  std::fill_n(numbers + plan.zeros, plan.term - plan.zeros, T{0});
}

template <class T>
TangentTile<T>::TangentTile(const TangentSketch& sketch, const TangentPlan& plan,
                            MatrixView<const T> X, std::byte* scratch) noexcept
    : sketch_(sketch),
      plan_(plan),
      X_(X),
      inputs_(std::launder(reinterpret_cast<FactorRows*>(scratch))),
      numbers_(reinterpret_cast<T*>(scratch + plan.inputs_bytes)) {
  for (size_t node = 0; node < nodes().size(); ++node) begin_node(node);
}

template <class T>
void TangentTile<T>::move() const noexcept {
  for (size_t node = 0; node < nodes().size(); ++node) move_node(node);
}

template <class T>
void TangentTile<T>::move_along_input(int64_t input) const noexcept {
  const MatrixView<T> V = direction();
  for (int64_t i = 0; i < V.rows; ++i)
    for (int64_t k = 0; k < V.cols; ++k) V(i, k) = static_cast<T>(k == input);
  move();
}

// Real parts, then imaginary ones.
template <class T>
Planes<T> TangentTile<T>::planes(size_t node, int64_t at) const noexcept {
  const Multilinear& map = *nodes()[node].map;
  const int64_t m = map.columns();
  const MatrixView<T> all = matrix(at, plan_.nodes[node].size);
  return {all.block_cols(0, m), map.is_complex() ? all.block_cols(m, 2 * m) : MatrixView<T>()};
}

// Of factor f: of the leaves, or what stands of the node below.
template <class T>
auto TangentTile<T>::rows_of(size_t node, size_t f, MatrixView<const T> leaves,
                             int64_t TangentPlan::Node::*below) const noexcept -> FactorRows {
  const SketchNode& one = nodes()[node];
  const int64_t child = one.children[f];
  if (one.map->shape().factors[f].inputs == 0) return {{{nullptr, X_.rows, 0}, {}}, nullptr};
  if (child == kFirstInput) return {{leaves.block_cols(0, sketch_.left), {}}, nullptr};
  if (child == kSecondInput) return {{leaves.block_cols(sketch_.left, leaves.cols), {}}, nullptr};
  const auto from = static_cast<size_t>(child);
  const Planes<T> own = planes(from, plan_.nodes[from].*below);
  if (!one.children_as_real || own.im.data == nullptr) return {{own.re, own.im}, nullptr};
  return {{MatrixView<T>(own.re.data, own.re.rows, 2 * own.re.cols, own.re.ld), {}}, nullptr};
}

template <class T>
auto TangentTile<T>::values_of(size_t node, size_t f) const noexcept -> FactorRows {
  return rows_of(node, f, X_, &TangentPlan::Node::value);
}

template <class T>
auto TangentTile<T>::tangents_of(size_t node, size_t f) const noexcept -> FactorRows {
  return rows_of(node, f, direction(), &TangentPlan::Node::tangent);
}

template <class T>
auto TangentTile<T>::zeros_like(const FactorRows& rows) const noexcept -> FactorRows {
  const MatrixView<const T> zeros(numbers_ + plan_.zeros, X_.rows, rows.dense.re.cols,
                                  plan_.zeros_width);
  return {{zeros, rows.dense.im.data == nullptr ? MatrixView<const T>{} : zeros}, nullptr};
}

template <class T>
auto TangentTile<T>::scaled(const FactorRows& rows, const Scales& scales) const noexcept
    -> FactorRows {
  T* to = numbers_ + plan_.scaled;
  const auto plane = [&](MatrixView<const T> from) {
    if (from.data == nullptr) return MatrixView<const T>{};
    const MatrixView<T> own(to, from.rows, from.cols, plan_.zeros_width);
    for (int64_t i = 0; i < from.rows; ++i)
      for (int64_t k = 0; k < from.cols; ++k) own(i, k) = from(i, k) * scales.up[i] * scales.up[i];
    to += from.cols;
    return MatrixView<const T>(own);
  };
  const MatrixView<const T> re = plane(rows.dense.re);
  return {{re, plane(rows.dense.im)}, nullptr};
}

template <class T>
auto TangentTile<T>::scales_of(size_t node, double constant) const noexcept -> Scales {
  double largest[TangentPlan::kMostRows] = {};
  const auto& factors = nodes()[node].map->shape().factors;
  for (size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].inputs == 0) continue;
    const FactorRows rows = tangents_of(node, f);
    for (const MatrixView<const T>& plane : {rows.dense.re, rows.dense.im})
      for (int64_t i = 0; plane.data != nullptr && i < X_.rows; ++i)
        for (int64_t k = 0; k < plane.cols; ++k)
          largest[i] = std::max(largest[i], std::fabs(static_cast<double>(plane(i, k))));
  }
  Scales scales;
  for (int64_t i = 0; i < X_.rows; ++i) scales.set(i, constant, largest[i]);
  return scales;
}

template <class T>
void TangentTile<T>::gather(size_t node) const noexcept {
  for (size_t f = 0; f < nodes()[node].children.size(); ++f) inputs_[f] = values_of(node, f);
}

template <class T>
void TangentTile<T>::apply(size_t node, int64_t at) const noexcept {
  const Multilinear& map = *nodes()[node].map;
  map.apply({inputs_, nodes()[node].children.size()}, {0, map.columns()}, planes(node, at),
            numbers_ + plan_.scratch);
}

// The sum at `at` += the node of what inputs are now.
template <class T>
void TangentTile<T>::add(size_t node, int64_t at) const noexcept {
  apply(node, plan_.term);
  const int64_t count = X_.rows * plan_.nodes[node].size;
  T* const sum = numbers_ + at;
  const T* const term = numbers_ + plan_.term;
  for (int64_t j = 0; j < count; ++j) sum[j] += term[j];
}

// Its value, and what every tangent subtracts.
template <class T>
void TangentTile<T>::begin_node(size_t node) const noexcept {
  const auto& factors = nodes()[node].map->shape().factors;
  const TangentPlan::Node& own = plan_.nodes[node];
  const int64_t count = X_.rows * own.size;
  std::fill_n(numbers_ + own.value, count, T{0});
  std::fill_n(numbers_ + own.constant, count, T{0});
  std::fill_n(numbers_ + plan_.term, count, T{0});  // what pads it
  gather(node);
  apply(node, own.value);
  for (size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].inputs == 0 || factors[f].constant == 0) continue;
    const FactorRows value = inputs_[f];
    inputs_[f] = zeros_like(value);
    add(node, own.constant);
    inputs_[f] = value;
  }
}

template <class T>
void TangentTile<T>::move_node(size_t node) const noexcept {
  const auto& factors = nodes()[node].map->shape().factors;
  const TangentPlan::Node& own = plan_.nodes[node];
  const int64_t count = X_.rows * own.size;
  T* const tangent = numbers_ + own.tangent;
  const T* const constant = numbers_ + own.constant;
  for (int64_t j = 0; j < count; ++j) tangent[j] = -constant[j];
  std::fill_n(numbers_ + plan_.term, count, T{0});
  gather(node);
  const double subtracted = largest_constant(*nodes()[node].map);
  Scales scales;
  if (subtracted > 0) scales = scales_of(node, subtracted);
  for (size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].inputs == 0) continue;
    const FactorRows value = inputs_[f], moved = tangents_of(node, f);
    inputs_[f] = subtracted > 0 ? scaled(moved, scales) : moved;
    add(node, own.tangent);
    inputs_[f] = value;
  }
  if (subtracted == 0) return;
  for (int64_t i = 0; i < X_.rows; ++i)
    for (int64_t j = 0; j < own.size; ++j)
      tangent[i * own.size + j] = tangent[i * own.size + j] * scales.down[i] * scales.down[i];
}

template class TangentTile<float>;
template class TangentTile<double>;

}  // namespace mercer::feature
