// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one file that includes cblas.h and lapacke.h; private to src/linalg. LP64: every size passes
// through extent().
//
// LAPACK is column-major: it sees a row-major matrix as its transpose, so the lower triangle of a
// symmetric one is passed as "upper" and nothing is copied (LAPACKE's row-major functions would
// copy the whole matrix).
#pragma once

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/views.h"

namespace mercer::linalg {

inline constexpr char kLowerRowMajor = 'U';
inline constexpr int64_t kLargestExtent = std::numeric_limits<int32_t>::max();
/// Up to so many rows a symmetric matrix is decomposed, factored or inverted by loops over vectors
/// and by products below OpenBLAS's thresholds, on the calling thread. dsytrd, dlarft, dpotrf and
/// dpotri hand every small step to OpenBLAS's threads: thousands of times in a fit of 40 rows, each
/// a wait for a core where the machine is busy (38 s for 0.8 s).
inline constexpr int64_t kOneThreadRows = 256;
/// Multiplications of a product of matrices that OpenBLAS does on one thread (interface/gemm.c),
/// numbers of a matrix in one with a vector (interface/gemv.c), and up to how many numbers the
/// latter is done in such pieces: tens of microseconds, where waking a thread gains nothing.
inline constexpr int64_t kOneThreadProduct = 262144, kOneThreadVectorProduct = 8192,
                         kSmallVectorProduct = 262144;
static_assert(sizeof(lapack_int) == 4, "the LP64 interface is expected");

/// value as a BLAS integer, or UNSUPPORTED.
inline lapack_int extent(int64_t value, const char* what) {
  require(value >= 0 && value <= kLargestExtent, MERCER_UNSUPPORTED,
          "%s = %ld, but BLAS and LAPACK count in 32 bits (at most %ld)", what, value,
          kLargestExtent);
  return static_cast<lapack_int>(value);
}

/// Leading dimension; BLAS needs at least 1 even for empty matrices.
template <class T>
lapack_int leading_dimension(MatrixView<T> A) {
  return extent(std::max<int64_t>({A.ld, A.cols, 1}), "leading dimension");
}

/// DIMENSION_MISMATCH unless A is rows x cols.
template <class T>
void require_shape(MatrixView<T> A, int64_t rows, int64_t cols, const char* name) {
  require(A.rows == rows && A.cols == cols, MERCER_DIMENSION_MISMATCH,
          "%s is %ld x %ld, expected %ld x %ld", name, A.rows, A.cols, rows, cols);
}

/// Before a call that may need OpenBLAS's buffers or threads. OUT_OF_MEMORY, at this thread's first
/// call, if a limit of the address space (RLIMIT_AS) leaves no room for the buffer that OpenBLAS
/// maps for it: OpenBLAS asks for that for ever. A forked child of OpenBLAS's OpenMP variant keeps
/// one thread of BLAS: it would wait for ever for those that stayed in the parent.
void prepare_call();

}  // namespace mercer::linalg
