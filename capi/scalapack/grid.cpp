// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// ScaLAPACK (Blackford and others, 1997) has no header in C; its functions are declared here.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "grid.h"

#include <algorithm>
#include <cstddef>
#include <limits>

extern "C" {
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
void Cblacs_set(int context, int what, const int* value);

// Of Fortran, whose texts bring their lengths after the last argument.
void pdpotrf_(const char* uplo, const int* n, double* a, const int* ia, const int* ja,
              const int* desca, int* info, size_t);
void pspotrf_(const char* uplo, const int* n, float* a, const int* ia, const int* ja,
              const int* desca, int* info, size_t);
void pspotrs_(const char* uplo, const int* n, const int* nrhs, const float* a, const int* ia,
              const int* ja, const int* desca, float* b, const int* ib, const int* jb,
              const int* descb, int* info, size_t);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, size_t);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info, size_t,
             size_t);
void pdpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* ia,
              const int* ja, const int* desca, double* b, const int* ib, const int* jb,
              const int* descb, int* info, size_t);
void pdtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* ia,
              const int* ja, const int* desca, int* info, size_t, size_t);
void pdsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* ia,
              const int* ja, const int* desca, double* w, double* z, const int* iz, const int* jz,
              const int* descz, double* work, const int* lwork, int* iwork, const int* liwork,
              int* info, size_t, size_t);
// Of C.
void pdtrsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,
             const int* n, const double* alpha, const double* a, const int* ia, const int* ja,
             const int* desca, double* b, const int* ib, const int* jb, const int* descb);
void pdsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desca, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
void pstrsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,
             const int* n, const float* alpha, const float* a, const int* ia, const int* ja,
             const int* desca, float* b, const int* ib, const int* jb, const int* descb);
void pssyrk_(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha,
             const float* a, const int* ia, const int* ja, const int* desca, const float* beta,
             float* c, const int* ic, const int* jc, const int* descc);
void pdgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
             const double* b, const int* ib, const int* jb, const int* descb, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
void dtrsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b,
            const int* ldb);
}

namespace mercer::scalapack {
namespace {

constexpr int kOne = 1;
constexpr int kRepeatable = 15;  // of Cblacs_set: sums in an order that messages do not decide
constexpr int64_t kMostSummed = int64_t{1} << 21;  // numbers in a message, whose buffers MPI has
constexpr int64_t kPanel = 1024;                   // columns that are factored between two reports

int narrow(int64_t size) { return static_cast<int>(size); }

/// What info < 0 says cannot happen: arguments are this file's.
void require_arguments(int info, const char* function) {
  require(info >= 0, MERCER_INTERNAL,
          std::string(function) + ": info = " + std::to_string(info) + ", expected 0 or more");
}

}  // namespace

void require(bool holds, mercer_status status, const std::string& text) {
  if (!holds) throw Failure{status, text};
}

void check_mpi(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Failure{MERCER_IO, std::string(function) + ": " + text};
}

int64_t local_count(int64_t n, int64_t block, int64_t index, int64_t count) noexcept {
  const int64_t blocks = n / block, rest = blocks % count;
  return blocks / count * block + (index < rest ? block : index == rest ? n % block : 0);
}

GridShape square_grid(int64_t processes) noexcept {
  int64_t rows = 1;
  for (int64_t p = 1; p * p <= processes; ++p)
    if (processes % p == 0) rows = p;
  return {rows, processes / rows};
}

Grid::Grid(MPI_Comm comm, GridShape shape) : shape_(shape), handle_(Csys2blacs_handle(comm)) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  row_ = rank / shape.columns;
  column_ = rank % shape.columns;
  context_ = handle_;
  Cblacs_gridinit(&context_, "Row", narrow(shape.rows), narrow(shape.columns));
  Cblacs_set(context_, kRepeatable, &kOne);
  MPI_Comm_split(comm, narrow(column_), narrow(row_), &of_column_);
  MPI_Comm_split(comm, narrow(row_), narrow(column_), &of_row_);
}

Grid::~Grid() {
  MPI_Comm_free(&of_row_);
  MPI_Comm_free(&of_column_);
  Cblacs_gridexit(context_);
  Cfree_blacs_system_handle(handle_);
}

void Grid::sum(std::vector<double>& numbers, MPI_Comm comm) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int64_t first = 0; size > 1 && first < std::ssize(numbers); first += kMostSummed) {
    const int count = narrow(std::min(kMostSummed, std::ssize(numbers) - first));
    double* const sums = numbers.data() + first;
    const void* const own = rank == 0 ? MPI_IN_PLACE : sums;
    check_mpi(MPI_Reduce(own, sums, count, MPI_DOUBLE, MPI_SUM, 0, comm), "MPI_Reduce");
    check_mpi(MPI_Bcast(sums, count, MPI_DOUBLE, 0, comm), "MPI_Bcast");
  }
}

GridLayout::GridLayout(const Grid& grid, int64_t rows, int64_t columns, int64_t row_block,
                       int64_t column_block)
    : grid_(&grid),
      local_rows_(local_count(rows, row_block, grid.row(), grid.shape().rows)),
      local_columns_(local_count(columns, column_block, grid.column(), grid.shape().columns)),
      descriptor_{1,
                  grid.context(),
                  narrow(rows),
                  narrow(columns),
                  narrow(row_block),
                  narrow(column_block),
                  0,
                  0,
                  narrow(std::max<int64_t>(1, local_rows_))} {}

int64_t GridLayout::first_below(int64_t place) const noexcept {
  const int64_t block = descriptor_[4], count = grid_->shape().rows, own = grid_->row();
  const int64_t b = place / block, round = b / count;  // blocks of rounds before are above it
  if (b % count == own) return std::min(round * block + place % block, local_rows_);
  return std::min((round + (b % count > own ? 1 : 0)) * block, local_rows_);
}

void add_product(const Factor& b, const Factor& c, int64_t count, double* a, int64_t lda) {
  const int m = narrow(b.columns), n = narrow(c.columns), k = narrow(count), ldb = narrow(b.ld),
            ldc = narrow(c.ld), step = narrow(lda);
  const double one = 1;
  if (m > 0 && n > 0 && k > 0)
    dgemm_("N", "T", &m, &n, &k, &one, b.numbers, &ldb, c.numbers, &ldc, &one, a, &step);
}

void add_product(const RowBlock<float>& b, const RowBlock<float>& c, int64_t count, float* a,
                 int64_t lda) {
  const int m = narrow(b.columns), n = narrow(c.columns), k = narrow(count), ldb = narrow(b.ld),
            ldc = narrow(c.ld), step = narrow(lda);
  const float one = 1;
  if (m > 0 && n > 0 && k > 0)
    sgemm_("N", "T", &m, &n, &k, &one, b.numbers, &ldb, c.numbers, &ldc, &one, a, &step);
}

void multiply_columns(const double* a, int64_t columns, const Factor& b, int64_t count, double* c) {
  const int m = narrow(columns), n = narrow(count), k = narrow(b.columns), ldb = narrow(b.ld);
  const double one = 1, zero = 0;
  if (m > 0 && n > 0 && k > 0)
    dgemm_("T", "N", &m, &n, &k, &one, a, &k, b.numbers, &ldb, &zero, c, &m);
}

void multiply_own(bool transposed, int64_t rows, int64_t n, int64_t m, const double* A,
                  const double* B, double* C) {
  const int r = narrow(rows), inner = narrow(n), columns = narrow(m);
  const double one = 1, zero = 0;
  std::fill_n(C, (transposed ? n : rows) * m, 0.0);
  if (r == 0 || inner == 0 || columns == 0) return;
  if (transposed)
    dgemm_("T", "N", &inner, &columns, &r, &one, A, &r, B, &r, &zero, C, &inner);
  else
    dgemm_("N", "N", &r, &columns, &inner, &one, A, &r, B, &inner, &zero, C, &r);
}

bool cholesky_own(int64_t n, double* A) {
  const int size = narrow(n);
  int info = 0;
  dpotrf_("L", &size, A, &size, &info, 1);
  require_arguments(info, "dpotrf");
  return info == 0;
}

void solve_right(int64_t rows, int64_t n, const double* L, double* B) {
  const int r = narrow(rows), size = narrow(n);
  const double one = 1;
  if (r > 0) dtrsm_("R", "L", "T", "N", &r, &size, &one, L, &size, B, &r);
}

std::vector<double> symmetric_eigen_own(int64_t n, double* A) {
  const int size = narrow(n), numbers = narrow(1 + 6 * n + 2 * n * n), integers = narrow(3 + 5 * n);
  std::vector<double> values(static_cast<size_t>(n)), work(static_cast<size_t>(numbers));
  std::vector<int> places(static_cast<size_t>(integers));
  int info = 0;
  dsyevd_("V", "L", &size, A, &size, values.data(), work.data(), &numbers, places.data(), &integers,
          &info, 1, 1);
  require(info == 0, MERCER_NOT_CONVERGED,
          "dsyevd: info = " + std::to_string(info) + ", expected all eigenvalues of a sketch");
  return values;
}

namespace {

// ScaLAPACK's functions of either precision by one name.
constexpr auto potrf(double) { return pdpotrf_; }
constexpr auto potrf(float) { return pspotrf_; }
constexpr auto potrs(double) { return pdpotrs_; }
constexpr auto potrs(float) { return pspotrs_; }
constexpr auto trsm(double) { return pdtrsm_; }
constexpr auto trsm(float) { return pstrsm_; }
constexpr auto syrk(double) { return pdsyrk_; }
constexpr auto syrk(float) { return pssyrk_; }

// Panel by panel, as p?potrf does block by block: between two of them processes can meet.
template <class Number>
int64_t factor(GridPart<Number>& A, const ColumnsDone& done) {
  const int64_t n = A.rows(), block = A.descriptor()[4];
  const int64_t step = std::max(block, kPanel / block * block);
  const Number one = 1, minus = -1;
  for (int64_t first = 0; first < n; first += step) {
    const int width = narrow(std::min(step, n - first)), rest = narrow(n - first) - width;
    const int here = narrow(first) + 1, next = here + width;
    int info = 0;
    potrf(one)("L", &width, A.data(), &here, &here, A.descriptor(), &info, 1);
    require_arguments(info, "p?potrf");
    if (info > 0) return first + info;
    if (rest > 0) {
      trsm(one)("R", "L", "T", "N", &rest, &width, &one, A.data(), &here, &here, A.descriptor(),
                A.data(), &next, &here, A.descriptor());
      syrk(one)("L", "N", &rest, &width, &minus, A.data(), &next, &here, A.descriptor(), &one,
                A.data(), &next, &next, A.descriptor());
    }
    done(first + width);
  }
  return 0;
}

template <class Number>
void solve(const GridPart<Number>& factor, GridPart<Number>& B) {
  const int n = narrow(B.rows()), columns = narrow(B.columns());
  int info = 0;
  potrs(Number())("L", &n, &columns, factor.data(), &kOne, &kOne, factor.descriptor(), B.data(),
                  &kOne, &kOne, B.descriptor(), &info, 1);
  require_arguments(info, "p?potrs");
}

}  // namespace

int64_t cholesky(GridMatrix& A, const ColumnsDone& done) { return factor(A, done); }
int64_t cholesky(SingleMatrix& A, const ColumnsDone& done) { return factor(A, done); }
void cholesky_solve(const GridMatrix& factor, GridMatrix& B) { solve(factor, B); }
void cholesky_solve(const SingleMatrix& factor, SingleMatrix& B) { solve(factor, B); }

void solve_transposed(const GridMatrix& L, GridMatrix& B) {
  const int n = narrow(B.rows()), columns = narrow(B.columns());
  const double one = 1;
  pdtrsm_("L", "L", "T", "N", &n, &columns, &one, L.data(), &kOne, &kOne, L.descriptor(), B.data(),
          &kOne, &kOne, B.descriptor());
}

void invert_lower(GridMatrix& L) {
  const int n = narrow(L.rows());
  int info = 0;
  pdtrtri_("L", "N", &n, L.data(), &kOne, &kOne, L.descriptor(), &info, 1, 1);
  require_arguments(info, "pdtrtri");
}

// Beside what pdsyevd asks for, what pdormtr does, which it calls.
int64_t eigen_numbers(int64_t n, int64_t block, GridShape shape) noexcept {
  const int64_t rows = local_count(n, block, 0, shape.rows),
                columns = local_count(n, block, 0, shape.columns);
  const int64_t reduction = 3 * n + std::max(block * (rows + 1), 3 * block);
  const int64_t reflections = (rows + columns + 2 * block) * block;
  return std::max({1 + 6 * n + 2 * rows * columns, reduction, reflections}) + 4 * n;
}

std::vector<double> symmetric_eigen(GridMatrix& A, GridMatrix& V) {
  const GridShape& shape = A.grid().shape();
  const int n = narrow(A.rows());
  std::vector<double> values(static_cast<size_t>(n)),
      work(static_cast<size_t>(eigen_numbers(n, A.descriptor()[4], shape)));
  std::vector<int> places(static_cast<size_t>(7 * int64_t{n} + 8 * shape.columns + 2));
  const int numbers = narrow(static_cast<int64_t>(work.size())),
            integers = narrow(static_cast<int64_t>(places.size()));
  int info = 0;
  pdsyevd_("V", "L", &n, A.data(), &kOne, &kOne, A.descriptor(), values.data(), V.data(), &kOne,
           &kOne, V.descriptor(), work.data(), &numbers, places.data(), &integers, &info, 1, 1);
  require_arguments(info, "pdsyevd");
  require(info == 0, MERCER_NOT_CONVERGED,
          "pdsyevd: info = " + std::to_string(info) + ", expected all eigenvalues of Z'Z");
  return values;
}

void multiply(const GridMatrix& A, bool transposed, const GridMatrix& B, GridMatrix& C) {
  const int n = narrow(A.rows()), columns = narrow(B.columns());
  const double one = 1, zero = 0;
  pdgemm_(transposed ? "T" : "N", "N", &n, &columns, &n, &one, A.data(), &kOne, &kOne,
          A.descriptor(), B.data(), &kOne, &kOne, B.descriptor(), &zero, C.data(), &kOne, &kOne,
          C.descriptor());
}

}  // namespace mercer::scalapack
