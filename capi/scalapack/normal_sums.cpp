// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "normal_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mercer::scalapack {
namespace {

constexpr int64_t kProductColumns = 512;  // of Z'Z at a time: what lies above them is left out

}  // namespace

Columns::Columns(int64_t features, int64_t block, GridShape shape)
    : features_(features),
      block_(block),
      classes_(std::lcm(shape.rows, shape.columns)),
      starts_(static_cast<size_t>(classes_) + 1) {
  for (int64_t c = 0; c < classes_; ++c)
    starts_[static_cast<size_t>(c) + 1] =
        starts_[static_cast<size_t>(c)] + local_count(features, block, c, classes_);
}

std::vector<Run> Columns::runs(int64_t index, int64_t count, int64_t own) const {
  std::vector<Run> found;
  for (int64_t local = 0; local < own; local += block_) {
    const int64_t begin = at((local / block_ * count + index) * block_);
    const int64_t end = begin + std::min(block_, own - local);
    if (!found.empty() && found.back().end == begin)
      found.back().end = end;
    else
      found.push_back({begin, end, local});
  }
  return found;
}

Features::Features(std::vector<Run> runs, int64_t count, int64_t block_rows)
    : runs_(std::move(runs)),
      count_(count),
      numbers_(static_cast<size_t>(count * block_rows)),
      origin_(static_cast<size_t>(count)) {}

void Features::make(const mercer_map* map, mercer_rows X, mercer_context* context) {
  for (const Run& run : runs_) {
    mercer_transform_options options{};
    options.struct_size = sizeof options;
    options.begin = run.begin;
    options.end = run.end;
    mercer_matrix Z = mercer_matrix_f64(X.n, run.end - run.begin, numbers_.data() + run.at);
    Z.ld = count_;
    const mercer_status status = mercer_map_transform(map, X, &options, context, Z);
    require(status == MERCER_OK, status, mercer_last_error());
  }
}

void Features::take_origin() { std::copy_n(numbers_.begin(), count_, origin_.begin()); }

void Features::center(const std::vector<double>& roots) {
  for (size_t i = 0; i < roots.size(); ++i) {
    double* const z = numbers_.data() + static_cast<int64_t>(i) * count_;
    for (int64_t j = 0; j < count_; ++j) z[j] = roots[i] * (z[j] - origin_[static_cast<size_t>(j)]);
  }
}

NormalSums::NormalSums(const Columns& columns, const Grid& grid, int64_t targets,
                       int64_t block_rows, bool centers, Gram kind)
    : gram(grid, kind == Gram::in_double ? columns.features() : 0,
           kind == Gram::in_double ? columns.features() : 0, columns.block(), columns.block()),
      single(grid, kind == Gram::in_single ? columns.features() : 0,
             kind == Gram::in_single ? columns.features() : 0, columns.block(), columns.block()),
      cross(grid, columns.features(), targets + 1, columns.block(), targets + 1),
      kind_(kind),
      centers_(centers),
      targets_(static_cast<size_t>(block_rows * (targets + 1))),
      of_row_(columns.runs(grid.row(), grid.shape().rows, cross.local_rows()), cross.local_rows(),
              block_rows) {
  const GridShape& shape = grid.shape();
  const int64_t own =
      local_count(columns.features(), columns.block(), grid.column(), shape.columns);
  if (kind != Gram::none && (shape.rows != shape.columns || grid.row() != grid.column()))
    of_column_.emplace(columns.runs(grid.column(), shape.columns, own), own, block_rows);
  y.origin.resize(static_cast<size_t>(targets));
  y.sum = y.squares = y.origin;
}

void NormalSums::add(const SharedRows& rows, int64_t count, const mercer_map* map,
                     mercer_context* context) {
  mercer_rows X = mercer_rows_f64(count, rows.inputs(), rows.row(0));
  X.ld = rows.width();
  of_row_.make(map, X, context);
  if (of_column_) of_column_->make(map, X, context);
  if (is_first_ && centers_) take_origins(rows.row(0) + rows.inputs());
  is_first_ = false;
  add_targets(rows, count);
  of_row_.center(roots_);
  if (of_column_) of_column_->center(roots_);
  add_products(count);
}

void NormalSums::take_origins(const double* targets) {
  of_row_.take_origin();
  if (of_column_) of_column_->take_origin();
  std::copy_n(targets, y.origin.size(), y.origin.begin());
}

void NormalSums::move_origin(const std::vector<double>& means) {
  for (int64_t i = 0; i < cross.local_rows(); ++i)
    of_row_.origin()[static_cast<size_t>(i)] += means[static_cast<size_t>(cross.row_place(i))];
}

const Features& NormalSums::centered(const SharedRows& rows, int64_t first, int64_t count,
                                     const mercer_map* map, mercer_context* context) {
  mercer_rows X = mercer_rows_f64(count, rows.inputs(), rows.row(first));
  X.ld = rows.width();
  of_row_.make(map, X, context);
  roots_.assign(static_cast<size_t>(count), 1.0);
  of_row_.center(roots_);
  return of_row_;
}

/// Rows of [y - y_0, 1] times the roots of their weights.
void NormalSums::add_targets(const SharedRows& rows, int64_t count) {
  const size_t m = y.sum.size();
  roots_.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const double* const target = rows.row(i) + rows.inputs();
    const double weight = target[m], root = std::sqrt(weight);
    double* const row = targets_.data() + i * static_cast<int64_t>(m + 1);
    roots_[static_cast<size_t>(i)] = row[m] = root;
    y.weight += weight;
    y.rows += weight > 0 ? 1 : 0;
    for (size_t k = 0; k < m; ++k) {
      const double difference = target[k] - y.origin[k];
      row[k] = root * difference;
      y.sum[k] += weight * difference;
      y.squares[k] += weight * difference * difference;
    }
  }
}

void NormalSums::add_products(int64_t count) {
  if (kind_ == Gram::in_double) add_gram(count, gram);
  if (kind_ == Gram::in_single) {
    of_row_.round(count);
    if (of_column_) of_column_->round(count);
    add_gram(count, single);
  }
  const int64_t m = cross.local_columns();  // all of them, or none
  add_product(of_row_.from(0, cross.local_rows()), {targets_.data(), m, m}, count, cross.column(0),
              cross.local_rows());
}

template <class Number>
void NormalSums::add_gram(int64_t count, GridPart<Number>& sums) {
  const Features& of_column = of_column_ ? *of_column_ : of_row_;
  const int64_t rows = sums.local_rows(), columns = sums.local_columns();
  for (int64_t j = 0; j < columns; j += kProductColumns) {
    const int64_t first = sums.first_below(sums.column_place(j));
    add_product(of_row_.from<Number>(first, rows - first),
                of_column.from<Number>(j, std::min(kProductColumns, columns - j)), count,
                sums.column(j) + first, rows);
  }
}

std::vector<double> gathered(Processes& all, const GridMatrix& matrix, int64_t columns) {
  std::vector<double> numbers;
  all.each([&] { numbers.resize(static_cast<size_t>(matrix.rows() * columns)); });
  for (int64_t k = 0; k < std::min(columns, matrix.local_columns()); ++k)
    for (int64_t i = 0; i < matrix.local_rows(); ++i)
      numbers[static_cast<size_t>(matrix.row_place(i) * columns + k)] = matrix.column(k)[i];
  all.sum(numbers);
  return numbers;
}

}  // namespace mercer::scalapack
