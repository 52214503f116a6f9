// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <algorithm>
#include <cmath>

#include "base/aligned.h"
#include "base/parallel.h"
#include "feature/feature_map.h"
#include "feature/sparse_features.h"

namespace mercer::feature {
namespace {

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

}  // namespace

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

namespace {

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

}  // namespace

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
