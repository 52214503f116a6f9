// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
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
#include "linalg/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/aligned.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/lapack.h"

namespace mercer::linalg {
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

void reduce_by_lapack(MatrixView<double> A, Tridiagonal& T) {
  const lapack_int n = extent(A.rows, "matrix rows"), ld = leading_dimension(A);
  double best = 0;
  LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, kLowerRowMajor, n, A.data, ld, T.diagonal.data(),
                      T.off_diagonal.data(), T.tau.data(), &best, -1);
  const AlignedBuffer<double> work(std::max<int64_t>(1, static_cast<int64_t>(best)));
  const lapack_int info = LAPACKE_dsytrd_work(
      LAPACK_COL_MAJOR, kLowerRowMajor, n, A.data, ld, T.diagonal.data(), T.off_diagonal.data(),
      T.tau.data(), work.data(), extent(work.size(), "dsytrd workspace"));
  require_converged(info, "dsytrd");
}

Tridiagonal reduce(MatrixView<double> A, std::span<double> values) {
  const std::size_t size = values.size();
  Tridiagonal T{values, std::vector<double>(size), std::vector<double>(size)};
  if (A.rows <= kOneThreadRows) {
    reduce_on_one_thread(A, T);
  } else {
    reduce_by_lapack(A, T);
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
  Tridiagonal T = reduce(A, values);
  stage.advance(kReductionUnits * n);
  context.checkpoint();
  if (in_place) return vectors_in_place(T, blocks, A, context, stage);
  vectors_beside(T, blocks, A, context, stage);
}

}  // namespace mercer::linalg
