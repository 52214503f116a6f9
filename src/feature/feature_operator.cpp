// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Blocks of features stay in cache until they are used. For a map of one output W is theta itself.
#include "feature/feature_operator.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/feature_map.h"
#include "feature/field_map.h"
#include "feature/grid_sums.h"
#include "feature/kernel_field.h"
#include "transform/narrow_gemm.h"

namespace mercer::feature {
namespace {

constexpr int64_t kRowsPerChunk = 32;
constexpr int64_t kColumnsPerChunk = 64;
// Fewer multiply-adds than this do not pay for waking a thread.
constexpr int64_t kChunkProducts = int64_t{1} << 17;

/// out(:, k w + b) = A(:, k q + .) R(b, .)': each vector in a row of A is multiplied by a w x q
/// matrix.
template <class T>
void through(MatrixView<const T> A, MatrixView<const T> R, int64_t vectors,
             MatrixView<T> out) noexcept {
  for (int64_t k = 0; k < vectors; ++k)
    transform::row_products(
        transform::RowProducts<T>{A.block_cols(k * R.cols, (k + 1) * R.cols), R,
                                  out.block_cols(k * R.rows, (k + 1) * R.rows)});
}

/// Rounded to T, transposed or not.
template <class T>
Matrix<T> rounded(MatrixView<const double> A, bool transposed, Context& context) {
  Matrix<T> out(transposed ? A.cols : A.rows, transposed ? A.rows : A.cols, context,
                "the weights of features");
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j)
      (transposed ? out(j, i) : out(i, j)) = static_cast<T>(A(i, j));
  return out;
}

/// Z W without Z; false: not for this map.
template <class T>
bool multiply_on_grid(const FeatureMap& map, MatrixView<const T> X, MatrixView<const double> W,
                      Context& context, MatrixView<T> out) {
  const FrequencyGrid* const grid = map.grid();
  if (grid == nullptr || !GridProducts::pays(*grid, W.cols)) return false;
  const GridProducts products(*grid, map.kernel().value_at_zero(), W, context);
  const int64_t size = std::min(X.rows, kMostBlockRows);
  const Matrix<double> wide(size, X.cols, context, "a block of rows");
  const Matrix<double> result(size, W.cols, context, "a block of products");
  for (int64_t first = 0; first < X.rows; first += size) {
    const int64_t count = std::min(size, X.rows - first);
    const auto x = wide.view().block_rows(0, count), y = result.view().block_rows(0, count);
    for (int64_t i = 0; i < count; ++i) std::copy_n(X.row(first + i), X.cols, x.row(i));
    products.multiply(x, context, y);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < W.cols; ++k) out(first + i, k) = static_cast<T>(y(i, k));
    context.checkpoint();
  }
  return true;
}

template <class View>
void multiply_rows(const FeatureMap& map, const View& X, MatrixView<const double> W,
                   MatrixView<const double> root, Context& context,
                   MatrixView<RowNumberOf<View>> out) {
  using T = RowNumberOf<View>;
  const bool through_root = root.rows > 0;
  if constexpr (!kIsSparse<View>)
    if (!through_root && multiply_on_grid<T>(map, X, W, context, out)) return;
  const Matrix<T> weights = rounded<T>(W, true, context);
  const Matrix<T> B = rounded<T>(root, false, context);
  const int64_t most = ceil_divide(std::min(X.rows, kMostBlockRows), kRowsPerChunk);
  const int64_t scratch = through_root ? kRowsPerChunk : 0;
  const Matrix<T> middles(worker_count(context, most), checked_multiply(scratch, W.cols, "a tile"),
                          context, "a tile");
  for_each_block(map, X, context, [&](int64_t first, MatrixView<const T> Z) {
    parallel_for(
        context, ceil_divide(Z.rows, kRowsPerChunk), [&](int64_t chunk, int worker) noexcept {
          const int64_t i0 = chunk * kRowsPerChunk, i1 = std::min(Z.rows, i0 + kRowsPerChunk);
          const MatrixView<T> result = out.block_rows(first + i0, first + i1);
          const MatrixView<T> product =
              through_root ? MatrixView<T>(middles.view().row(worker), i1 - i0, W.cols) : result;
          transform::row_products(
              transform::RowProducts<T>{Z.block_rows(i0, i1), weights.view(), product});
          if (through_root) through<T>(product, B.view(), W.cols / root.cols, result);
        });
  });
}

// A chunk is some columns of Z and all rows of its block, so that no order of sums depends on the
// number of threads.
template <class View>
void add_sums(const FeatureMap& map, const View& X, const Rows& Y, MatrixView<const double> root,
              Context& context, MatrixView<double> sums) {
  using T = RowNumberOf<View>;
  const auto* const targets = Y.template get_if<MatrixView<const T>>();
  require(targets != nullptr, MERCER_UNSUPPORTED,
          "Y is sparse or not of the precision of X, expected dense rows of one precision");
  const bool shared = root.rows > 0;
  const Matrix<T> B = rounded<T>(root, true, context);
  const int64_t vectors = shared ? Y.cols() / root.rows : 0;
  const Matrix<T> middle(shared ? std::min(X.rows, kMostBlockRows) : 0, sums.rows, context,
                         "a block of targets");
  for_each_block(map, X, context, [&](int64_t first, MatrixView<const T> Z) {
    MatrixView<const T> block = targets->block_rows(first, first + Z.rows);
    if (shared) {
      const MatrixView<T> to = middle.view().block_rows(0, Z.rows);
      parallel_for(context, ceil_divide(Z.rows, kRowsPerChunk), [&](int64_t chunk, int) noexcept {
        const int64_t i0 = chunk * kRowsPerChunk, i1 = std::min(Z.rows, i0 + kRowsPerChunk);
        through<T>(block.block_rows(i0, i1), B.view(), vectors, to.block_rows(i0, i1));
      });
      block = MatrixView<const T>(to);
    }
    const int64_t paying = ceil_divide(kChunkProducts, Z.rows * sums.rows);
    const int64_t width = ceil_divide(paying, kColumnsPerChunk) * kColumnsPerChunk;
    parallel_for(context, ceil_divide(Z.cols, width), [&](int64_t chunk, int) noexcept {
      const int64_t j0 = chunk * width, j1 = std::min(Z.cols, j0 + width);
      transform::add_column_products(
          transform::ColumnProducts<T>{Z.block_cols(j0, j1), block, sums.block_cols(j0, j1)});
    });
  });
}

void check_theta(const FeatureMap& map, int64_t rows) {
  require(!map.is_complex(), MERCER_UNSUPPORTED, "map %s is complex, expected a real one",
          std::string(map.name()).c_str());
  require(rows == map.features(), MERCER_DIMENSION_MISMATCH,
          "theta has %ld rows, expected the map's %ld features", rows, map.features());
}

void check_multiply(const FeatureMap& map, const Rows& X, MatrixView<const double> theta,
                    FieldKind kind, const ResultView& out) {
  const int64_t numbers = field_numbers(kind, map.outputs(), map.inputs());
  check_theta(map, theta.rows);
  require(X.cols() == map.inputs() && out.rows() == X.rows() &&
              out.cols() == checked_multiply(numbers, theta.cols, "out"),
          MERCER_DIMENSION_MISMATCH,
          "X is %ld x %ld and out %ld x %ld, expected %ld inputs, as many rows and %ld numbers "
          "for each of the %ld columns of theta",
          X.rows(), X.cols(), out.rows(), out.cols(), map.inputs(), numbers, theta.cols);
}

void check_adjoint(const FeatureMap& map, const Rows& X, const Rows& Y, MatrixView<double> theta) {
  check_theta(map, theta.rows);
  require(X.cols() == map.inputs() && Y.rows() == X.rows() &&
              Y.cols() == checked_multiply(map.outputs(), theta.cols, "Y"),
          MERCER_DIMENSION_MISMATCH,
          "X is %ld x %ld and Y %ld x %ld, expected %ld inputs, as many rows and %ld outputs "
          "for each of the %ld columns of theta",
          X.rows(), X.cols(), Y.rows(), Y.cols(), map.inputs(), map.outputs(), theta.cols);
}

constexpr int64_t kEntryBytes = int64_t{1} << 23;  // of a block of rows
constexpr int64_t kMostRows = 4096;
constexpr int64_t kRowsOfChunk = 32;
constexpr int64_t kEntriesOfChunk = 16;
constexpr int64_t kLeastWidth = 8;  // of a block whose pairs pay: BLAS adds up 64 products as fast

template <class T>
void copy_row(const MatrixView<const T>& X, int64_t i, double* to) noexcept {
  std::copy_n(X.row(i), X.cols, to);
}
template <class T>
void copy_row(const CsrView<T>& X, int64_t i, double* to) noexcept {
  std::fill_n(to, X.cols, 0.0);
  add_row(X, i, to);
}

/// body(first, columns, values) for blocks of rows.
template <class View, class Body>
void for_each_entries(const FeatureMap& map, const View& X, Context& context, const Body& body) {
  constexpr const char* kWhat = "a block of sparse features";
  const SparseFeatures& sparse = *map.sparse_features();
  const int64_t entries = sparse.entries();
  const int64_t fitting = kEntryBytes / (16 * entries + 8 * X.cols);
  const int64_t size = std::min(X.rows, std::clamp(fitting, int64_t{1}, kMostRows));
  const Matrix<double> dense(size, X.cols, context, kWhat), values(size, entries, context, kWhat);
  const Matrix<int64_t> columns(size, entries, context, kWhat);
  Stage stage(context, X.rows);
  for (int64_t first = 0; first < X.rows; first += size) {
    const int64_t count = std::min(size, X.rows - first);
    for (int64_t i = 0; i < count; ++i) copy_row(X, first + i, dense.view().row(i));
    const MatrixView<int64_t> at = columns.view().block_rows(0, count);
    const MatrixView<double> of = values.view().block_rows(0, count);
    stage.share(count);
    sparse.find_entries(dense.view().block_rows(0, count), context, at, of);
    body(first, at, of);
    stage.advance(count);
    context.checkpoint();
  }
}

/// A block's entries by their number, so that a pair of numbers runs down two arrays.
struct EntryRows {
  Matrix<int32_t> places;  // within the block of columns
  Matrix<double> values, weighted;

  EntryRows(int64_t entries, int64_t rows, Context& context, const char* what)
      : places(entries, rows, context, what),
        values(entries, rows, context, what),
        weighted(entries, rows, context, what) {}

  void set(int64_t e, int64_t width, MatrixView<int64_t> columns, MatrixView<double> of,
           std::span<const double> weights) noexcept {
    for (int64_t i = 0; i < columns.rows; ++i) {
      places(e, i) = static_cast<int32_t>(columns(i, e) - e * width);
      values(e, i) = of(i, e);
      weighted(e, i) = weights.empty() ? of(i, e) : weights[i] * of(i, e);
    }
  }

  /// Rows of the totals that belong to entry e. Two entries of one number are in one column.
  void add(int64_t e, int64_t width, MatrixView<const double> Y,
           const EntryTotals& to) const noexcept {
    const int32_t* const at = places.view().row(e);
    const double* const u = weighted.view().row(e);
    for (int64_t f = 0; f < e; ++f) {
      const int32_t* const other = places.view().row(f);
      const double* const v = values.view().row(f);
      double* const block = to.gram.row(e * width) + f * width;
      for (int64_t i = 0; i < Y.rows; ++i) block[at[i] * to.gram.ld + other[i]] += u[i] * v[i];
    }
    for (int64_t i = 0; i < Y.rows; ++i) {
      const int64_t c = e * width + at[i];
      to.gram(c, c) += u[i] * values(e, i);
      to.sums[c] += u[i];
      for (int64_t o = 0; o < Y.cols; ++o) to.cross(c, o) += u[i] * Y(i, o);
    }
  }
};

// Of a map of p outputs that is made of none of one: a row has p rows of features.

/// body(first, Z) for blocks of rows, p rows of Z for each.
template <class View, class Body>
void for_each_lines(const FeatureMap& map, const View& X, Context& context, const Body& body) {
  using T = RowNumberOf<View>;
  const int64_t p = map.outputs(), D = map.features();
  const int64_t fitting = kBlockBytes / (D * p * static_cast<int64_t>(sizeof(T)));
  const int64_t size = std::min(X.rows, std::clamp(fitting, int64_t{1}, kMostBlockRows));
  const Matrix<T> Z(size * p, D, context, "a block of features");
  Stage stage(context, X.rows);
  for (int64_t first = 0; first < X.rows; first += size) {
    const int64_t count = std::min(size, X.rows - first);
    const MatrixView<T> block = Z.view().block_rows(0, count * p);
    stage.share(count);
    map.apply(X.block_rows(first, first + count), {0, D}, context, block);
    body(first, MatrixView<const T>(block));
    stage.advance(count);
    context.checkpoint();
  }
}

void multiply_lines(const FeatureMap& map, const Rows& X, MatrixView<const double> theta,
                    Context& context, const ResultView& out) {
  const int64_t p = map.outputs();
  X.visit([&](const auto& rows) {
    using T = RowNumberOf<decltype(rows)>;
    const Matrix<T> weights = rounded<T>(theta, true, context);
    const MatrixView<T> result = result_of<T>(out);
    for_each_lines(map, rows, context, [&](int64_t first, MatrixView<const T> Z) {
      parallel_for(context, Z.rows, [&](int64_t line, int) noexcept {
        for (int64_t k = 0; k < theta.cols; ++k)
          transform::row_products(transform::RowProducts<T>{
              Z.block_rows(line, line + 1), weights.view().block_rows(k, k + 1),
              result.block_rows(first + line / p, first + line / p + 1)
                  .block_cols(k * p + line % p, k * p + line % p + 1)});
      });
    });
  });
}

void add_line_sums(const FeatureMap& map, const Rows& X, const Rows& Y, Context& context,
                   MatrixView<double> theta) {
  const int64_t p = map.outputs(), m = theta.cols;
  for (int64_t c = 0; c < theta.rows; ++c) std::fill_n(theta.row(c), m, 0.0);
  X.visit([&](const auto& rows) {
    using T = RowNumberOf<decltype(rows)>;
    const auto* const targets = Y.get_if<MatrixView<const T>>();
    require(targets != nullptr, MERCER_UNSUPPORTED,
            "Y is sparse or not of the precision of X, expected dense rows of one precision");
    for_each_lines(map, rows, context, [&](int64_t first, MatrixView<const T> Z) {
      parallel_for(context, Z.cols, [&](int64_t c, int) noexcept {
        for (int64_t line = 0; line < Z.rows; ++line)
          for (int64_t k = 0; k < m; ++k)
            theta(c, k) += static_cast<double>(Z(line, c)) *
                           static_cast<double>((*targets)(first + line / p, k * p + line % p));
      });
    });
  });
}

}  // namespace

void multiply_features(const FeatureMap& map, const Rows& X, MatrixView<const double> W,
                       MatrixView<const double> B, Context& context, const ResultView& out) {
  if (X.rows() == 0 || W.cols == 0) return;
  if (map.sparse_features() != nullptr && B.rows == 0)
    return multiply_entries(map, X, W, context, out);
  X.visit([&](const auto& rows) {
    multiply_rows(map, rows, W, B, context, result_of<RowNumberOf<decltype(rows)>>(out));
  });
}

void add_feature_sums(const FeatureMap& map, const Rows& X, const Rows& Y,
                      MatrixView<const double> B, Context& context, MatrixView<double> sums) {
  if (X.rows() == 0 || sums.rows == 0) return;
  if (map.sparse_features() != nullptr && B.rows == 0)
    return add_entry_sums(map, X, Y, context, sums);
  X.visit([&](const auto& rows) { add_sums(map, rows, Y, B, context, sums); });
}

void multiply(const FeatureMap& map, const Rows& X, MatrixView<const double> theta, FieldKind kind,
              Context& context, const ResultView& out) {
  check_multiply(map, X, theta, kind, out);
  if (map.field() != nullptr) return map.field()->multiply(X, theta, kind, context, out);
  if (kind == FieldKind::value && map.outputs() > 1)
    return multiply_lines(map, X, theta, context, out);
  if (kind == FieldKind::value) return multiply_features(map, X, theta, {}, context, out);
  const KernelColumns* const columns = kernel_columns_of(map);
  if (columns != nullptr && &columns->of_kept() == &map.kernel())
    return multiply_kernel_field({map.kernel(), map.outputs()}, columns->kept(), X, theta, kind,
                                 context, out);
  const Matrix<double> W = field_weights_of(map, kind, 1, theta, context);
  multiply_features(map, X, W.view(), {}, context, out);
}

void adjoint(const FeatureMap& map, const Rows& X, const Rows& Y, Context& context,
             MatrixView<double> theta) {
  check_adjoint(map, X, Y, theta);
  if (map.field() != nullptr) return map.field()->adjoint(X, Y, context, theta);
  if (map.outputs() > 1) return add_line_sums(map, X, Y, context, theta);
  const Matrix<double> sums(theta.cols, theta.rows, context, "the sums over rows");
  sums.fill(0);
  add_feature_sums(map, X, Y, {}, context, sums.view());
  for (int64_t c = 0; c < theta.rows; ++c)
    for (int64_t k = 0; k < theta.cols; ++k) theta(c, k) = sums(k, c);
}

void multiply_entries(const FeatureMap& map, const Rows& X, MatrixView<const double> W,
                      Context& context, const ResultView& out) {
  X.visit([&](const auto& rows) {
    using T = RowNumberOf<decltype(rows)>;
    const MatrixView<T> result = result_of<T>(out);
    const AlignedBuffer<double> sums(
        checked_multiply(worker_count(context, kMostRows / kRowsOfChunk), W.cols, "sums"), context,
        "sums of a row");
    for_each_entries(map, rows, context,
                     [&](int64_t first, MatrixView<int64_t> columns, MatrixView<double> values) {
                       parallel_for(context, ceil_divide(columns.rows, kRowsOfChunk),
                                    [&](int64_t chunk, int worker) noexcept {
                                      double* const sum = sums.data() + worker * W.cols;
                                      const int64_t end =
                                          std::min(columns.rows, (chunk + 1) * kRowsOfChunk);
                                      for (int64_t i = chunk * kRowsOfChunk; i < end; ++i) {
                                        std::fill_n(sum, W.cols, 0.0);
                                        for (int64_t e = 0; e < columns.cols; ++e)
                                          for (int64_t o = 0; o < W.cols; ++o)
                                            sum[o] += values(i, e) * W(columns(i, e), o);
                                        for (int64_t o = 0; o < W.cols; ++o)
                                          result(first + i, o) = static_cast<T>(sum[o]);
                                      }
                                    });
                     });
  });
}

// A chunk is some entries, each with its block of columns, of all rows, so that no order of sums
// depends on the number of threads.
void add_entry_sums(const FeatureMap& map, const Rows& X, const Rows& Y, Context& context,
                    MatrixView<double> sums) {
  const int64_t entries = map.sparse_features()->entries(), width = map.features() / entries;
  X.visit([&](const auto& rows) {
    using T = RowNumberOf<decltype(rows)>;
    const auto* const targets = Y.get_if<MatrixView<const T>>();
    require(targets != nullptr, MERCER_UNSUPPORTED,
            "Y is sparse or not of the precision of X, expected dense rows of one precision");
    for_each_entries(
        map, rows, context,
        [&](int64_t first, MatrixView<int64_t> columns, MatrixView<double> values) {
          parallel_for(
              context, ceil_divide(entries, kEntriesOfChunk), [&](int64_t chunk, int) noexcept {
                const int64_t end = std::min(entries, (chunk + 1) * kEntriesOfChunk);
                for (int64_t i = 0; i < columns.rows; ++i) {
                  const T* const y = targets->row(first + i);
                  for (int64_t e = chunk * kEntriesOfChunk; e < end; ++e) {
                    const double value = values(i, e);
                    const bool whole_block = std::isnan(value);
                    const int64_t begin = whole_block ? e * width : columns(i, e);
                    for (int64_t c = begin; c < (whole_block ? (e + 1) * width : begin + 1); ++c)
                      for (int64_t o = 0; o < sums.rows; ++o)
                        sums(o, c) += value * static_cast<double>(y[o]);
                  }
                }
              });
        });
  });
}

void list_entries(const FeatureMap& map, const Rows& X, Context& context,
                  MatrixView<int64_t> columns, MatrixView<double> values) {
  X.visit([&](const auto& rows) {
    for_each_entries(map, rows, context,
                     [&](int64_t first, MatrixView<int64_t> at, MatrixView<double> of) {
                       for (int64_t i = 0; i < at.rows; ++i) {
                         std::copy_n(at.row(i), at.cols, columns.row(first + i));
                         std::copy_n(of.row(i), of.cols, values.row(first + i));
                       }
                     });
  });
}

bool entry_pairs_pay(const FeatureMap& map) {
  const SparseFeatures* const sparse = map.sparse_features();
  return sparse != nullptr && map.features() >= kLeastWidth * sparse->entries();
}

// A chunk is one entry and its rows of the totals, as above.
void add_entry_totals(const FeatureMap& map, MatrixView<const double> X, MatrixView<const double> Y,
                      std::span<const double> weights, Context& context, const EntryTotals& to) {
  const int64_t entries = map.sparse_features()->entries(), width = map.features() / entries;
  EntryRows rows(entries, std::min(X.rows, kMostRows), context, "entries of a block of rows");
  for_each_entries(
      map, X, context, [&](int64_t first, MatrixView<int64_t> columns, MatrixView<double> values) {
        const int64_t n = columns.rows;
        const MatrixView<const double> y = Y.block_rows(first, first + n);
        const auto own = weights.empty() ? weights : weights.subspan(first, n);
        parallel_for(context, entries,
                     [&](int64_t e, int) noexcept { rows.set(e, width, columns, values, own); });
        parallel_for(context, entries, [&](int64_t chunk, int) noexcept {
          rows.add(entries - 1 - chunk, width, y, to);  // the longest first
        });
      });
}

}  // namespace mercer::feature
