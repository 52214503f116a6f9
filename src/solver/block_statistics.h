// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Row statistics of a source, in double, or by products in single precision.
#pragma once

#include <algorithm>
#include <type_traits>

#include "base/aligned.h"
#include "base/context.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/views.h"
#include "solver/block_source.h"
#include "solver/row_statistics.h"
#include "transform/narrow_gemm.h"

namespace mercer::solver {

/// Message for features that are NaN, infinite or of squares that overflow, such as the skewed
/// chi^2 below its shift, or high powers of large rows.
inline constexpr const char kFeaturesNotFinite[] =
    "the map's features of X are not finite, or their squares overflow: X is outside the kernel's "
    "domain or too large";

/// INVALID_ARGUMENT with that message unless all sums of squares are finite.
void require_finite_features(const RowStatistics& statistics);

/// Adds (removes) the source's rows of this process.
void add_blocks(const BlockSource& source, RowStatistics& statistics, Context& context,
                const RowsDone& done = {});
void remove_blocks(const BlockSource& source, RowStatistics& statistics, Context& context,
                   const RowsDone& done = {});

/// The statistics summed over the processes that share the source; unchanged where there is one.
RowStatistics take_reduced(const BlockSource& source, RowStatistics&& statistics);

// Row statistics with a Gram matrix by single-precision products, in half the time: for trials of a
// search, and for a factor that conjugate gradients correct.

/// Rows whose products are added up in single precision.
inline constexpr int64_t kGramRows = 4096;

/// What add_blocks_single does with features in double: nothing, or it rounds them too.
enum class DoubleRows { stay, round };

/// add_blocks with Z'Z in single precision, over kGramRows rows at a time about the mean of the
/// first 512, added up in double. Entries of the Gram matrix have independent errors of about 1e-7
/// of their diagonal entries; the effect on eigenvalues is below n lambda for lambda = 1e-8. Z'Y
/// and all other sums are exact as those of add_blocks. Scratch: D x D and 512 x D floats.
void add_blocks_single(const BlockSource& source, RowStatistics& statistics, Context& context,
                       const RowsDone& done = {}, DoubleRows of_double = DoubleRows::stay);

// Blocks of rows against a few vectors, in double: of each row some numbers are computed, and the
// rows are summed up with these as factors. Rows are widened a few at a time, so that they stay in
// cache for both. Private to solver.

class RowTiles {
 public:
  /// Blocks of at most `rows` rows of `features` numbers, `columns` factors for each row.
  RowTiles(int64_t rows, int64_t features, int64_t columns, Context& context)
      : factors_(rows, columns, context, kWhat),
        parts_(ceil_divide(rows, kChunk), checked_multiply(columns, features, kWhat), context,
               kWhat),
        tiles_(worker_count(context, ceil_divide(rows, kChunk)),
               checked_multiply(kTile, features, kWhat), context, kWhat) {}

  /// sums (columns x features) += U'(Z - 1 origin'), where body(first, tile, u) noexcept writes rows
  /// [first, first + tile.rows) of U from these rows of Z - 1 origin'; null: origin 0. In parallel;
  /// the order of sums does not depend on threads. U is left in factors().
  template <class T, class Body>
  void add(MatrixView<const T> Z, const double* origin, Context& context, const Body& body,
           MatrixView<double> sums) {
    const int64_t D = Z.cols, chunks = ceil_divide(Z.rows, kChunk);
    parallel_for(
        context, chunks,
        [&](int64_t chunk, int worker) noexcept {
          const MatrixView<double> part(parts_.view().row(chunk), sums.rows, D);
          std::fill_n(part.data, part.rows * D, 0.0);
          const int64_t end = std::min(Z.rows, (chunk + 1) * kChunk);
          for (int64_t first = chunk * kChunk; first < end; first += kTile) {
            const int64_t last = std::min(first + kTile, end);
            const auto tile = widened(Z.block_rows(first, last), origin, tiles_.view().row(worker));
            const MatrixView<double> u = factors_.view().block_rows(first, last);
            body(first, tile, u);
            transform::add_column_products(transform::ColumnProducts<double>{tile, u, part});
          }
        },
        0);
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const double* from = parts_.view().row(chunk);
      for (int64_t k = 0; k < sums.rows; ++k, from += D)
        for (int64_t j = 0; j < D; ++j) sums(k, j) += from[j];
    }
  }
  MatrixView<const double> factors() const noexcept { return factors_.view(); }

 private:
  template <class T>
  static MatrixView<const double> widened(MatrixView<const T> Z, const double* origin,
                                          double* to) noexcept {
    if constexpr (std::is_same_v<T, double>) {
      if (origin == nullptr) return Z;
    }
    for (int64_t i = 0; i < Z.rows; ++i)
      transform::widen_row(transform::WideRow<T>{Z.row(i), Z.cols, origin, to + i * Z.cols});
    return {to, Z.rows, Z.cols};
  }

  static constexpr const char* kWhat = "rows against a few vectors";
  static constexpr int64_t kTile = 8, kChunk = 64;  // rows
  Matrix<double> factors_, parts_, tiles_;
};

}  // namespace mercer::solver
