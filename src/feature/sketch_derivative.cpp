// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tiles of rows. Their values are computed once; then for every block of a derivative the series
// along unit vectors, the same for all rows; for a product with the Jacobian the series of order 1
// along a direction of each row; for one with its transpose cotangents go back through the tree.
#include "feature/sketch_derivative.h"

#include <algorithm>

#include "base/size.h"
#include "feature/tile_loop.h"
#include "transform/product.h"

namespace mercer::feature {
namespace {

using kernel::Jet;
using projection::Planes;

constexpr const char* kSketchDerivatives = "the derivatives of a tile of sketches";
// Rows of a tile: enough to share unit vectors, few enough for the second-level cache.
constexpr int64_t kMostTileRows = 32;
constexpr int64_t kSketchBytes = int64_t{1} << 20;
// Tiles that a small call is cut into.
constexpr int64_t kLeastSketchTiles = 8;
constexpr int64_t kOfEachRow = 0;  // of directions

/// A block of a derivative: the sum of the series' last coefficients, times their factorials.
struct SeriesBlock {
  std::vector<Jet> sum;
};

/// UNSUPPORTED: too many coefficients.
std::vector<SeriesBlock> series_of(const Derivative& what, int64_t d) {
  std::vector<SeriesBlock> blocks;
  for (const std::vector<MultiIndex>& sum : partials_of(what, d)) {
    blocks.emplace_back();
    for (const MultiIndex& p : sum) blocks.back().sum.emplace_back(p);
  }
  return blocks;
}

int64_t most_coefficients(const std::vector<SeriesBlock>& blocks) noexcept {
  int64_t most = 1;
  for (const SeriesBlock& block : blocks)
    for (const Jet& series : block.sum) most = std::max(most, series.count);
  return most;
}

int64_t row_length(const SketchParts& sketch) noexcept {
  return sketch.tree.root().columns() * (sketch.tree.root().is_complex() ? 2 : 1);
}

template <class T>
SketchSeries<T> fitting_series(const SketchParts& sketch, int64_t n, SeriesSize moves) {
  const bool shared = moves.directions != kOfEachRow;
  moves.rows = moves.directions = 1;
  const int64_t bytes =
      checked_multiply(SketchSeries<T>(sketch, moves).numbers(), sizeof(T), kSketchDerivatives);
  const int64_t share = ceil_divide(n, kLeastSketchTiles);
  moves.rows = std::clamp(std::min(kSketchBytes / bytes, share), int64_t{1}, kMostTileRows);
  if (!shared) moves.directions = moves.rows;
  return {sketch, moves};
}

int64_t most_variables(const std::vector<SeriesBlock>& blocks) noexcept {
  size_t most = 1;
  for (const SeriesBlock& block : blocks)
    for (const Jet& series : block.sum) most = std::max(most, series.p.size());
  return static_cast<int64_t>(most);
}

/// Scratch of a thread: unit vectors, and the columns of a tile.
struct TileRoom {
  int64_t inputs;
  int64_t units;
  int64_t columns;  // of a row
  int64_t rows;

  int64_t numbers() const {
    return checked_add(checked_multiply(units, inputs, kSketchDerivatives),
                       checked_multiply(rows, columns, kSketchDerivatives), kSketchDerivatives);
  }
};

/// Rows of a tile whose values have been computed.
template <class T>
class SketchTile {
 public:
  SketchTile(const SketchParts& sketch, const SketchSeries<T>& series, const TileRoom& room,
             MatrixView<const T> X, T* scratch)
      : sketch_(sketch), series_(series), room_(room), X_(X), scratch_(scratch) {
    series.begin(X, scratch);
  }

  int64_t rows() const noexcept { return X_.rows; }

  /// Begins a sum with the derivative of that order in inputs, or adds it.
  void add(const Jet& jet, bool begins) const noexcept {
    MatrixView<const T> units[kMostVariables];
    for (size_t v = 0; v < jet.p.size(); ++v) {
      T* const unit = own() + static_cast<int64_t>(v) * room_.inputs;
      std::fill_n(unit, X_.cols, T{0});
      unit[jet.p[v].input] = 1;
      units[v] = {unit, 1, X_.cols};
    }
    series_.add(jet, units, rows(), begins, scratch_);
  }
  /// Begins it with the derivative along a direction of each row.
  void begin_along(const Jet& first, const MatrixView<const T>& V) const noexcept {
    series_.add(first, &V, rows(), true, scratch_);
  }
  /// The sum as rows of the map; if it goes around the caches, the caller finishes the streaming.
  void take(MatrixView<T> out, bool around_caches = false) const noexcept {
    const int64_t m = root().columns();
    const auto halves = [&](MatrixView<T> all, bool streams) {
      return Planes<T>{all.block_cols(0, m),
                       root().is_complex() ? all.block_cols(m, 2 * m) : MatrixView<T>(), streams};
    };
    if (sketch_.field != SketchField::complex)
      return series_.take(halves(out, around_caches), scratch_);
    const Planes<T> apart = halves(columns(), false);
    series_.take(apart, scratch_);
    for (int64_t i = 0; i < out.rows; ++i)
      transform::interleave(apart.re.row(i), apart.im.row(i), m, out.row(i));
  }
  /// The cotangents of rows, given the cotangents G of their features.
  void pull(MatrixView<const T> G, MatrixView<T> out) const noexcept {
    const int64_t m = root().columns();
    if (sketch_.field != SketchField::complex)
      return series_.pull({G.block_cols(0, m),
                           root().is_complex() ? G.block_cols(m, 2 * m) : MatrixView<const T>()},
                          out, scratch_);
    const MatrixView<T> apart = columns();
    for (int64_t i = 0; i < G.rows; ++i) {
      for (int64_t j = 0; j < m; ++j) {
        apart(i, j) = G(i, 2 * j);
        apart(i, m + j) = G(i, 2 * j + 1);
      }
    }
    series_.pull({apart.block_cols(0, m), apart.block_cols(m, 2 * m)}, out, scratch_);
  }

 private:
  // Each variable doubles the coefficients at least.
  static constexpr size_t kMostVariables = 10;
  static_assert(Jet::kMost >> kMostVariables == 1);

  const projection::Multilinear& root() const noexcept { return sketch_.tree.root(); }
  T* own() const noexcept { return scratch_ + series_.numbers(); }
  MatrixView<T> columns() const noexcept {
    T* const first = own() + room_.units * room_.inputs;
    return {first, rows(), row_length(sketch_), room_.columns};
  }

  const SketchParts& sketch_;
  const SketchSeries<T>& series_;
  const TileRoom& room_;
  MatrixView<const T> X_;
  T* scratch_;
};

/// Calls body(tile, i0) for tiles that begin with row i0.
template <class T, class Body>
class SketchSeriesTiles final : public TileWork {
 public:
  SketchSeriesTiles(const SketchParts& sketch, MatrixView<const T> X, const SeriesSize& moves,
                    const Body& body)
      : sketch_(sketch),
        X_(X),
        body_(body),
        series_(fitting_series<T>(sketch, X.rows, moves)),
        room_{round_up(X.cols), moves.variables, round_up(row_length(sketch)), series_.rows()} {}

  void prepare(Context& context) const override { series_.prepare(context); }
  TileCut cut() const override {
    const int64_t all = checked_add(series_.numbers(), room_.numbers(), kSketchDerivatives);
    return {
        X_.rows, series_.rows(), {0, 1}, 1, checked_multiply(all, sizeof(T), kSketchDerivatives)};
  }
  void run(const Tile& tile) const noexcept override {
    body_(SketchTile<T>(sketch_, series_, room_, X_.block_rows(tile.i0, tile.i1),
                        reinterpret_cast<T*>(tile.scratch)),
          tile.i0);
  }

 private:
  const SketchParts& sketch_;
  MatrixView<const T> X_;
  const Body& body_;
  SketchSeries<T> series_;
  TileRoom room_;
};

/// `moves`: coefficients and variables of the jets, directions 1 or of each row.
template <class T, class Body>
void for_each_tile(const SketchParts& sketch, MatrixView<const T> X, const SeriesSize& moves,
                   Context& context, const Body& body) {
  if (X.rows > 0) run_tiles(SketchSeriesTiles<T, Body>(sketch, X, moves, body), context);
}

}  // namespace

template <class T>
void differentiate_rows(const SketchParts& sketch, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  const std::vector<SeriesBlock> blocks = series_of(what, X.cols);
  if (blocks.empty()) return;
  const bool streams = goes_around_caches(out);
  const int64_t width = row_length(sketch);
  for_each_tile(sketch, X, {0, most_coefficients(blocks), most_variables(blocks), 1}, context,
                [&](const SketchTile<T>& tile, int64_t i0) noexcept {
                  const MatrixView<T> rows = out.block_rows(i0, i0 + tile.rows());
                  for (int64_t b = 0; b < std::ssize(blocks); ++b) {
                    const std::vector<Jet>& sum = blocks[b].sum;
                    for (const Jet& jet : sum) tile.add(jet, &jet == sum.data());
                    tile.take(rows.block_cols(b * width, (b + 1) * width), streams);
                  }
                  if (streams) transform::finish_streaming();
                });
}

template <class T>
void push_rows_forward(const SketchParts& sketch, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  const Jet first({{0, 1}});
  for_each_tile(sketch, X, {0, 2, 1, kOfEachRow}, context,
                [&](const SketchTile<T>& tile, int64_t i0) noexcept {
                  tile.begin_along(first, V.block_rows(i0, i0 + tile.rows()));
                  tile.take(out.block_rows(i0, i0 + tile.rows()));
                });
}

template <class T>
void pull_rows_back(const SketchParts& sketch, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  for_each_tile(sketch, X, {0, 1, 1, 1}, context,
                [&](const SketchTile<T>& tile, int64_t i0) noexcept {
                  const int64_t i1 = i0 + tile.rows();
                  tile.pull(G.block_rows(i0, i1), out.block_rows(i0, i1));
                });
}

MERCER_INSTANTIATE_DERIVATIVES(SketchParts)

}  // namespace mercer::feature
