// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Matrix products over CBLAS, which takes row-major matrices as they are.
#include "linalg/blas.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "linalg/blas_found.h"
#include "linalg/lapack.h"

namespace mercer::linalg {
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

BlasFound blas_found() {
  return {openblas_get_config(), openblas_get_corename(), openblas_get_num_threads()};
}

}  // namespace mercer::linalg
