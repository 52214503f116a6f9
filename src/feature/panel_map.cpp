// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/panel_map.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/tiles.h"

namespace mercer::feature {
namespace {

using projection::Blocks;
using projection::panels_for;

// Enough tiles to keep every thread busy.
constexpr int64_t kMinimumTiles = 16;
constexpr int64_t kTileRows = transform::kTileRows;

// Derivatives of panel maps: panel after panel of a row, products with the Jacobian from the
// panel's gradient while it is in the cache.
constexpr const char* kPanelDerivatives = "the derivatives of a panel, of all threads";

template <class T>
constexpr int64_t kWidth = transform::kPanelColumns<T>;

}  // namespace

template <>
projection::PackedPanels<float>& PanelMap::panels() const noexcept {
  return single_;
}
template <>
projection::PackedPanels<double>& PanelMap::panels() const noexcept {
  return double_;
}

PanelMap::PanelMap(int64_t d, int64_t D, std::unique_ptr<const projection::FrequencySource> columns)
    : FeatureMap(d, D, false), columns_(std::move(columns)), single_(d, D, 1), double_(d, D, 1) {}

template <class T>
class PanelMap::Tiles final : public TileWork {
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;

 public:
  Tiles(const PanelMap& map, MatrixView<const T> X, Columns c, MatrixView<T> Z)
      : map_(map),
        X_(X),
        c_(c),
        Z_(Z),
        panels_{c.begin / kWidth, panels_for(c.end, kWidth)},
        block_(std::min(kTileRows, X.rows) * kWidth) {}

  void prepare(Context& context) const override {
    map_.panels<T>().prepare(panels_, *map_.columns_, context);
  }
  TileCut cut() const override {
    const int64_t blocks = panels_.end - panels_.begin;
    const int64_t wanted = panels_for(kMinimumTiles, panels_for(X_.rows, kTileRows));
    const int64_t rows = checked_multiply(kTileRows, map_.prepared(), "rows of a tile");
    const int64_t numbers = checked_add(block_ * (1 + map_.scratch()), rows, "a tile");
    return {X_.rows, kTileRows, panels_, panels_for(blocks, std::min(blocks, wanted)),
            checked_multiply(numbers, sizeof(T), "a tile")};
  }
  void run(const Tile& tile) const noexcept override {
    T* const P = reinterpret_cast<T*>(tile.scratch);
    T* const scratch = P + block_;
    const MatrixView<const T> X = rows(tile, scratch + map_.scratch() * block_);
    for (int64_t p = tile.blocks.begin; p < tile.blocks.end; ++p) {
      map_.finish(X, map_.panels<T>().panel(p), P, scratch);
      const int64_t j0 = std::max(c_.begin, p * kWidth), j1 = std::min(c_.end, (p + 1) * kWidth);
      for (int64_t i = 0; i < X.rows; ++i)
        std::copy_n(P + i * kWidth + (j0 - p * kWidth), j1 - j0,
                    Z_.row(tile.i0 + i) + (j0 - c_.begin));
    }
  }

 private:
  MatrixView<const T> rows(const Tile& tile, T* prepared) const noexcept {
    const MatrixView<const T> X = X_.block_rows(tile.i0, tile.i1);
    const int64_t numbers = map_.prepared();
    if (numbers == 0) return X;
    for (int64_t i = 0; i < X.rows; ++i) map_.prepare_row(X.row(i), prepared + i * numbers);
    return {prepared, X.rows, numbers};
  }

  const PanelMap& map_;
  MatrixView<const T> X_;
  Columns c_;
  MatrixView<T> Z_;
  Blocks panels_;
  int64_t block_;  // numbers of P
};

void PanelMap::apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const {
  apply_dense_rows(X, c, context, Z, [&](const auto& rows, const auto& out) {
    run_tiles(Tiles<RowNumberOf<decltype(rows)>>(*this, rows, c, out), context);
  });
}

void PanelMap::prepare(Precision precision, Context& context) const {
  const auto all = [this](int64_t width) { return Blocks{0, panels_for(features(), width)}; };
  if (precision == Precision::f32)
    single_.prepare(all(transform::kPanelColumns<float>), *columns_, context);
  if (precision == Precision::f64)
    double_.prepare(all(transform::kPanelColumns<double>), *columns_, context);
}

// Calls body(i, j0, columns, panel, scratch) for every row i and every panel of columns [j0, j0 +
// columns).
template <class T, class Body>
void PanelMap::for_each_panel(int64_t rows, int64_t column_numbers, Context& context,
                              const Body& body) const {
  const int64_t count = projection::panels_for(features(), kWidth<T>);
  panels<T>().prepare({0, count}, *columns_, context);
  if (rows == 0) return;
  const int64_t each = checked_add(checked_multiply(column_numbers, kWidth<T>, kPanelDerivatives),
                                   15, kPanelDerivatives) /
                       16 * 16;
  const AlignedBuffer<T> buffer(
      checked_multiply(worker_count(context, rows), each, kPanelDerivatives), context,
      kPanelDerivatives);
  parallel_for(context, rows, [&](int64_t i, int worker) noexcept {
    for (int64_t p = 0; p < count; ++p)
      body(i, p * kWidth<T>, std::min(kWidth<T>, features() - p * kWidth<T>), panels<T>().panel(p),
           buffer.data() + worker * each);
  });
}

// Calls body(i, j0, columns, dz) in the same way, dz the panel's gradient.
template <class T, class Body>
void PanelMap::for_each_gradient(MatrixView<const T> X, Context& context, const Body& body) const {
  const int64_t own = derivative_scratch();
  for_each_panel<T>(X.rows, checked_add(own, inputs(), kPanelDerivatives), context,
                    [&](int64_t i, int64_t j0, int64_t count, const T* W, T* scratch) noexcept {
                      T* const dz = scratch + own * kWidth<T>;
                      panel_gradient(X.row(i), W, dz, scratch);
                      body(i, j0, count, dz);
                    });
}

template <class T>
void PanelMap::differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                                  MatrixView<T> out) const {
  if (what.kind == Derivative::Kind::gradient)
    return for_each_gradient(
        X, context, [&](int64_t i, int64_t j0, int64_t count, const T* dz) noexcept {
          for (int64_t k = 0; k < inputs(); ++k)
            std::copy_n(dz + k * kWidth<T>, count, out.row(i) + k * features() + j0);
        });
  const std::vector<std::vector<MultiIndex>> blocks = partials_of(what, inputs());
  const int64_t own = derivative_scratch();
  for_each_panel<T>(X.rows, checked_add(own, 1, kPanelDerivatives), context,
                    [&](int64_t i, int64_t j0, int64_t count, const T* W, T* scratch) noexcept {
                      T *const z = scratch + own * kWidth<T>, *to = out.row(i) + j0;
                      for (const std::vector<MultiIndex>& block : blocks) {
                        std::fill_n(to, count, T{0});
                        for (const MultiIndex& p : block) {
                          panel_partial(p, X.row(i), W, z, scratch);
                          for (int64_t j = 0; j < count; ++j) to[j] += z[j];
                        }
                        to += features();
                      }
                    });
}

template <class T>
void PanelMap::push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                                 MatrixView<T> out) const {
  for_each_gradient(X, context, [&](int64_t i, int64_t j0, int64_t count, const T* dz) noexcept {
    T* const to = out.row(i) + j0;
    std::fill_n(to, count, T{0});
    for (int64_t k = 0; k < inputs(); ++k)
      for (int64_t j = 0; j < count; ++j) to[j] += V(i, k) * dz[k * kWidth<T> + j];
  });
}

template <class T>
void PanelMap::pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                              MatrixView<T> out) const {
  for (int64_t i = 0; i < X.rows; ++i) std::fill_n(out.row(i), inputs(), T{0});
  for_each_gradient(X, context, [&](int64_t i, int64_t j0, int64_t count, const T* dz) noexcept {
    for (int64_t k = 0; k < inputs(); ++k)
      for (int64_t j = 0; j < count; ++j) out(i, k) += G(i, j0 + j) * dz[k * kWidth<T> + j];
  });
}

MERCER_INSTANTIATE_DERIVATIVE_MEMBERS(PanelMap)

}  // namespace mercer::feature
