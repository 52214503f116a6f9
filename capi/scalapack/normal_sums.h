// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums over all rows of features that no process makes alone. Which column of Z stands at which place
// of Z'Z is free, and chosen so that the places of a process are few runs of columns: places in
// blocks b go to classes b mod lcm(P, Q), and each class has columns that follow one another. A
// process row or column then holds whole classes, on a square grid one.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "grid.h"
#include "mercer/map.h"
#include "rows.h"

namespace mercer::scalapack {

/// Columns [begin, end) at places at, at + 1, ... of a process's own.
struct Run {
  int64_t begin, end, at;
};

/// Which columns of the map stand where.
class Columns {
 public:
  Columns(int64_t features, int64_t block, GridShape shape);

  int64_t features() const noexcept { return features_; }
  int64_t block() const noexcept { return block_; }
  /// The column at a place.
  int64_t at(int64_t place) const noexcept {
    const int64_t b = place / block_;
    return starts_[static_cast<size_t>(b % classes_)] + b / classes_ * block_ + place % block_;
  }
  /// Those of the `own` places of process row or column `index` of `count`.
  std::vector<Run> runs(int64_t index, int64_t count, int64_t own) const;

 private:
  int64_t features_, block_, classes_;
  std::vector<int64_t> starts_;
};

/// Features of a block of rows at the places of a process row or column.
class Features {
 public:
  Features(std::vector<Run> runs, int64_t count, int64_t block_rows);

  void make(const mercer_map* map, mercer_rows X, mercer_context* context);
  /// The first row becomes what center() subtracts; zeros before.
  void take_origin();
  /// Row i less the origin, times roots[i].
  void center(const std::vector<double>& roots);
  /// The first rows in single precision, too.
  void round(int64_t rows) { singles_.assign(numbers_.begin(), numbers_.begin() + rows * count_); }
  template <class Number = double>
  RowBlock<Number> from(int64_t first, int64_t columns) const noexcept {
    if constexpr (std::is_same_v<Number, float>)
      return {singles_.data() + first, columns, count_};
    else
      return {numbers_.data() + first, columns, count_};
  }
  /// c = columns'Z' for columns at these places, column-major.
  void multiply(const double* columns, int64_t number, int64_t count, double* c) const {
    multiply_columns(columns, number, from(0, count_), count, c);
  }
  /// a += Z'b for b row-major, a row for each of Z; a column-major.
  void add_transposed(const double* b, int64_t number, int64_t count, double* a) const {
    add_product(from(0, count_), {b, number, number}, count, a, count_);
  }
  std::vector<double>& origin() noexcept { return origin_; }
  const std::vector<double>& origin() const noexcept { return origin_; }

 private:
  std::vector<Run> runs_;
  int64_t count_;
  std::vector<double> numbers_, origin_;
  std::vector<float> singles_;
};

/// What all processes know of the targets, each about its first row's if it is to be centred.
struct TargetSums {
  std::vector<double> origin, sum, squares;
  double weight = 0;
  int64_t rows = 0;  // of weight above 0
};

/// How Z'Z is summed up, if at all.
enum class Gram { none, in_single, in_double };

/// Z'Z and Z'[Y, 1], of features and targets less those of the first row if they are to be centred:
/// so they lose no digits where means are large.
class NormalSums {
 public:
  NormalSums(const Columns& columns, const Grid& grid, int64_t targets, int64_t block_rows,
             bool centers, Gram kind);

  GridMatrix gram;  // the lower triangle, or empty
  SingleMatrix single;
  GridMatrix cross;  // in process column 0; the last column are the sums of features
  TargetSums y;

  void add(const SharedRows& rows, int64_t count, const mercer_map* map, mercer_context* context);
  /// Features of the first row at this process row's places, or zeros.
  const std::vector<double>& origin() const noexcept { return of_row_.origin(); }
  int64_t features() const noexcept { return cross.rows(); }
  int64_t block() const noexcept { return cross.descriptor()[4]; }

  // When all rows have been added.
  /// means, in the order of places, are subtracted as well.
  void move_origin(const std::vector<double>& means);
  /// Features of some rows of the block at this process row's places, less the origin.
  const Features& centered(const SharedRows& rows, int64_t first, int64_t count,
                           const mercer_map* map, mercer_context* context);
  const Features& features_of_row() const noexcept { return of_row_; }

 private:
  void take_origins(const double* targets);
  void add_targets(const SharedRows& rows, int64_t count);
  void add_products(int64_t count);
  template <class Number>
  void add_gram(int64_t count, GridPart<Number>& sums);

  Gram kind_;
  bool centers_, is_first_ = true;
  std::vector<double> targets_, roots_;
  Features of_row_;
  std::optional<Features> of_column_;  // none: those of the row
};

/// The first columns of a matrix that is in process column 0, in all processes: row-major, in the
/// order of places.
std::vector<double> gathered(Processes& all, const GridMatrix& matrix, int64_t columns);

}  // namespace mercer::scalapack
