// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With theta cut into c_j for the cosine and s_j for the sine of frequency j,
//   Phi(x)'theta = sum_j cos(omega_j'x) B_j c_j + sin(omega_j'x) B_j s_j:
// scalar features times a matrix of D rows B_j c_j, B_j s_j, which is made once a call. So every
// map costs D d + D p a row, and the adjoint is the transpose of the same product. Where all B_j
// are one B, it comes after the product with theta itself (the operators of Brault et al. 2016,
// appendix D).
#include "operator/operator_map.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "operator/feature_blocks.h"
#include "transform/narrow_products.h"

namespace mercer::operators {
namespace {

using Long = long long;

constexpr int64_t kRowsPerChunk = 32;
constexpr int64_t kColumnsPerChunk = 64;
// Fewer multiply-adds than this do not pay for waking a thread.
constexpr int64_t kChunkProducts = int64_t{1} << 17;

int64_t chunks_of(int64_t count, int64_t size) { return (count + size - 1) / size; }

/// out(:, k w + b) = A(:, k q + .) R(b, .)': every vector of a row through a w x q matrix.
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

}  // namespace

OperatorMap::OperatorMap(OperatorParts parts) : parts_(std::move(parts)) {
  require(outputs() >= 1 && width() >= 1, MERCER_INVALID_ARGUMENT,
          "roots of %lld x %lld numbers, expected at least one", Long{outputs()}, Long{width()});
  checked_multiply(features(), width(), "coefficients");
}

void OperatorMap::check_theta(MatrixView<const double> theta) const {
  require(theta.rows == coefficients(), MERCER_DIMENSION_MISMATCH,
          "theta has %lld rows, expected r = %lld", Long{theta.rows}, Long{coefficients()});
}

const FrequencyRoot& OperatorMap::root(Context& context) const {
  parts_.root->prepare(context);
  return *parts_.root;
}

// What scalar features are multiplied by: D rows. Values of a shared root keep theta as it is.
Matrix<double> OperatorMap::weights(MatrixView<const double> theta, FieldKind kind,
                                    Context& context) const {
  constexpr const char* kWhat = "the weights of features";
  const FrequencyRoot& B = root(context);
  const int64_t D = features(), F = D / 2, p = outputs(), q = width(), m = theta.cols;
  const bool as_given = kind == FieldKind::value && B.shared().rows > 0;
  const int64_t each = as_given ? q : p;
  Matrix<double> values(D, checked_multiply(each, m, kWhat), context, kWhat);
  const int64_t chunks = chunks_of(D, kColumnsPerChunk);
  const Matrix<double> vectors(worker_count(context, chunks), q, context, kWhat);
  parallel_for(context, chunks, [&](int64_t chunk, int worker) noexcept {
    double* const vector = vectors.view().row(worker);
    const int64_t end = std::min(D, (chunk + 1) * kColumnsPerChunk);
    for (int64_t c = chunk * kColumnsPerChunk; c < end; ++c) {
      for (int64_t k = 0; k < m; ++k) {
        double* const to = values.view().row(c) + k * each;
        for (int64_t b = 0; b < q; ++b) (as_given ? to : vector)[b] = theta(c * q + b, k);
        if (!as_given) B.spread(c % F, vector, to);
      }
    }
  });
  if (kind == FieldKind::value) return values;
  const int64_t numbers = field_numbers(kind, p, inputs());
  Matrix<double> asked(D, checked_multiply(numbers, m, kWhat), context, kWhat);
  field_weights(kind, p, parts_.frequencies->prepared(context), values.view(), asked.view());
  return asked;
}

Matrix<double> OperatorMap::output_weights(MatrixView<const double> theta, Context& context) const {
  check_theta(theta);
  const FrequencyRoot& B = root(context);
  const int64_t D = features(), q = width();
  Matrix<double> C(D, outputs(), context, "the weights of outputs");
  std::vector<double> of_feature(static_cast<size_t>(q));
  for (int64_t c = 0; c < D; ++c) {
    for (int64_t b = 0; b < q; ++b) of_feature[static_cast<size_t>(b)] = theta(c * q + b, 0);
    B.spread(c % (D / 2), of_feature.data(), C.view().row(c));
  }
  return C;
}

void OperatorMap::apply(const Rows& X, MatrixView<const double> theta, FieldKind kind,
                        Context& context, const ResultView& out) const {
  check_theta(theta);
  const int64_t numbers = field_numbers(kind, outputs(), inputs());
  require(
      X.cols() == inputs() && out.rows() == X.rows() &&
          out.cols() == checked_multiply(numbers, theta.cols, "out"),
      MERCER_DIMENSION_MISMATCH,
      "X is %lld x %lld and out %lld x %lld, expected %lld inputs, as many rows and %lld numbers "
      "for each of the %lld columns of theta",
      Long{X.rows()}, Long{X.cols()}, Long{out.rows()}, Long{out.cols()}, Long{inputs()},
      Long{numbers}, Long{theta.cols});
  const Matrix<double> W = weights(theta, kind, context);
  if (X.rows() == 0 || theta.cols == 0) return;
  const bool through_root = kind == FieldKind::value && parts_.root->shared().rows > 0;
  X.visit([&](const auto& rows) {
    using T = RowNumberOf<decltype(rows)>;
    apply_rows(rows, W.view(), context, feature::result_of<T>(out), through_root);
  });
}

template <class View>
void OperatorMap::apply_rows(const View& X, MatrixView<const double> W, Context& context,
                             MatrixView<RowNumberOf<View>> out, bool through_root) const {
  using T = RowNumberOf<View>;
  const Matrix<T> weights = rounded<T>(W, true, context);
  const Matrix<T> B = rounded<T>(parts_.root->shared(), false, context);
  const int64_t most = chunks_of(std::min(X.rows, kMostBlockRows), kRowsPerChunk);
  const int64_t scratch = through_root ? kRowsPerChunk : 0;
  const Matrix<T> middles(worker_count(context, most), checked_multiply(scratch, W.cols, "a tile"),
                          context, "a tile");
  for_each_block(scalar(), X, context, [&](int64_t first, MatrixView<const T> Z) {
    parallel_for(
        context, chunks_of(Z.rows, kRowsPerChunk), [&](int64_t chunk, int worker) noexcept {
          const int64_t i0 = chunk * kRowsPerChunk, i1 = std::min(Z.rows, i0 + kRowsPerChunk);
          const MatrixView<T> result = out.block_rows(first + i0, first + i1);
          const MatrixView<T> product =
              through_root ? MatrixView<T>(middles.view().row(worker), i1 - i0, W.cols) : result;
          transform::row_products(
              transform::RowProducts<T>{Z.block_rows(i0, i1), weights.view(), product});
          if (through_root) through<T>(product, B.view(), W.cols / width(), result);
        });
  });
}

// sums += Y'Z, Y through B' before where that is shared. A chunk is some columns of Z and all rows
// of its block, so that no order of sums depends on the number of threads.
template <class View>
void OperatorMap::add_adjoint(const View& X, const Rows& Y, Context& context,
                              MatrixView<double> sums) const {
  using T = RowNumberOf<View>;
  const auto* const targets = Y.template get_if<MatrixView<const T>>();
  require(targets != nullptr, MERCER_UNSUPPORTED,
          "Y is sparse or not of the precision of X, expected dense rows of one precision");
  const bool shared = parts_.root->shared().rows > 0;
  const Matrix<T> B = rounded<T>(parts_.root->shared(), true, context);
  const int64_t vectors = Y.cols() / outputs();
  const Matrix<T> middle(shared ? std::min(X.rows, kMostBlockRows) : 0, sums.rows, context,
                         "a block of targets");
  for_each_block(scalar(), X, context, [&](int64_t first, MatrixView<const T> Z) {
    MatrixView<const T> block = targets->block_rows(first, first + Z.rows);
    if (shared) {
      const MatrixView<T> to = middle.view().block_rows(0, Z.rows);
      parallel_for(context, chunks_of(Z.rows, kRowsPerChunk), [&](int64_t chunk, int) noexcept {
        const int64_t i0 = chunk * kRowsPerChunk, i1 = std::min(Z.rows, i0 + kRowsPerChunk);
        through<T>(block.block_rows(i0, i1), B.view(), vectors, to.block_rows(i0, i1));
      });
      block = MatrixView<const T>(to);
    }
    const int64_t paying = chunks_of(kChunkProducts, Z.rows * sums.rows);
    const int64_t width = chunks_of(paying, kColumnsPerChunk) * kColumnsPerChunk;
    parallel_for(context, chunks_of(Z.cols, width), [&](int64_t chunk, int) noexcept {
      const int64_t j0 = chunk * width, j1 = std::min(Z.cols, j0 + width);
      transform::add_column_products(
          transform::ColumnProducts<T>{Z.block_cols(j0, j1), block, sums.block_cols(j0, j1)});
    });
  });
}

void OperatorMap::adjoint(const Rows& X, const Rows& Y, Context& context,
                          MatrixView<double> theta) const {
  check_theta(theta);
  const int64_t p = outputs(), q = width(), m = theta.cols, D = features();
  require(X.cols() == inputs() && Y.rows() == X.rows() && Y.cols() == checked_multiply(p, m, "Y"),
          MERCER_DIMENSION_MISMATCH,
          "X is %lld x %lld and Y %lld x %lld, expected %lld inputs, as many rows and %lld outputs "
          "for each of the %lld columns of theta",
          Long{X.rows()}, Long{X.cols()}, Long{Y.rows()}, Long{Y.cols()}, Long{inputs()}, Long{p},
          Long{m});
  const FrequencyRoot& B = root(context);
  const bool shared = B.shared().rows > 0;
  const int64_t each = shared ? q : p;
  const Matrix<double> sums(each * m, D, context, "the sums over rows");
  sums.fill(0);
  if (X.rows() > 0 && m > 0)
    X.visit([&](const auto& rows) { add_adjoint(rows, Y, context, sums.view()); });
  std::vector<double> of_feature(static_cast<size_t>(each)), gathered(static_cast<size_t>(q));
  const std::vector<double>& vector = shared ? of_feature : gathered;
  for (int64_t c = 0; c < D; ++c) {
    for (int64_t k = 0; k < m; ++k) {
      for (int64_t o = 0; o < each; ++o) of_feature[static_cast<size_t>(o)] = sums(k * each + o, c);
      if (!shared) B.gather(c % (D / 2), of_feature.data(), gathered.data());
      for (int64_t b = 0; b < q; ++b) theta(c * q + b, k) = vector[static_cast<size_t>(b)];
    }
  }
}

void OperatorMap::variance(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                           MatrixView<double> out) const {
  const int64_t p = outputs();
  require(X.cols == inputs() && Y.cols == inputs() && Y.rows == X.rows && out.rows == X.rows &&
              out.cols == checked_multiply(p, p, "variance"),
          MERCER_DIMENSION_MISMATCH,
          "X is %lld x %lld, Y %lld x %lld and out %lld x %lld, expected %lld inputs, as many rows "
          "of each and p p = %lld columns of out",
          Long{X.rows}, Long{X.cols}, Long{Y.rows}, Long{Y.cols}, Long{out.rows}, Long{out.cols},
          Long{inputs()}, Long{p * p});
  parts_.variance(X, Y, context, out);
}

}  // namespace mercer::operators
