// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Row-major A is column-major A': dgelqf of A' = L Q leaves L where R = L' belongs.
#include "linalg/orthogonal_factor.h"

#include <algorithm>

#include "base/aligned.h"
#include "linalg/lapack.h"

namespace mercer::linalg {

void upper_trapezoid(MatrixView<double> A, Context& context) {
  require(A.rows <= A.cols, MERCER_DIMENSION_MISMATCH,
          "A is %ld x %ld, expected no more rows than columns", A.rows, A.cols);
  const lapack_int m = extent(A.cols, "columns"), n = extent(A.rows, "rows");
  const lapack_int lda = leading_dimension(A);
  if (m == 0 || n == 0) return;
  prepare_call();
  double best = 0;
  LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, m, n, A.data, lda, nullptr, &best, -1);
  const int64_t size = std::max<int64_t>(static_cast<int64_t>(best), A.cols);
  const AlignedBuffer<double> work(checked_add(size, A.rows, "an orthogonal factorisation"),
                                   context, "an orthogonal factorisation");
  const lapack_int info =
      LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, m, n, A.data, lda, work.data() + size, work.data(),
                          extent(size, "workspace"));
  require(info == 0, MERCER_INTERNAL, "dgelqf: argument %d is invalid", -static_cast<int>(info));
  for (int64_t j = 0; j < A.rows; ++j) std::fill_n(A.row(j), j, 0.0);
}

}  // namespace mercer::linalg
