// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A node S(u_1, ..., u_p) of factors u_f = [x_f, c] moves along t by sum_f S(..., [t_f, 0], ...),
// which is S(..., [t_f, c], ...) - S(..., [0, c], ...): a sketch has its constants, and what is
// subtracted is the same for all directions. Of t far smaller than c, or larger, that loses what is
// asked for, so every row of t goes in as large as c, times a power of two that comes out again:
// tangents are linear in t. Nodes in order, so that a node's rows and their tangents are there
// before it is (Griewank, Walther 2008, chapter 3).
#include "feature/sketch_tangents.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "base/size.h"
#include "feature/tile_loop.h"

namespace mercer::feature {
namespace {

using projection::FactorRows;
using projection::Planes;

constexpr int64_t kMostRows = 32;
constexpr int64_t kValue = -1;  // in a list of inputs: the features themselves
constexpr const char* kWhat = "the tangents of a tile of sketches";

int64_t round_up(int64_t count) noexcept { return (count + 15) / 16 * 16; }

/// Where a thread keeps what, in numbers from the start of its scratch.
class TangentPlan {
 public:
  template <class T>
  TangentPlan(const TangentSketch& sketch, int64_t rows, int64_t d, T) : rows_(rows) {
    int64_t scratch = 0, most = d;
    for (const SketchNode& node : sketch.tree.nodes()) {
      const int64_t size = round_up(node.map->columns() * (node.map->is_complex() ? 2 : 1));
      sizes_.push_back(size);
      most = std::max(most, size);
      scratch = std::max(scratch, node.map->scratch(rows, node.map->columns(), T{}));
      factors_ = std::max(factors_, std::ssize(node.children));
    }
    const auto matrix = [&](int64_t cols) { return checked_multiply(rows, round_up(cols), kWhat); };
    for (const int64_t size : sizes_) {
      values_.push_back(add(matrix(size)));
      constants_.push_back(add(matrix(size)));
      tangents_.push_back(add(matrix(size)));
    }
    direction_ = add(matrix(d));
    zeros_ = add(matrix(most));
    term_ = add(matrix(most));
    scaled_ = add(matrix(most));
    scratch_ = add(round_up(scratch));
  }

  int64_t rows() const noexcept { return rows_; }
  int64_t numbers() const noexcept { return numbers_; }
  int64_t most_factors() const noexcept { return factors_; }
  int64_t size(size_t node) const noexcept { return sizes_[node]; }
  int64_t value(size_t node) const noexcept { return values_[node]; }
  int64_t constant(size_t node) const noexcept { return constants_[node]; }
  int64_t tangent(size_t node) const noexcept { return tangents_[node]; }
  int64_t direction() const noexcept { return direction_; }
  int64_t zeros() const noexcept { return zeros_; }
  int64_t zeros_width() const noexcept { return (term_ - zeros_) / rows_; }
  int64_t term() const noexcept { return term_; }
  int64_t scaled() const noexcept { return scaled_; }
  int64_t scratch() const noexcept { return scratch_; }

 private:
  int64_t add(int64_t count) {
    const int64_t at = numbers_;
    numbers_ = checked_add(numbers_, count, kWhat);
    return at;
  }

  int64_t rows_;
  int64_t numbers_ = 0;
  int64_t factors_ = 0;
  std::vector<int64_t> sizes_, values_, constants_, tangents_;
  int64_t direction_, zeros_, term_, scaled_, scratch_;
};

// Powers of two that the directions of the rows of a tile are multiplied by, in two steps that
// neither overflow; 0 where there is no direction.
template <class T>
struct DirectionScales {
  T up[kMostRows];
  T down[kMostRows];  // 1/up

  void set(int64_t i, double constant, double largest) noexcept {
    up[i] = down[i] = static_cast<T>(largest > 0);
    if (!(largest > 0) || std::isinf(largest)) return;
    constexpr int kMost = (std::numeric_limits<T>::max_exponent - 4) / 2;
    const int half = std::clamp((std::ilogb(constant) - std::ilogb(largest)) / 2, -kMost, kMost);
    up[i] = std::ldexp(T{1}, half);
    down[i] = std::ldexp(T{1}, -half);
  }
};

/// `finish` puts what moves along one direction where it belongs.
template <class T>
class TangentTiles : public TileWork {
 public:
  void prepare(Context& context) const override {
    sketch_.tree.prepare<T>({0, sketch_.tree.root().columns()}, context);
  }
  TileCut cut() const override {
    const int64_t numbers = checked_multiply(plan_.numbers(), sizeof(T), kWhat);
    return {X_.rows, plan_.rows(), {0, 1}, 1, checked_add(rows_bytes(), numbers, kWhat)};
  }
  void begin(std::byte* scratch) const noexcept override {
    std::uninitialized_value_construct_n(reinterpret_cast<FactorRows<T>*>(scratch),
                                         static_cast<size_t>(plan_.most_factors()));
    T* const numbers = reinterpret_cast<T*>(scratch + rows_bytes());
    std::fill_n(numbers + plan_.zeros(), plan_.term() - plan_.zeros(), T{0});
  }
  void run(const Tile& tile) const noexcept override {
    const Work work{std::launder(reinterpret_cast<FactorRows<T>*>(tile.scratch)),
                    reinterpret_cast<T*>(tile.scratch + rows_bytes()), tile.i1 - tile.i0,
                    X_.block_rows(tile.i0, tile.i1)};
    for (size_t node = 0; node < nodes().size(); ++node) begin_node(node, work);
    along_directions(tile.i0, work);
  }

 protected:
  struct Work {
    FactorRows<T>* inputs;
    T* numbers;
    int64_t n;
    MatrixView<const T> X;
  };

  TangentTiles(const TangentSketch& sketch, MatrixView<const T> X)
      : sketch_(sketch),
        X_(X),
        plan_(sketch, std::clamp(sketch.tree.tile_rows(), int64_t{1}, kMostRows), X.cols, T{}) {}

  // A row of the root's columns as the map has it.
  template <class Put>
  void for_each_number(bool value, const Work& work, const Put& put) const noexcept {
    const size_t root = nodes().size() - 1;
    const int64_t m = sketch_.tree.root().columns();
    const MatrixView<T> all =
        matrix(value ? plan_.value(root) : plan_.tangent(root), plan_.size(root), work);
    const bool interleaved = sketch_.field == SketchField::complex;
    const int64_t parts = sketch_.tree.root().is_complex() ? 2 : 1;
    for (int64_t i = 0; i < work.n; ++i)
      for (int64_t part = 0; part < parts; ++part)
        for (int64_t j = 0; j < m; ++j)
          put(i, interleaved ? 2 * j + part : part * m + j, all(i, part * m + j));
  }

  MatrixView<T> direction(const Work& work) const noexcept {
    return {work.numbers + plan_.direction(), work.n, X_.cols};
  }
  void set_direction(int64_t input, const Work& work) const noexcept {
    const MatrixView<T> V = direction(work);
    for (int64_t i = 0; i < V.rows; ++i)
      for (int64_t k = 0; k < V.cols; ++k) V(i, k) = static_cast<T>(k == input);
  }
  void move(const Work& work) const noexcept {
    for (size_t node = 0; node < nodes().size(); ++node) move_node(node, work);
  }

 private:
  virtual void along_directions(int64_t i0, const Work& work) const noexcept = 0;

  std::span<const SketchNode> nodes() const noexcept { return sketch_.tree.nodes(); }
  int64_t rows_bytes() const noexcept {
    constexpr auto kBytes = static_cast<int64_t>(sizeof(FactorRows<T>));
    return (plan_.most_factors() * kBytes + 63) / 64 * 64;
  }
  MatrixView<T> matrix(int64_t at, int64_t cols, const Work& work) const noexcept {
    return {work.numbers + at, work.n, cols};
  }
  // Real parts, then imaginary ones.
  Planes<T> planes(size_t node, int64_t at, const Work& work) const noexcept {
    const projection::Multilinear& map = *nodes()[node].map;
    const int64_t m = map.columns();
    const MatrixView<T> all = matrix(at, plan_.size(node), work);
    return {all.block_cols(0, m), map.is_complex() ? all.block_cols(m, 2 * m) : MatrixView<T>()};
  }

  // Of factor f: the rows X, or the columns of a node at `at(child)`.
  template <class At>
  FactorRows<T> rows_of(size_t node, size_t f, MatrixView<const T> X, const At& at,
                        const Work& work) const noexcept {
    const SketchNode& one = nodes()[node];
    const int64_t child = one.children[f];
    if (one.map->shape().factors[f].inputs == 0) return {{{nullptr, work.n, 0}, {}}, nullptr};
    if (child == kFirstInput) return {{X.block_cols(0, sketch_.left), {}}, nullptr};
    if (child == kSecondInput) return {{X.block_cols(sketch_.left, X.cols), {}}, nullptr};
    const auto below = static_cast<size_t>(child);
    const Planes<T> own = planes(below, at(below), work);
    if (!one.children_as_real || own.im.data == nullptr) return {{own.re, own.im}, nullptr};
    return {{MatrixView<T>(own.re.data, own.re.rows, 2 * own.re.cols, own.re.ld), {}}, nullptr};
  }
  FactorRows<T> no_rows(const FactorRows<T>& like, const Work& work) const noexcept {
    const MatrixView<const T> zeros(work.numbers + plan_.zeros(), work.n, like.dense.re.cols,
                                    plan_.zeros_width());
    return {{zeros, like.dense.im.data == nullptr ? MatrixView<const T>{} : zeros}, nullptr};
  }

  void apply(size_t node, int64_t at, const Work& work) const noexcept {
    const projection::Multilinear& map = *nodes()[node].map;
    map.apply({work.inputs, nodes()[node].children.size()}, {0, map.columns()},
              planes(node, at, work), work.numbers + plan_.scratch());
  }
  // The sum at `at` += sign times the node of what inputs are now.
  void add(size_t node, int64_t at, T sign, const Work& work) const noexcept {
    apply(node, plan_.term(), work);
    const int64_t count = work.n * plan_.size(node);
    T* const sum = work.numbers + at;
    const T* const term = work.numbers + plan_.term();
    for (int64_t j = 0; j < count; ++j) sum[j] += sign * term[j];
  }
  void gather(size_t node, const Work& work) const noexcept {
    for (size_t f = 0; f < nodes()[node].children.size(); ++f)
      work.inputs[f] = rows_of(
          node, f, work.X, [this](size_t below) { return plan_.value(below); }, work);
  }

  // The largest constant in units of the inputs beside it; 0: nothing is subtracted.
  double largest_constant(size_t node) const noexcept {
    double largest = 0;
    for (const projection::FactorShape& factor : nodes()[node].map->shape().factors)
      if (factor.inputs > 0) largest = std::max(largest, std::fabs(factor.constant / factor.scale));
    return std::min(largest, std::numeric_limits<double>::max());
  }
  FactorRows<T> tangent_rows(size_t node, size_t f, const Work& work) const noexcept {
    return rows_of(
        node, f, direction(work), [this](size_t below) { return plan_.tangent(below); }, work);
  }
  DirectionScales<T> scales_of(size_t node, double constant, const Work& work) const noexcept {
    double largest[kMostRows] = {};
    const auto& factors = nodes()[node].map->shape().factors;
    for (size_t f = 0; f < factors.size(); ++f) {
      if (factors[f].inputs == 0) continue;
      const FactorRows<T> rows = tangent_rows(node, f, work);
      for (const MatrixView<const T>& plane : {rows.dense.re, rows.dense.im})
        for (int64_t i = 0; plane.data != nullptr && i < work.n; ++i)
          for (int64_t k = 0; k < plane.cols; ++k)
            largest[i] = std::max(largest[i], std::fabs(static_cast<double>(plane(i, k))));
    }
    DirectionScales<T> scales;
    for (int64_t i = 0; i < work.n; ++i) scales.set(i, constant, largest[i]);
    return scales;
  }
  FactorRows<T> scaled_rows(const FactorRows<T>& rows, const DirectionScales<T>& scales,
                            const Work& work) const noexcept {
    T* to = work.numbers + plan_.scaled();
    const auto scaled = [&](MatrixView<const T> plane) {
      if (plane.data == nullptr) return MatrixView<const T>{};
      const MatrixView<T> own(to, plane.rows, plane.cols, plan_.zeros_width());
      for (int64_t i = 0; i < plane.rows; ++i)
        for (int64_t k = 0; k < plane.cols; ++k)
          own(i, k) = plane(i, k) * scales.up[i] * scales.up[i];
      to += plane.cols;
      return MatrixView<const T>(own);
    };
    const MatrixView<const T> re = scaled(rows.dense.re);
    return {{re, scaled(rows.dense.im)}, nullptr};
  }

  // Its value, and what every tangent subtracts.
  void begin_node(size_t node, const Work& work) const noexcept {
    const auto& factors = nodes()[node].map->shape().factors;
    const int64_t count = work.n * plan_.size(node);
    std::fill_n(work.numbers + plan_.value(node), count, T{0});
    std::fill_n(work.numbers + plan_.constant(node), count, T{0});
    std::fill_n(work.numbers + plan_.term(), count, T{0});  // what pads it
    gather(node, work);
    apply(node, plan_.value(node), work);
    for (size_t f = 0; f < factors.size(); ++f) {
      if (factors[f].inputs == 0 || factors[f].constant == 0) continue;
      const FactorRows<T> own = work.inputs[f];
      work.inputs[f] = no_rows(own, work);
      add(node, plan_.constant(node), 1, work);
      work.inputs[f] = own;
    }
  }

  void move_node(size_t node, const Work& work) const noexcept {
    const auto& factors = nodes()[node].map->shape().factors;
    const int64_t count = work.n * plan_.size(node);
    T* const tangent = work.numbers + plan_.tangent(node);
    const T* const constant = work.numbers + plan_.constant(node);
    for (int64_t j = 0; j < count; ++j) tangent[j] = -constant[j];
    std::fill_n(work.numbers + plan_.term(), count, T{0});
    gather(node, work);
    const double subtracted = largest_constant(node);
    DirectionScales<T> scales;
    if (subtracted > 0) scales = scales_of(node, subtracted, work);
    for (size_t f = 0; f < factors.size(); ++f) {
      if (factors[f].inputs == 0) continue;
      const FactorRows<T> own = work.inputs[f], moved = tangent_rows(node, f, work);
      work.inputs[f] = subtracted > 0 ? scaled_rows(moved, scales, work) : moved;
      add(node, plan_.tangent(node), 1, work);
      work.inputs[f] = own;
    }
    if (subtracted == 0) return;
    const int64_t size = plan_.size(node);
    for (int64_t i = 0; i < work.n; ++i)
      for (int64_t j = 0; j < size; ++j)
        tangent[i * size + j] = tangent[i * size + j] * scales.down[i] * scales.down[i];
  }

  const TangentSketch& sketch_;
  MatrixView<const T> X_;
  TangentPlan plan_;
};

// Block b of out is along input inputs[b].
template <class T>
class InputTangents final : public TangentTiles<T> {
 public:
  InputTangents(const TangentSketch& sketch, MatrixView<const T> X, std::vector<int64_t> inputs,
                MatrixView<T> out)
      : TangentTiles<T>(sketch, X), inputs_(std::move(inputs)), out_(out) {}

 private:
  void along_directions(int64_t i0,
                        const typename TangentTiles<T>::Work& work) const noexcept override {
    const int64_t width = out_.cols / std::max<int64_t>(std::ssize(inputs_), 1);
    for (size_t b = 0; b < inputs_.size(); ++b) {
      const bool value = inputs_[b] == kValue;
      if (!value) {
        this->set_direction(inputs_[b], work);
        this->move(work);
      }
      const int64_t first = static_cast<int64_t>(b) * width;
      this->for_each_number(value, work, [&](int64_t i, int64_t j, T number) noexcept {
        out_(i0 + i, first + j) = number;
      });
    }
  }

  std::vector<int64_t> inputs_;
  MatrixView<T> out_;
};

template <class T>
class ForwardTangents final : public TangentTiles<T> {
 public:
  ForwardTangents(const TangentSketch& sketch, MatrixView<const T> X, MatrixView<const T> V,
                  MatrixView<T> out)
      : TangentTiles<T>(sketch, X), V_(V), out_(out) {}

 private:
  void along_directions(int64_t i0,
                        const typename TangentTiles<T>::Work& work) const noexcept override {
    const MatrixView<T> V = this->direction(work);
    for (int64_t i = 0; i < V.rows; ++i) std::copy_n(V_.row(i0 + i), V.cols, V.row(i));
    this->move(work);
    this->for_each_number(
        false, work, [&](int64_t i, int64_t j, T number) noexcept { out_(i0 + i, j) = number; });
  }

  MatrixView<const T> V_;
  MatrixView<T> out_;
};

template <class T>
class BackwardTangents final : public TangentTiles<T> {
 public:
  BackwardTangents(const TangentSketch& sketch, MatrixView<const T> X, MatrixView<const T> G,
                   MatrixView<T> out)
      : TangentTiles<T>(sketch, X), G_(G), out_(out) {}

 private:
  void along_directions(int64_t i0,
                        const typename TangentTiles<T>::Work& work) const noexcept override {
    for (int64_t k = 0; k < out_.cols; ++k) {
      this->set_direction(k, work);
      this->move(work);
      double sums[kMostRows] = {};
      this->for_each_number(false, work, [&](int64_t i, int64_t j, T number) noexcept {
        sums[i] += static_cast<double>(number) * static_cast<double>(G_(i0 + i, j));
      });
      for (int64_t i = 0; i < work.n; ++i) out_(i0 + i, k) = static_cast<T>(sums[i]);
    }
  }

  MatrixView<const T> G_;
  MatrixView<T> out_;
};

}  // namespace

template <class T>
void differentiate_rows(const TangentSketch& sketch, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  std::vector<int64_t> inputs;
  for (const std::vector<MultiIndex>& block : partials_of(what, X.cols))
    inputs.push_back(block[0].empty() ? kValue : block[0][0].input);
  if (X.rows > 0) run_tiles(InputTangents<T>(sketch, X, std::move(inputs), out), context);
}

template <class T>
void push_rows_forward(const TangentSketch& sketch, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  if (X.rows > 0) run_tiles(ForwardTangents<T>(sketch, X, V, out), context);
}

template <class T>
void pull_rows_back(const TangentSketch& sketch, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  if (X.rows > 0) run_tiles(BackwardTangents<T>(sketch, X, G, out), context);
}

MERCER_INSTANTIATE_DERIVATIVES(TangentSketch)

}  // namespace mercer::feature
