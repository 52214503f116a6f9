// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gram matrices of operator-valued kernels and their products with vectors, row of X by row of X,
// so that no thread count changes a byte.
#include "operator/operator_kernel.h"

#include <algorithm>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"

namespace mercer::operators {
namespace {

using Long = long long;

constexpr int64_t kRowsPerChunk = 8;

void check_columns(MatrixView<const double> X, MatrixView<const double> Y) {
  require(X.cols == Y.cols, MERCER_DIMENSION_MISMATCH,
          "X has %lld columns and Y %lld, expected the same", Long{X.cols}, Long{Y.cols});
}

template <class Body>
void for_each_row(int64_t rows, Context& context, const Body& body) {
  parallel_for(
      context, (rows + kRowsPerChunk - 1) / kRowsPerChunk,
      [&](int64_t chunk, int) noexcept {
        const int64_t end = std::min(rows, (chunk + 1) * kRowsPerChunk);
        for (int64_t i = chunk * kRowsPerChunk; i < end; ++i) body(i);
      },
      kRowsPerChunk);
}

}  // namespace

OperatorKernel::OperatorKernel(Parameters canonical)
    : parameters_(std::move(canonical)),
      name_(parameters_.text("operator")),
      scalar_(kernel::make_kernel(parameters_.object("kernel"))) {}

void OperatorKernel::gram_apply(MatrixView<const double> X, MatrixView<const double> Y,
                                MatrixView<const double> U, Context& context,
                                MatrixView<double> out) const {
  check_columns(X, Y);
  const int64_t p = outputs(X.cols);
  require(
      U.rows == Y.rows && U.cols % p == 0 && out.rows == X.rows && out.cols == U.cols,
      MERCER_DIMENSION_MISMATCH,
      "U is %lld x %lld and out %lld x %lld, expected the rows of Y and of X, and whole vectors "
      "of p = %lld outputs, as many of both",
      Long{U.rows}, Long{U.cols}, Long{out.rows}, Long{out.cols}, Long{p});
  if (X.rows > 0) apply_rows(X, Y, U, context, out);
}

void OperatorKernel::apply_rows(MatrixView<const double> X, MatrixView<const double> Y,
                                MatrixView<const double> U, Context& context,
                                MatrixView<double> out) const {
  const auto K = action(X.cols);
  const int64_t count = U.cols / outputs(X.cols);
  for_each_row(X.rows, context, [&](int64_t i) noexcept {
    std::fill_n(out.row(i), out.cols, 0.0);
    for (int64_t j = 0; j < Y.rows; ++j) K->add(X.row(i), Y.row(j), count, U.row(j), out.row(i));
  });
}

void OperatorKernel::gram(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                          MatrixView<double> K) const {
  check_columns(X, Y);
  const int64_t p = outputs(X.cols);
  require(K.rows == checked_multiply(p, X.rows, "K") && K.cols == checked_multiply(p, Y.rows, "K"),
          MERCER_DIMENSION_MISMATCH,
          "K is %lld x %lld, expected %lld x %lld: p = %lld times the rows of X and of Y",
          Long{K.rows}, Long{K.cols}, Long{p * X.rows}, Long{p * Y.rows}, Long{p});
  if (X.rows > 0) gram_rows(X, Y, context, K);
}

void OperatorKernel::gram_rows(MatrixView<const double> X, MatrixView<const double> Y,
                               Context& context, MatrixView<double> K) const {
  constexpr const char* kWhat = "a block of a Gram matrix";
  const int64_t p = outputs(X.cols);
  const auto pair = action(X.cols);
  const Matrix<double> identity(p, p, context, kWhat);
  identity.fill(0);
  for (int64_t o = 0; o < p; ++o) identity(o, o) = 1;
  const int64_t chunks = (X.rows + kRowsPerChunk - 1) / kRowsPerChunk;
  const Matrix<double> columns(worker_count(context, chunks), checked_multiply(p, p, kWhat),
                               context, kWhat);
  parallel_for(
      context, chunks,
      [&](int64_t chunk, int worker) noexcept {
        double* const block = columns.view().row(worker);
        const int64_t end = std::min(X.rows, (chunk + 1) * kRowsPerChunk);
        for (int64_t i = chunk * kRowsPerChunk; i < end; ++i) {
          for (int64_t j = 0; j < Y.rows; ++j) {
            std::fill_n(block, p * p, 0.0);
            pair->add(X.row(i), Y.row(j), p, identity.data(), block);
            for (int64_t o = 0; o < p; ++o)
              for (int64_t q = 0; q < p; ++q) K(i * p + o, j * p + q) = block[q * p + o];
          }
        }
      },
      kRowsPerChunk);
}

}  // namespace mercer::operators
