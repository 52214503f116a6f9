// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Matrices that a grid of processes share in ScaLAPACK's block-cyclic layout, and what is solved
// with them. Blocks of rows and columns are dealt out in turn: block b of the rows is the process
// row's b mod P, block b of the columns the process column's b mod Q.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mercer/mpi.h"

namespace mercer::scalapack {

/// What ends a call in one process.
struct Failure {
  mercer_status status;
  std::string text;
};
void require(bool holds, mercer_status status, const std::string& text);

/// MERCER_IO, with what MPI says, unless a call of it succeeded.
void check_mpi(int code, const char* function);

/// How many of n places in blocks of `block` are dealt to number `index` of `count`.
int64_t local_count(int64_t n, int64_t block, int64_t index, int64_t count) noexcept;

struct GridShape {
  int64_t rows = 1, columns = 1;  // P, Q
};
/// The most square grid of this many processes, P <= Q.
GridShape square_grid(int64_t processes) noexcept;

/// P x Q processes of a communicator, rank p Q + q at (p, q). Made, freed and used by all of them.
class Grid {
 public:
  Grid(MPI_Comm comm, GridShape shape);
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  ~Grid();

  const GridShape& shape() const noexcept { return shape_; }
  int64_t row() const noexcept { return row_; }        // p of this process
  int64_t column() const noexcept { return column_; }  // q
  int context() const noexcept { return context_; }
  /// Numbers become their sums over this process column, or row, in an order that the number of
  /// processes decides.
  void sum_of_column(std::vector<double>& numbers) const { sum(numbers, of_column_); }
  void sum_of_row(std::vector<double>& numbers) const { sum(numbers, of_row_); }

 private:
  GridShape shape_;
  int64_t row_ = 0, column_ = 0;
  int handle_ = 0, context_ = 0;
  static void sum(std::vector<double>& numbers, MPI_Comm comm);
  MPI_Comm of_column_ = MPI_COMM_NULL, of_row_ = MPI_COMM_NULL;
};

/// Where the numbers of this process's part of a matrix stand.
class GridLayout {
 public:
  GridLayout(const Grid& grid, int64_t rows, int64_t columns, int64_t row_block,
             int64_t column_block);

  int64_t rows() const noexcept { return descriptor_[2]; }
  int64_t columns() const noexcept { return descriptor_[3]; }
  int64_t local_rows() const noexcept { return local_rows_; }
  int64_t local_columns() const noexcept { return local_columns_; }
  /// The place in the whole of a row or column of this part.
  int64_t row_place(int64_t local) const noexcept {
    return place(local, descriptor_[4], grid_->row(), grid_->shape().rows);
  }
  int64_t column_place(int64_t local) const noexcept {
    return place(local, descriptor_[5], grid_->column(), grid_->shape().columns);
  }
  /// The first row of this part at or below a place.
  int64_t first_below(int64_t place) const noexcept;
  const Grid& grid() const noexcept { return *grid_; }
  const int* descriptor() const noexcept { return descriptor_.data(); }

 private:
  static int64_t place(int64_t local, int64_t block, int64_t index, int64_t count) noexcept {
    return (local / block * count + index) * block + local % block;
  }

  const Grid* grid_;
  int64_t local_rows_, local_columns_;
  std::array<int, 9> descriptor_;
};

/// This process's part of a matrix, column-major, zeros at first.
template <class Number>
class GridPart : public GridLayout {
 public:
  GridPart(const Grid& grid, int64_t rows, int64_t columns, int64_t row_block, int64_t column_block)
      : GridLayout(grid, rows, columns, row_block, column_block),
        numbers_(static_cast<size_t>(std::max<int64_t>(1, local_rows() * local_columns()))) {}

  Number* column(int64_t local) noexcept { return numbers_.data() + local * local_rows(); }
  const Number* column(int64_t local) const noexcept {
    return numbers_.data() + local * local_rows();
  }
  /// The number on the diagonal in a column of this part, null if another process has it.
  Number* diagonal(int64_t local) noexcept {
    const int64_t place = column_place(local), i = first_below(place);
    return i < local_rows() && row_place(i) == place ? column(local) + i : nullptr;
  }
  const Number* diagonal(int64_t local) const noexcept {
    return const_cast<GridPart*>(this)->diagonal(local);
  }
  Number* data() noexcept { return numbers_.data(); }
  const Number* data() const noexcept { return numbers_.data(); }

 private:
  std::vector<Number> numbers_;
};
using GridMatrix = GridPart<double>;
using SingleMatrix = GridPart<float>;

/// a += b c' of a process's own: a rows x columns with column stride lda, b row-major count x rows,
/// c row-major count x columns, each with the stride of its rows.
template <class Number>
struct RowBlock {
  const Number* numbers;
  int64_t columns, ld;
};
using Factor = RowBlock<double>;
void add_product(const Factor& b, const Factor& c, int64_t count, double* a, int64_t lda);
void add_product(const RowBlock<float>& b, const RowBlock<float>& c, int64_t count, float* a,
                 int64_t lda);

/// Columns done so far; it may throw, in all processes at once.
using ColumnsDone = std::function<void(int64_t columns)>;

/// c = b'a of a process's own: c columns x count, column-major as a.
void multiply_columns(const double* a, int64_t columns, const Factor& b, int64_t count, double* c);

// Matrices of a process's own, column-major without gaps, of rows that are a process's part.

/// C = A'B, or AB: A rows x n, B rows x m, or n x m.
void multiply_own(bool transposed, int64_t rows, int64_t n, int64_t m, const double* A,
                  const double* B, double* C);
/// The lower triangle of A, n x n, becomes that of its Cholesky factor; false: a pivot is not
/// positive.
bool cholesky_own(int64_t n, double* A);
/// B = B L'^{-1}, B rows x n.
void solve_right(int64_t rows, int64_t n, const double* L, double* B);
/// The eigenvalues of A, ascending; A becomes the vectors, a column each. Errors: NOT_CONVERGED.
std::vector<double> symmetric_eigen_own(int64_t n, double* A);

// Matrices of the grid.

/// The lower triangle of A becomes that of its Cholesky factor. Returns 0, or the column, counted
/// from 1, whose pivot is not positive; the same in all processes.
int64_t cholesky(GridMatrix& A, const ColumnsDone& done);
int64_t cholesky(SingleMatrix& A, const ColumnsDone& done);
/// B = L'^{-1} B.
void solve_transposed(const GridMatrix& L, GridMatrix& B);
/// B = A^{-1} B from the factor.
void cholesky_solve(const GridMatrix& factor, GridMatrix& B);
void cholesky_solve(const SingleMatrix& factor, SingleMatrix& B);
/// The lower triangle L becomes L^{-1}.
void invert_lower(GridMatrix& L);

/// The eigenvalues of A, ascending, the same bits in all processes; A is overwritten and V gets the
/// vectors. Errors: NOT_CONVERGED.
std::vector<double> symmetric_eigen(GridMatrix& A, GridMatrix& V);
/// The numbers of workspace that this takes in a process.
int64_t eigen_numbers(int64_t n, int64_t block, GridShape shape) noexcept;
/// C = A B, or A'B.
void multiply(const GridMatrix& A, bool transposed, const GridMatrix& B, GridMatrix& C);

}  // namespace mercer::scalapack
