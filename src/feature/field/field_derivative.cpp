// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Roots do not depend on the inputs: derivatives of Phi are those of the scalar features, times the
// same roots.
#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/parallel.h"
#include "feature/field/field_map.h"

namespace mercer::feature {
namespace {

constexpr int64_t kBlockNumbers = int64_t{1} << 18;
constexpr const char* kScalarDerivatives = "derivatives of scalar features";

int64_t block_rows(int64_t n, int64_t width) {
  return std::clamp<int64_t>(kBlockNumbers / std::max<int64_t>(width, 1), 1,
                             std::max<int64_t>(n, 1));
}

/// Calls body(first, last) for blocks of rows, within stages of which body reports its share.
template <class Body>
void for_each_rows(int64_t n, int64_t size, Context& context, const Body& body) {
  Stage stage(context, n);
  for (int64_t first = 0; first < n; first += size) {
    const int64_t last = std::min(n, first + size);
    stage.share(last - first);
    body(first, last);
    stage.advance(last - first);
    context.checkpoint();
  }
}

}  // namespace

template <class T>
void FieldMap::check_field(MatrixView<const T> X, MatrixView<const T> V, Extents of_V,
                           MatrixView<T> out, Extents of_out) const {
  require(X.cols == inputs() && V.rows == X.rows * of_V.per_row && V.cols == of_V.cols &&
              out.rows == X.rows * of_out.per_row && out.cols == of_out.cols,
          MERCER_DIMENSION_MISMATCH,
          "X %ld x %ld, its vectors %ld x %ld, out %ld x %ld, expected %ld inputs, and %ld "
          "x %ld and %ld x %ld for each row of X",
          X.rows, X.cols, V.rows, V.cols, out.rows, out.cols, inputs(), of_V.per_row, of_V.cols,
          of_out.per_row, of_out.cols);
}

// of(first, last, block) makes `blocks` times D numbers for each of those rows.
template <class T, class Of>
void FieldMap::spread_rows(int64_t n, int64_t blocks, Context& context, MatrixView<T> out,
                           const Of& of) const {
  const int64_t p = outputs(), q = width(), D = scalar().features(), r = features();
  const int64_t columns = checked_multiply(blocks, D, kScalarDerivatives),
                size = block_rows(n, columns);
  const Matrix<double> B = root_table(0, D, context);
  const Matrix<T> z(std::min(size, n), columns, context, kScalarDerivatives);
  for_each_rows(n, size, context, [&](int64_t first, int64_t last) {
    of(first, last, z.view().block_rows(0, last - first));
    parallel_for(context, last - first, [&](int64_t i, int) noexcept {
      for (int64_t o = 0; o < p; ++o)
        for (int64_t b = 0; b < blocks; ++b) {
          T* to = out.row((first + i) * p + o) + b * r;
          for (int64_t c = 0; c < D; ++c)
            for (int64_t j = 0; j < q; ++j)
              *to++ = static_cast<T>(static_cast<double>(z(i, b * D + c)) * B(c, o * q + j));
        }
    });
  });
}

template <class T>
void FieldMap::differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                                  MatrixView<T> out) const {
  const int64_t blocks = what.blocks(inputs());
  check_field(X, X, {1, inputs()}, out,
              {outputs(), checked_multiply(blocks, features(), "derivatives")});
  spread_rows(
      X.rows, blocks, context, out, [&](int64_t first, int64_t last, const MatrixView<T>& block) {
        scalar().derivatives()->differentiate(what, X.block_rows(first, last), context, block);
      });
}

template <class T>
void FieldMap::push_rows(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                         MatrixView<T> out) const {
  check_field(X, V, {1, inputs()}, out, {outputs(), features()});
  spread_rows(X.rows, 1, context, out,
              [&](int64_t first, int64_t last, const MatrixView<T>& block) {
                scalar().derivatives()->push_forward(X.block_rows(first, last),
                                                     V.block_rows(first, last), context, block);
              });
}

template <class T>
void FieldMap::pull_rows(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                         MatrixView<T> out) const {
  check_field(X, G, {outputs(), features()}, out, {1, inputs()});
  const int64_t p = outputs(), q = width(), D = scalar().features();
  const int64_t size = block_rows(X.rows, D);
  const Matrix<double> B = root_table(0, D, context);
  const Matrix<T> g(std::min(size, X.rows), D, context, kScalarDerivatives);
  for_each_rows(X.rows, size, context, [&](int64_t first, int64_t last) {
    const MatrixView<T> block = g.view().block_rows(0, last - first);
    parallel_for(context, last - first, [&](int64_t i, int) noexcept {
      for (int64_t c = 0; c < D; ++c) {
        double sum = 0;
        for (int64_t o = 0; o < p; ++o)
          for (int64_t j = 0; j < q; ++j)
            sum += static_cast<double>(G((first + i) * p + o, c * q + j)) * B(c, o * q + j);
        block(i, c) = static_cast<T>(sum);
      }
    });
    scalar().derivatives()->pull_back(X.block_rows(first, last), MatrixView<const T>(block),
                                      context, out.block_rows(first, last));
  });
}

#define MERCER_FIELD_DERIVATIVES(T)                                                             \
  void FieldMap::differentiate(const Derivative& what, MatrixView<const T> X, Context& context, \
                               MatrixView<T> out) const {                                       \
    differentiate_rows<T>(what, X, context, out);                                               \
  }                                                                                             \
  void FieldMap::push_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,   \
                              MatrixView<T> out) const {                                        \
    push_rows<T>(X, V, context, out);                                                           \
  }                                                                                             \
  void FieldMap::pull_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,      \
                           MatrixView<T> out) const {                                           \
    pull_rows<T>(X, G, context, out);                                                           \
  }
MERCER_FIELD_DERIVATIVES(float)
MERCER_FIELD_DERIVATIVES(double)
#undef MERCER_FIELD_DERIVATIVES

}  // namespace mercer::feature
