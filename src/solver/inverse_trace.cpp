// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/inverse_trace.h"

#include <algorithm>

#include "base/aligned.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::solver {
namespace {

constexpr int64_t kProbes = 16;
constexpr int64_t kExact = 256;  // up to here the exact trace costs no more than the factor

}  // namespace

// |L^{-1}|^2 by columns; those from j0 on are zero above row j0.
double exact_inverse_trace(MatrixView<const double> L, Context& context) {
  double sum = 0;
  for (int64_t j0 = 0; j0 < L.rows; j0 += kExact) {
    context.checkpoint();
    const int64_t rows = L.rows - j0, columns = std::min(kExact, rows);
    const Matrix<double> V(rows, columns, context, "columns of an inverse");
    V.fill(0);
    for (int64_t j = 0; j < columns; ++j) V(j, j) = 1;
    linalg::triangular_solve(L.block_rows(j0, L.rows).block_cols(j0, L.rows), V.view());
    for (int64_t k = 0; k < rows * columns; ++k) sum += V.data()[k] * V.data()[k];
  }
  return sum;
}

double inverse_trace(MatrixView<const double> L, Context& context) {
  if (L.rows <= kExact) return exact_inverse_trace(L, context);
  const Matrix<double> V(L.rows, kProbes, context, "the probes of a trace");
  const random::Stream stream(0, random::Tag::probe, 0);
  random::fill_rademacher(stream, 0, {V.data(), static_cast<std::size_t>(L.rows * kProbes)});
  linalg::triangular_solve(L, V.view());
  double sum = 0;
  for (int64_t i = 0; i < L.rows * kProbes; ++i) sum += V.data()[i] * V.data()[i];
  return sum / kProbes;
}

}  // namespace mercer::solver
