// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Matrix products over CBLAS, which takes row-major matrices as they are.
#include "linalg/blas.h"

#include <cblas.h>
#include <lapacke.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/size.h"
#include "base/views.h"

// LAPACK's own, which LAPACKE leaves out: the last columns of a symmetric matrix on the way to a
// tridiagonal one.
extern "C" void LAPACK_GLOBAL(dlatrd, DLATRD)(const char* uplo, const lapack_int* n,
                                              const lapack_int* nb, double* A,
                                              const lapack_int* lda, double* e, double* tau,
                                              double* W, const lapack_int* ldw, std::size_t length);

namespace mercer::linalg {

// The one file that includes cblas.h and lapacke.h. LP64: every size passes
// through extent().
//
// LAPACK is column-major: it sees a row-major matrix as its transpose, so the lower triangle of a
// symmetric one is passed as "upper" and nothing is copied (LAPACKE's row-major functions would
// copy the whole matrix).

constexpr char kLowerRowMajor = 'U';
constexpr int64_t kLargestExtent = std::numeric_limits<int32_t>::max();
/// Up to so many rows a symmetric matrix is decomposed, factored or inverted by loops over vectors
/// and by products below OpenBLAS's thresholds, on the calling thread. dsytrd, dlarft, dpotrf and
/// dpotri hand every small step to OpenBLAS's threads: thousands of times in a fit of 40 rows, each
/// a wait for a core where the machine is busy (38 s for 0.8 s).
constexpr int64_t kOneThreadRows = 256;
/// Up to so many rows one call of LAPACK factors a matrix, in a tenth of a second of one core; a
/// larger one is factored in steps.
constexpr int64_t kOneStepRows = 2048;
/// Multiplications of a product of matrices that OpenBLAS does on one thread (interface/gemm.c),
/// numbers of a matrix in one with a vector (interface/gemv.c), and up to how many numbers the
/// latter is done in such pieces: tens of microseconds, where waking a thread gains nothing.
constexpr int64_t kOneThreadProduct = 262144, kOneThreadVectorProduct = 8192,
                  kSmallVectorProduct = 262144;
static_assert(sizeof(lapack_int) == 4, "the LP64 interface is expected");

/// value as a BLAS integer, or UNSUPPORTED.
lapack_int extent(int64_t value, const char* what) {
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

namespace {

CBLAS_TRANSPOSE flag(Transpose transpose) {
  return transpose == Transpose::yes ? CblasTrans : CblasNoTrans;
}

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, lapack_int m, lapack_int n, lapack_int k,
          double alpha, const double* a, lapack_int lda, const double* b, lapack_int ldb,
          double beta, double* c, lapack_int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, lapack_int m, lapack_int n, lapack_int k,
          float alpha, const float* a, lapack_int lda, const float* b, lapack_int ldb, float beta,
          float* c, lapack_int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void gemv(CBLAS_TRANSPOSE ta, lapack_int m, lapack_int n, double alpha, const double* a,
          lapack_int lda, const double* x, lapack_int incx, double beta, double* y,
          lapack_int incy) {
  cblas_dgemv(CblasRowMajor, ta, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
void gemv(CBLAS_TRANSPOSE ta, lapack_int m, lapack_int n, float alpha, const float* a,
          lapack_int lda, const float* x, lapack_int incx, float beta, float* y, lapack_int incy) {
  cblas_sgemv(CblasRowMajor, ta, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

/// gemv, by rows of A that OpenBLAS takes on one thread where A is small.
template <class T>
void multiply_vector(Transpose transpose, T alpha, MatrixView<const T> A, const T* x,
                     lapack_int incx, T beta, T* y, lapack_int incy) {
  const bool small = A.rows * A.cols <= kSmallVectorProduct;
  const int64_t step = small ? std::max<int64_t>(1, kOneThreadVectorProduct / A.cols) : A.rows;
  for (int64_t i = 0; i < A.rows; i += step) {
    const lapack_int rows = extent(std::min(step, A.rows - i), "rows");
    const lapack_int cols = extent(A.cols, "columns"), lda = leading_dimension(A);
    if (transpose == Transpose::yes) {
      gemv(CblasTrans, rows, cols, alpha, A.row(i), lda, x + i * incx, incx, i == 0 ? beta : T(1),
           y, incy);
    } else {
      gemv(CblasNoTrans, rows, cols, alpha, A.row(i), lda, x, incx, beta, y + i * incy, incy);
    }
  }
}

template <class T>
void scale(T beta, MatrixView<T> C) {
  for (int64_t i = 0; i < C.rows; ++i)
    for (int64_t j = 0; j < C.cols; ++j) C(i, j) = beta == T(0) ? T(0) : beta * C(i, j);
}

template <class T>
void multiply_any(T alpha, Transpose ta, MatrixView<const T> A, Transpose tb, MatrixView<const T> B,
                  T beta, MatrixView<T> C) {
  prepare_call();
  const int64_t inner = ta == Transpose::yes ? A.rows : A.cols;
  if (ta == Transpose::yes) {
    require_shape(A, inner, C.rows, "multiply: A (transposed)");
  } else {
    require_shape(A, C.rows, inner, "multiply: A");
  }
  if (tb == Transpose::yes) {
    require_shape(B, C.cols, inner, "multiply: B (transposed)");
  } else {
    require_shape(B, inner, C.cols, "multiply: B");
  }
  const lapack_int m = extent(C.rows, "rows"), n = extent(C.cols, "columns");
  const lapack_int k = extent(inner, "inner size"), lda = leading_dimension(A);
  const lapack_int ldb = leading_dimension(B), ldc = leading_dimension(C);
  if (m == 0 || n == 0) return;
  if (k == 0) return scale(beta, C);
  if (n == 1) {
    // A product with one column is limited by reading A; gemm would first copy all of A into its
    // panels.
    const lapack_int step = tb == Transpose::yes ? 1 : ldb;
    return multiply_vector(ta, alpha, A, B.data, step, beta, C.data, ldc);
  }
  gemm(flag(ta), flag(tb), m, n, k, alpha, A.data, lda, B.data, ldb, beta, C.data, ldc);
}

lapack_int vector_extent(std::span<const double> x, std::span<const double> y) {
  require(x.size() == y.size(), MERCER_DIMENSION_MISMATCH,
          "vectors of %zu and %zu numbers, expected as many", x.size(), y.size());
  return extent(static_cast<int64_t>(x.size()), "vector");
}

// C (n x n, lower half) += alpha A'A or alpha A A', sums of k terms.
void add_square(CBLAS_TRANSPOSE transpose, lapack_int n, lapack_int k, double alpha,
                MatrixView<const double> A, MatrixView<double> C) {
  if (n == 0 || k == 0) return;
  prepare_call();
  cblas_dsyrk(CblasRowMajor, CblasLower, transpose, n, k, alpha, A.data, leading_dimension(A), 1.0,
              C.data, leading_dimension(C));
}

constexpr int64_t kBlasBuffer = int64_t{128} << 20;  // OpenBLAS's BUFFER_SIZE on x86-64
constexpr int64_t kBesideBuffer = int64_t{1} << 20;  // what C and C++ may map meanwhile
constexpr int kOpenMp = 2;                           // of openblas_get_parallel

/// Bytes of address space that this process has taken.
int64_t address_space() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

std::atomic<bool> forked{false};

void keep_one_thread_in_child() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { pthread_atfork(nullptr, nullptr, [] { forked = true; }); });
  if (forked.load(std::memory_order_relaxed) && forked.exchange(false)) openblas_set_num_threads(1);
}

// Cholesky factor and triangular solves on row-major lower triangles.
void solve_triangular(CBLAS_TRANSPOSE transpose, MatrixView<const double> L, MatrixView<double> B) {
  require_shape(L, B.rows, B.rows, "triangular solve: L");
  const lapack_int n = extent(B.rows, "rows"), m = extent(B.cols, "columns");
  const lapack_int ldl = leading_dimension(L), ldb = leading_dimension(B);
  if (n == 0 || m == 0) return;
  prepare_call();
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transpose, CblasNonUnit, n, m, 1.0, L.data, ldl,
              B.data, ldb);
}

constexpr int64_t kBlock = 32;     // rows: OpenBLAS factors so few on one thread
constexpr int64_t kSolved = 7;     // rows: and solves so few
constexpr int64_t kTriangle = 64;  // rows: as many take no longer without halves

/// B -= A C' in pieces below OpenBLAS's threshold.
void subtract_product(MatrixView<const double> A, MatrixView<const double> C,
                      MatrixView<double> B) {
  const int64_t step = kOneThreadProduct / std::max<int64_t>(1, A.cols * C.rows);
  for (int64_t i = 0; i < B.rows; i += step) {
    const int64_t end = std::min(i + step, B.rows);
    multiply(-1.0, kPlain, A.block_rows(i, end), kTransposed, C, 1.0, B.block_rows(i, end));
  }
}

lapack_int factor_by_lapack(MatrixView<double> A) {
  return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, kLowerRowMajor, extent(A.rows, "rows"), A.data,
                             leading_dimension(A));
}

/// B := B L^{-T}.
void solve_rows(MatrixView<const double> L, MatrixView<double> B) {
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
              extent(B.rows, "rows"), extent(B.cols, "columns"), 1.0, L.data, leading_dimension(L),
              B.data, leading_dimension(B));
}

/// Left-looking, as below, in blocks of rows too, between which the call may be stopped.
lapack_int factor_in_steps(MatrixView<double> A, Context& context) {
  constexpr int64_t kStep = 512;
  for (int64_t j = 0; j < A.rows; j += kStep) {
    const int64_t end = std::min(j + kStep, A.rows);
    const MatrixView<double> before = A.block_cols(0, j), columns = A.block_cols(j, end);
    const MatrixView<double> corner = columns.block_rows(j, end);
    rank_update_rows(-1.0, before.block_rows(j, end), corner);
    if (const lapack_int info = factor_by_lapack(corner); info != 0)
      return info > 0 ? static_cast<lapack_int>(j) + info : info;
    for (int64_t i = end; i < A.rows; i += kStep) {
      context.checkpoint();
      const int64_t last = std::min(i + kStep, A.rows);
      const MatrixView<double> rows = columns.block_rows(i, last);
      multiply(-1.0, kPlain, before.block_rows(i, last), kTransposed, before.block_rows(j, end),
               1.0, rows);
      solve_rows(corner, rows);
    }
  }
  return 0;
}

/// Left-looking: a block of columns at a time, from the columns before it.
lapack_int factor_on_one_thread(MatrixView<double> A) {
  for (int64_t j = 0; j < A.rows; j += kBlock) {
    const int64_t end = std::min(j + kBlock, A.rows);
    const MatrixView<double> before = A.block_cols(0, j), columns = A.block_cols(j, end);
    const MatrixView<double> corner = columns.block_rows(j, end);
    rank_update_rows(-1.0, before.block_rows(j, end), corner);
    if (const lapack_int info = factor_by_lapack(corner); info != 0)
      return info > 0 ? static_cast<lapack_int>(j) + info : info;
    if (end == A.rows) break;
    const MatrixView<double> below = columns.block_rows(end, A.rows);
    if (j > 0) subtract_product(before.block_rows(end, A.rows), before.block_rows(j, end), below);
    for (int64_t i = 0; i < below.rows; i += kSolved)
      solve_rows(corner, below.block_rows(i, std::min(i + kSolved, below.rows)));
  }
  return 0;
}

/// X = L^{-1} of few rows, its upper triangle zeros, or the 1-based row of L whose diagonal entry
/// is 0.
lapack_int invert_corner(MatrixView<const double> L, MatrixView<double> X) {
  for (int64_t i = 0; i < L.rows; ++i) {
    if (L(i, i) == 0) return static_cast<lapack_int>(i + 1);
    for (int64_t k = 0; k < i; ++k)
      for (int64_t j = 0; j <= k; ++j) X(i, j) -= L(i, k) * X(k, j);
    for (int64_t j = 0; j < i; ++j) X(i, j) /= L(i, i);
    X(i, i) = 1 / L(i, i);
  }
  return 0;
}

/// X = L^{-1}, a block of rows after the other; X holds zeros.
lapack_int invert_on_one_thread(MatrixView<const double> L, MatrixView<double> X) {
  std::vector<double> numbers(kBlock * L.rows);
  for (int64_t j = 0; j < L.rows; j += kBlock) {
    const int64_t end = std::min(j + kBlock, L.rows);
    const MatrixView<const double> rows = L.block_rows(j, end);
    const MatrixView<double> found = X.block_rows(j, end), corner = found.block_cols(j, end);
    if (const lapack_int info = invert_corner(rows.block_cols(j, end), corner); info != 0)
      return static_cast<lapack_int>(j) + info;
    if (j == 0) continue;
    const MatrixView<double> before{numbers.data(), end - j, j, j};
    for (int64_t c = 0; c < j; c += kBlock)
      multiply(1.0, kPlain, rows.block_cols(c, j), kPlain,
               X.block_rows(c, j).block_cols(c, c + kBlock), 0.0, before.block_cols(c, c + kBlock));
    multiply(-1.0, kPlain, corner, kPlain, before, 0.0, found.block_cols(0, j));
  }
  return 0;
}

/// The lower triangle of X'X in place of that of X, which is triangular.
void square_on_one_thread(MatrixView<double> C) {
  std::vector<double> copied(C.rows * C.rows, 0.0), numbers(kBlock * C.rows);
  for (int64_t i = 0; i < C.rows; ++i) std::copy_n(C.row(i), i + 1, &copied[i * C.rows]);
  const MatrixView<const double> X{copied.data(), C.rows, C.rows, C.rows};
  for (int64_t i = 0; i < X.rows; i += kBlock) {
    const int64_t end = std::min(i + kBlock, X.rows);
    const MatrixView<const double> below = X.block_rows(i, X.rows);
    const MatrixView<double> rows{numbers.data(), end - i, end, end};
    for (int64_t j = 0; j < end; j += kBlock) {
      const int64_t last = std::min(j + kBlock, end);
      multiply(1.0, kTransposed, below.block_cols(i, end), kPlain, below.block_cols(j, last), 0.0,
               rows.block_cols(j, last));
    }
    for (int64_t k = i; k < end; ++k) std::copy_n(rows.row(k - i), k + 1, C.row(k));
  }
}

/// B := alpha L B, or alpha B L.
void multiply_triangular(CBLAS_SIDE side, double alpha, MatrixView<const double> L,
                         MatrixView<double> B) {
  cblas_dtrmm(CblasRowMajor, side, CblasLower, CblasNoTrans, CblasNonUnit, extent(B.rows, "rows"),
              extent(B.cols, "columns"), alpha, L.data, leading_dimension(L), B.data,
              leading_dimension(B));
}

/// L := L^{-1} by halves, so that most products are of large blocks: of 300 rows in 0.4 of dtrtri's
/// time, of 500 in 0.6.
lapack_int invert_by_halves(MatrixView<double> L) {
  if (L.rows <= kTriangle)
    return LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, kLowerRowMajor, 'N', extent(L.rows, "rows"),
                               L.data, leading_dimension(L));
  const int64_t half = round_up(L.rows / 2, 8);
  const MatrixView<double> first = L.block_rows(0, half).block_cols(0, half),
                           below = L.block_rows(half, L.rows).block_cols(0, half),
                           last = L.block_rows(half, L.rows).block_cols(half, L.rows);
  if (const lapack_int info = invert_by_halves(first); info != 0) return info;
  multiply_triangular(CblasRight, -1.0, first, below);
  if (const lapack_int info = invert_by_halves(last); info != 0)
    return static_cast<lapack_int>(half) + info;
  multiply_triangular(CblasLeft, 1.0, last, below);
  return 0;
}

/// L := L^{-1}; what is above the diagonal stays.
void invert_triangle(MatrixView<double> L) {
  const auto inverted = [&]() -> lapack_int {
    if (L.rows > kOneThreadRows) return invert_by_halves(L);
    std::vector<double> numbers(L.rows * L.rows, 0.0);
    const MatrixView<double> X{numbers.data(), L.rows, L.rows, L.rows};
    const lapack_int info = invert_on_one_thread(L, X);
    for (int64_t i = 0; i < L.rows; ++i) std::copy_n(X.row(i), i + 1, L.row(i));
    return info;
  };
  const lapack_int info = inverted();
  require(info >= 0, MERCER_INTERNAL, "dtrtri: argument %d is invalid", -static_cast<int>(info));
  require(info == 0, MERCER_NOT_POSITIVE_DEFINITE, "diagonal entry %d of a Cholesky factor is 0",
          static_cast<int>(info));
}

}  // namespace

void prepare_call() {
  if (openblas_get_parallel() == kOpenMp) keep_one_thread_in_child();
  thread_local bool checked = false;
  if (checked) return;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    // Threads of the pthread variant have mapped theirs when the library was loaded.
    const int64_t buffers = openblas_get_parallel() == kOpenMp ? openblas_get_num_threads() : 1;
    const int64_t needed = buffers * (kBlasBuffer + kBesideBuffer);
    const auto allowed = static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
    const int64_t room = allowed - address_space();
    require(room >= needed, MERCER_OUT_OF_MEMORY,
            "OpenBLAS needs %ld bytes of address space for its buffers, but the limit of %ld "
            "(RLIMIT_AS, ulimit -v) leaves %ld",
            needed, allowed, std::max<int64_t>(room, 0));
  }
  checked = true;
}

void rank_update(double alpha, MatrixView<const double> A, MatrixView<double> C) {
  require_shape(C, A.cols, A.cols, "rank_update: C");
  add_square(CblasTrans, extent(A.cols, "columns"), extent(A.rows, "rows"), alpha, A, C);
}

void rank_update(float alpha, MatrixView<const float> A, float beta, MatrixView<float> C) {
  require_shape(C, A.cols, A.cols, "rank_update: C");
  const lapack_int n = extent(A.cols, "columns"), k = extent(A.rows, "rows");
  const lapack_int lda = leading_dimension(A), ldc = leading_dimension(C);
  if (n == 0) return;
  if (k == 0) return scale(beta, C);
  prepare_call();
  cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, n, k, alpha, A.data, lda, beta, C.data, ldc);
}

void rank_update_rows(double alpha, MatrixView<const double> A, MatrixView<double> C) {
  require_shape(C, A.rows, A.rows, "rank_update_rows: C");
  add_square(CblasNoTrans, extent(A.rows, "rows"), extent(A.cols, "columns"), alpha, A, C);
}

void multiply(double alpha, Transpose transpose_a, MatrixView<const double> A,
              Transpose transpose_b, MatrixView<const double> B, double beta,
              MatrixView<double> C) {
  multiply_any(alpha, transpose_a, A, transpose_b, B, beta, C);
}

void multiply(float alpha, Transpose transpose_a, MatrixView<const float> A, Transpose transpose_b,
              MatrixView<const float> B, float beta, MatrixView<float> C) {
  multiply_any(alpha, transpose_a, A, transpose_b, B, beta, C);
}

double dot(std::span<const double> x, std::span<const double> y) {
  const lapack_int n = vector_extent(x, y);
  return cblas_ddot(n, x.data(), 1, y.data(), 1);
}

void add(double alpha, std::span<const double> x, std::span<double> y) {
  const lapack_int n = vector_extent(x, y);
  cblas_daxpy(n, alpha, x.data(), 1, y.data(), 1);
}

void multiply_symmetric(double alpha, MatrixView<const double> S, MatrixView<const double> B,
                        MatrixView<double> C) {
  require_shape(S, C.rows, C.rows, "multiply_symmetric: S");
  require_shape(B, C.rows, C.cols, "multiply_symmetric: B");
  const lapack_int m = extent(C.rows, "rows"), n = extent(C.cols, "columns");
  const lapack_int lds = leading_dimension(S), ldb = leading_dimension(B);
  const lapack_int ldc = leading_dimension(C);
  if (m == 0 || n == 0) return;
  prepare_call();
  if (n == 1) {
    cblas_dsymv(CblasRowMajor, CblasLower, m, alpha, S.data, lds, B.data, ldb, 1.0, C.data, ldc);
    return;
  }
  cblas_dsymm(CblasRowMajor, CblasLeft, CblasLower, m, n, alpha, S.data, lds, B.data, ldb, 1.0,
              C.data, ldc);
}

BlasLibrary blas_found() {
  return {openblas_get_config(), openblas_get_corename(), openblas_get_num_threads()};
}

// By tiles, and along their rows where they are written: down a column of a matrix of 2^k columns
// all numbers share a set of the cache, and tiles of 64 took 16 times as long as those of 8, whose
// rows are lines.
void copy_triangle(Triangle from, MatrixView<double> A) {
  constexpr int64_t kTile = 8;
  const bool lower = from == Triangle::lower;
  for (int64_t first = 0; first < A.rows; first += kTile) {
    const int64_t last = std::min(first + kTile, A.rows), end = lower ? last : A.rows;
    for (int64_t i0 = lower ? 0 : first; i0 < end; i0 += kTile)
      for (int64_t i = i0; i < std::min(i0 + kTile, end); ++i) {
        const int64_t stop = lower ? last : std::min(last, i);
        for (int64_t j = lower ? std::max(first, i + 1) : first; j < stop; ++j) A(i, j) = A(j, i);
      }
  }
}

int64_t cholesky(MatrixView<double> A) {
  Context context;
  return cholesky(A, context);
}

int64_t cholesky(MatrixView<double> A, Context& context) {
  require_shape(A, A.rows, A.rows, "cholesky: A");
  if (A.rows == 0) return 0;
  prepare_call();
  const lapack_int info = A.rows <= kOneThreadRows ? factor_on_one_thread(A)
                          : A.rows <= kOneStepRows ? factor_by_lapack(A)
                                                   : factor_in_steps(A, context);
  require(info >= 0, MERCER_INTERNAL, "dpotrf: argument %d is invalid", -static_cast<int>(info));
  if (info > 0) return info;
  // OpenBLAS only tests pivots for <= 0, which a NaN passes.
  for (int64_t i = 0; i < A.rows; ++i)
    if (!std::isfinite(A(i, i))) return i + 1;
  return 0;
}

void cholesky_solve(MatrixView<const double> L, MatrixView<double> B) {
  solve_triangular(CblasNoTrans, L, B);
  solve_triangular(CblasTrans, L, B);
}

void cholesky_inverse(MatrixView<double> L) {
  require_shape(L, L.rows, L.rows, "cholesky_inverse: L");
  if (L.rows == 0) return;
  prepare_call();
  invert_triangle(L);
  if (L.rows <= kOneThreadRows) return square_on_one_thread(L);
  LAPACKE_dlauum_work(LAPACK_COL_MAJOR, kLowerRowMajor, extent(L.rows, "rows"), L.data,
                      leading_dimension(L));
}

std::vector<double> cholesky_inverse_diagonal(MatrixView<double> L) {
  require_shape(L, L.rows, L.rows, "cholesky_inverse_diagonal: L");
  prepare_call();
  invert_triangle(L);
  std::vector<double> diagonal(L.rows, 0.0);
  for (int64_t i = 0; i < L.rows; ++i)
    for (int64_t j = 0; j <= i; ++j) diagonal[j] += L(i, j) * L(i, j);
  return diagonal;
}

void triangular_solve(MatrixView<const double> L, MatrixView<double> B, Transpose transpose) {
  solve_triangular(transpose == Transpose::no ? CblasNoTrans : CblasTrans, L, B);
}

// Row-major A is column-major A': dgelqf of A' = L Q leaves L where R = L' belongs.
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

std::vector<double> column_means(MatrixView<const double> A, std::span<const double> weights) {
  std::vector<double> mean(A.cols, 0.0), rest = mean;
  const auto weight = [&](int64_t i) { return weights.empty() ? 1.0 : weights[i]; };
  double n = 0;
  for (int64_t i = 0; i < A.rows; ++i) {
    n += weight(i);
    for (int64_t j = 0; j < A.cols; ++j) mean[j] += weight(i) * A(i, j);
  }
  for (double& value : mean) value /= n;
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) rest[j] += weight(i) * (A(i, j) - mean[j]);
  for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += rest[j] / n;
  return mean;
}

void subtract_from_rows(std::span<const double> offset, MatrixView<double> A) {
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) A(i, j) -= offset[j];
}

// Symmetric eigendecomposition: A = Q T Q' (Householder, dsytrd), T = S diag(values) S', V = Q S.
//
// T is solved by divide and conquer (dstedc: Cuppen 1981; Gu and Eisenstat 1995) or by relatively
// robust representations (dstemr: Dhillon and Parlett 2004). dsyevd would keep A, S and a workspace
// of one more matrix, 3 x 8 D^2 bytes in all. Here the reflectors of Q, half of A, are packed away
// first, S is formed in A's own storage, and dstedc's workspace is added: 2.5 x 8 D^2. At D = 4096
// on two cores this takes 6 s, dsyevr and dsyevd 7.5 s, and the vectors are orthogonal to 1e-14,
// those of dsyevr to 1e-12. Q is applied in blocks of 128 reflectors (dlarft, dlarfb): dormtr's
// blocks of 32 make its products too thin (3.0 s against 2.1 s). Small matrices are reduced and
// their vectors formed one reflector at a time, on one thread (kOneThreadRows).

namespace {

constexpr int64_t kReflectorBlock = 128;
// Units of progress per row of A: about proportional to the times at D = 4096.
constexpr int64_t kReductionUnits = 6, kTridiagonalUnits = 1, kVectorUnits = 3;

struct Tridiagonal {
  std::span<double> diagonal;  // becomes the eigenvalues
  std::vector<double> off_diagonal;
  std::vector<double> tau;  // of the reflectors
};

/// Reflectors [first, last) of Q in the layout of dlarft and dlarfb: column-major, rows [0, last),
/// unit in row `first + c` of column c (implied). A row-major lower triangle holds column c in row
/// first + c + 1.
struct ReflectorBlock {
  int64_t first, last;
  const double* data;
  int64_t ld;
};

std::vector<ReflectorBlock> blocks_in_place(MatrixView<double> A) {
  std::vector<ReflectorBlock> blocks;
  for (int64_t first = 0; first + 1 < A.rows; first += kReflectorBlock)
    blocks.push_back(
        {first, std::min(first + kReflectorBlock, A.rows - 1), A.row(first + 1), A.ld});
  return blocks;
}

int64_t packed_size(const std::vector<ReflectorBlock>& blocks) {
  int64_t size = 0;
  for (const ReflectorBlock& block : blocks) size += block.last * (block.last - block.first);
  return size;
}

/// Copies the blocks together; they point into `packed` afterwards.
void pack(std::vector<ReflectorBlock>& blocks, const AlignedBuffer<double>& packed) {
  double* out = packed.data();
  for (ReflectorBlock& block : blocks) {
    const int64_t columns = block.last - block.first;
    for (int64_t c = 0; c < columns; ++c)
      std::copy_n(block.data + c * block.ld, block.last, out + c * block.last);
    block.data = out;
    block.ld = block.last;
    out += columns * block.last;
  }
}

void require_converged(lapack_int info, const char* routine) {
  require(info >= 0, MERCER_INTERNAL, "%s: argument %d is invalid", routine,
          -static_cast<int>(info));
  require(info == 0, MERCER_NOT_CONVERGED, "%s: info = %d, eigenvalues did not converge", routine,
          static_cast<int>(info));
}

/// p = A v of the leading rows, lower triangle read.
void leading_product(MatrixView<const double> A, std::span<const double> v, std::span<double> p) {
  std::fill(p.begin(), p.end(), 0.0);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double* a = A.row(static_cast<int64_t>(i));
    p[i] += a[i] * v[i] + dot({a, i}, v.first(i));
    add(v[i], {a, i}, p.first(i));
  }
}

/// What dsytd2 does, and where it leaves it: row r becomes reflector r - 1, A := H A H.
void reduce_on_one_thread(MatrixView<double> A, Tridiagonal& T) {
  const auto n = static_cast<std::size_t>(A.rows);
  std::vector<double> reflector(n), product(n);
  for (std::size_t r = n - 1; r > 0; --r) {
    double* row = A.row(static_cast<int64_t>(r));
    double& tau = T.tau[r - 1];
    T.diagonal[r] = row[r];
    LAPACKE_dlarfg_work(static_cast<lapack_int>(r), row + r - 1, row, 1, &tau);
    T.off_diagonal[r - 1] = row[r - 1];
    if (tau == 0) continue;
    const std::span<double> v(reflector.data(), r), w(product.data(), r);
    std::copy_n(row, r - 1, v.begin());
    v[r - 1] = 1;
    leading_product(A, v, w);
    const double along = -0.5 * tau * tau * dot(w, v);
    for (std::size_t i = 0; i < r; ++i) w[i] = tau * w[i] + along * v[i];
    for (std::size_t i = 0; i < r; ++i) {
      double* a = A.row(static_cast<int64_t>(i));
      add(-v[i], w.first(i + 1), {a, i + 1});
      add(-w[i], v.first(i + 1), {a, i + 1});
    }
  }
  T.diagonal[0] = A(0, 0);
}

/// dsytrd, whose panels are as wide; of a large matrix they are narrower, since each reads A once
/// for every column, and between them the call may be stopped.
void reduce_by_lapack(MatrixView<double> A, Tridiagonal& T, Context& context, Stage& stage) {
  constexpr int64_t kPanel = 32, kPanelNumbers = kPanel * 4096 * 4096;
  const int64_t n = A.rows, width = std::clamp<int64_t>(kPanelNumbers / (n * n), 4, kPanel);
  const lapack_int rows = extent(n, "matrix rows"), ld = leading_dimension(A);
  const auto columns = static_cast<lapack_int>(width);
  const AlignedBuffer<double> work(n * kPanel);
  int64_t left = n;
  for (; left > kPanel; left -= width) {
    const int64_t next = left - width;
    const auto whole = static_cast<lapack_int>(left);
    LAPACK_GLOBAL(dlatrd, DLATRD)
    (&kLowerRowMajor, &whole, &columns, A.data, &ld, T.off_diagonal.data(), T.tau.data(),
     work.data(), &rows, 1);
    cblas_dsyr2k(CblasColMajor, CblasUpper, CblasNoTrans, static_cast<lapack_int>(next), columns,
                 -1, A.row(next), ld, work.data(), rows, 1, A.data, ld);
    for (int64_t r = next; r < left; ++r) {
      A(r, r - 1) = T.off_diagonal[r - 1];
      T.diagonal[r] = A(r, r);
    }
    stage.advance(kReductionUnits * width);
    context.checkpoint();
  }
  const lapack_int info =
      LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, kLowerRowMajor, static_cast<lapack_int>(left), A.data,
                          ld, T.diagonal.data(), T.off_diagonal.data(), T.tau.data(), work.data(),
                          extent(work.size(), "dsytrd workspace"));
  require_converged(info, "dsytrd");
  stage.advance(kReductionUnits * left);
}

Tridiagonal reduce(MatrixView<double> A, std::span<double> values, Context& context, Stage& stage) {
  const std::size_t size = values.size();
  Tridiagonal T{values, std::vector<double>(size), std::vector<double>(size)};
  if (A.rows <= kOneThreadRows) {
    reduce_on_one_thread(A, T);
    stage.advance(kReductionUnits * A.rows);
  } else {
    reduce_by_lapack(A, T, context, stage);
  }
  double sum = 0;  // detects NaN and Inf of A, which LAPACK's iterations must not see
  for (std::size_t i = 0; i < size; ++i)
    sum += std::abs(T.diagonal[i]) + (i + 1 < size ? std::abs(T.off_diagonal[i]) : 0.0);
  require(std::isfinite(sum), MERCER_INVALID_ARGUMENT,
          "matrix of %ld rows to decompose, expected finite entries (sums of squares included)",
          A.rows);
  return T;
}

/// Eigenvectors of T into S (column-major: the rows of the row-major view).
void divide_and_conquer(Tridiagonal& T, MatrixView<double> S) {
  const int64_t n = S.rows;
  const AlignedBuffer<double> work(n * n + 4 * n + 1);
  const AlignedBuffer<lapack_int> integers(3 + 5 * n);
  require_converged(
      LAPACKE_dstedc_work(LAPACK_COL_MAJOR, 'I', extent(n, "matrix rows"), T.diagonal.data(),
                          T.off_diagonal.data(), S.data, leading_dimension(S), work.data(),
                          extent(work.size(), "dstedc workspace"), integers.data(),
                          extent(integers.size(), "dstedc workspace")),
      "dstedc");
}

lapack_int relatively_robust(Tridiagonal T, std::span<double> eigenvalues, MatrixView<double> S) {
  const int64_t n = S.rows;
  const lapack_int size = extent(n, "matrix rows");
  const AlignedBuffer<double> work(18 * n);
  const AlignedBuffer<lapack_int> integers(10 * n), support(2 * n);
  lapack_int found = 0;
  lapack_logical try_high_relative_accuracy = 1;
  std::vector<double> diagonal(T.diagonal.begin(), T.diagonal.end());
  return LAPACKE_dstemr_work(
      LAPACK_COL_MAJOR, 'V', 'A', size, diagonal.data(), T.off_diagonal.data(), 0, 0, 0, 0, &found,
      eigenvalues.data(), S.data, leading_dimension(S), size, support.data(),
      &try_high_relative_accuracy, work.data(), extent(work.size(), "dstemr workspace"),
      integers.data(), extent(integers.size(), "dstemr workspace"));
}

/// The solver with the least memory. dstemr fails on some matrices with many equal eigenvalues
/// (info = 22 for two eigenvalues repeated 100 and 200 times); implicit QL does not, but takes tens
/// of times longer.
void without_workspace(Tridiagonal& T, MatrixView<double> S) {
  std::vector<double> eigenvalues(T.diagonal.size());
  if (relatively_robust(T, eigenvalues, S) == 0) {
    std::copy(eigenvalues.begin(), eigenvalues.end(), T.diagonal.begin());
    return;
  }
  const AlignedBuffer<double> work(2 * S.rows);
  require_converged(
      LAPACKE_dsteqr_work(LAPACK_COL_MAJOR, 'I', extent(S.rows, "matrix rows"), T.diagonal.data(),
                          T.off_diagonal.data(), S.data, leading_dimension(S), work.data()),
      "dsteqr");
}

/// S := Q S as below. Eight columns of S are in cache while the reflectors pass.
void apply_on_one_thread(const std::vector<ReflectorBlock>& blocks, const std::vector<double>& tau,
                         MatrixView<double> S) {
  constexpr int64_t kColumns = 8;
  for (int64_t first = 0; first < S.rows; first += kColumns) {
    const int64_t end = std::min(first + kColumns, S.rows);
    for (const ReflectorBlock& block : blocks) {
      for (int64_t k = block.first; k < block.last; ++k) {
        const std::span<const double> v(block.data + (k - block.first) * block.ld, k);
        for (int64_t column = first; column < end; ++column) {
          double* s = S.row(column);
          const double by = tau[k] * (s[k] + dot(v, {s, v.size()}));
          s[k] -= by;
          add(-by, v, {s, v.size()});
        }
      }
    }
  }
}

/// S := Q S, Q = H(D-2) ... H(0), so the blocks are applied first to last. S column-major.
void apply_reflectors(const std::vector<ReflectorBlock>& blocks, const std::vector<double>& tau,
                      MatrixView<double> S, Context& context, Stage& stage) {
  if (S.rows <= kOneThreadRows) {
    apply_on_one_thread(blocks, tau, S);
    return stage.advance(kVectorUnits * S.rows);
  }
  const lapack_int n = extent(S.rows, "matrix rows"), lds = leading_dimension(S);
  const AlignedBuffer<double> triangle(kReflectorBlock * kReflectorBlock);
  const AlignedBuffer<double> work(checked_multiply(n, kReflectorBlock, "reflector workspace"));
  const auto ldt = static_cast<lapack_int>(kReflectorBlock);
  for (const ReflectorBlock& block : blocks) {
    const auto rows = static_cast<lapack_int>(block.last);
    const auto columns = static_cast<lapack_int>(block.last - block.first);
    const lapack_int ld = extent(block.ld, "leading dimension");
    LAPACKE_dlarft_work(LAPACK_COL_MAJOR, 'B', 'C', rows, columns, block.data, ld,
                        tau.data() + block.first, triangle.data(), ldt);
    LAPACKE_dlarfb_work(LAPACK_COL_MAJOR, 'L', 'N', 'B', 'C', rows, n, columns, block.data, ld,
                        triangle.data(), ldt, S.data, lds, work.data(), n);
    stage.advance(kVectorUnits * columns);
    context.checkpoint();
  }
}

TridiagonalSolver choose(int64_t n, const Context& context) {
  // dstedc's workspace, n^2 + 4n + 1 < (n + 2)^2 words, is counted in 32 bits.
  const bool fits = n + 2 <= 46340 && context.has_room(25 * n * n / 2 + 2048 * n);
  return fits ? TridiagonalSolver::divide_and_conquer : TridiagonalSolver::relatively_robust;
}

/// Replaces A by its eigenvectors; the only storage besides A is that of the blocks.
void vectors_in_place(Tridiagonal& T, std::vector<ReflectorBlock>& blocks, MatrixView<double> A,
                      Context& context, Stage& stage) {
  const AlignedBuffer<double> packed(packed_size(blocks));
  pack(blocks, packed);
  divide_and_conquer(T, A);
  stage.advance(kTridiagonalUnits * A.rows);
  context.checkpoint();
  apply_reflectors(blocks, T.tau, A, context, stage);
}

/// As above with a second matrix, but without a workspace as large as two.
void vectors_beside(Tridiagonal& T, const std::vector<ReflectorBlock>& blocks, MatrixView<double> A,
                    Context& context, Stage& stage) {
  const int64_t n = A.rows;
  const Matrix<double> S(n, n);
  without_workspace(T, S.view());
  stage.advance(kTridiagonalUnits * n);
  context.checkpoint();
  apply_reflectors(blocks, T.tau, S.view(), context, stage);
  for (int64_t i = 0; i < n; ++i) std::copy_n(&S(i, 0), n, A.row(i));
}

}  // namespace

void symmetric_eigen(MatrixView<double> A, std::span<double> values, Context& context,
                     TridiagonalSolver solver) {
  const int64_t n = A.rows;
  require_shape(A, n, n, "symmetric_eigen: A");
  require(static_cast<int64_t>(values.size()) == n, MERCER_DIMENSION_MISMATCH,
          "symmetric_eigen: values has %zu elements, expected %ld", values.size(), n);
  extent(n, "matrix rows");
  if (n == 0) return;
  prepare_call();
  if (solver == TridiagonalSolver::automatic) solver = choose(n, context);
  const bool in_place = solver == TridiagonalSolver::divide_and_conquer;
  std::vector<ReflectorBlock> blocks = blocks_in_place(A);
  const int64_t words = in_place ? n * n + packed_size(blocks) : n * n;
  const MemoryCharge charge =
      context.charge(checked_multiply(8, words, "eigendecomposition"), "eigendecomposition");

  Stage stage(context, (kReductionUnits + kTridiagonalUnits + kVectorUnits) * n);
  context.checkpoint();
  Tridiagonal T = reduce(A, values, context, stage);
  context.checkpoint();
  if (in_place) return vectors_in_place(T, blocks, A, context, stage);
  vectors_beside(T, blocks, A, context, stage);
}

}  // namespace mercer::linalg
