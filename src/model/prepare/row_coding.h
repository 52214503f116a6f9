// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Single rows as fits see them: their numbers, prepared inputs, coded targets, and a whole set of
// prepared rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/views.h"
#include "model/prepare/preparation.h"

namespace mercer::model {

// Iterates over the numbers of a row, each column once: duplicates in a sparse row are summed.

/// Calls body(column, sum) for the non-zero sums of add_row, in the order in which columns first
/// occur, and resets them to 0.
template <class T, class Body>
void take_stored(const CsrView<T>& X, int64_t i, double* sums, const Body& body) {
  for_each_stored(X, i, [&](int64_t j, T) {
    const double x = std::exchange(sums[j], 0.0);
    if (x != 0) body(j, x);
  });
}

/// Calls body(column, x) for every number of a dense row.
template <class T, class Body>
void for_each_number(const MatrixView<const T>& X, int64_t i, double*, const Body& body) {
  for_each_stored(X, i, [&](int64_t j, T x) { body(j, static_cast<double>(x)); });
}
/// Calls body(column, x) for every non-zero of a sparse row. sums: zeros, one per column, before
/// and after.
template <class T, class Body>
void for_each_number(const CsrView<T>& X, int64_t i, double* sums, const Body& body) {
  add_row(X, i, sums);
  take_stored(X, i, sums, body);
}

/// Length of the sums that for_each_number needs.
inline int64_t sum_count(const Rows& rows) { return rows.sparse() ? rows.cols() : 0; }

// Prepares single rows: inputs in double, rounded once; targets transformed; class numbers as
// one-hot codes.

/// Input j of a row, prepared except for the row's norm.
inline double prepared_number(const Preparation& by, int64_t j, double x) noexcept {
  const auto at = static_cast<size_t>(j);
  if (std::isnan(x) && !by.fill.empty()) x = by.fill[at];
  if (!by.curves.empty()) x = by.curves[at](x);
  return by.mean.empty() ? x : (x - by.mean[at]) / by.scale[at];
}

/// The flag of a row that misses a flagged input.
inline double prepared_flag(const Preparation& by, int64_t prepared) noexcept {
  return by.scale.empty() ? 1.0 : 1.0 / by.scale[prepared];
}

/// The factor that gives a row with the sum of squares `squares` the norm row_norm; 1 for zeros.
inline double to_row_norm(const Preparation& by, double squares) noexcept {
  return by.row_norm > 0 && squares > 0 ? by.row_norm / std::sqrt(squares) : 1.0;
}

template <class T, class U>
void scale_affine(const Preparation& by, const T* from, int64_t d, U* to) noexcept {
  if (by.mean.empty()) {
    for (int64_t j = 0; j < d; ++j) to[j] = static_cast<U>(from[j]);
    return;
  }
  const double* mean = by.mean.data();
  const double* scale = by.scale.data();
  for (int64_t j = 0; j < d; ++j)
    to[j] = static_cast<U>((static_cast<double>(from[j]) - mean[j]) / scale[j]);
}

/// Calls put(j, x) for every prepared input of a dense row of d numbers, before hashing.
template <class T, class Put>
void put_prepared(const Preparation& by, const T* from, int64_t d, const Put& put) noexcept {
  const auto number = [&](int64_t j) {
    return prepared_number(by, j, static_cast<double>(from[j]));
  };
  const auto flag = [&](size_t k) {
    const bool missing = std::isnan(static_cast<double>(from[by.flagged[k]]));
    return missing ? prepared_flag(by, d + static_cast<int64_t>(k)) : 0.0;
  };
  double squares = 0;
  if (by.row_norm > 0) {
    for (int64_t j = 0; j < d; ++j) squares += number(j) * number(j);
    for (size_t k = 0; k < by.flagged.size(); ++k) squares += flag(k) * flag(k);
  }
  const double factor = to_row_norm(by, squares);
  for (int64_t j = 0; j < d; ++j) put(j, factor * number(j));
  for (size_t k = 0; k < by.flagged.size(); ++k) put(d + static_cast<int64_t>(k), factor * flag(k));
}

/// Prepares a dense row of d numbers.
template <class T, class U>
void prepare_numbers(const Preparation& by, const T* from, int64_t d, U* to) noexcept {
  if (by.is_affine()) return scale_affine(by, from, d, to);
  if (by.hashing.buckets == 0)
    return put_prepared(by, from, d, [&](int64_t j, double x) { to[j] = static_cast<U>(x); });
  std::fill_n(to, by.hashing.buckets, U{0});
  put_prepared(by, from, d, [&](int64_t j, double x) {
    if (x == 0) return;
    const FeatureHash::Place place = by.hashing.of(j);
    to[place.bucket] += static_cast<U>(place.sign * x);
  });
}

/// Prepares row i. sums: for sparse rows zeros, one per column, before and after.
template <class T, class U>
void prepare_row(const Preparation& by, const MatrixView<const T>& X, int64_t i, double*,
                 U* to) noexcept {
  prepare_numbers(by, X.row(i), X.cols, to);
}
/// Prepares a sparse row as a dense one; duplicate entries are summed.
template <class T, class U>
void prepare_row(const Preparation& by, const CsrView<T>& X, int64_t i, double* sums,
                 U* to) noexcept {
  add_row(X, i, sums);
  prepare_numbers(by, sums, X.cols, to);
  clear_row(X, i, sums);
}

/// Calls body(column, x) for every stored non-zero of sparse row i, prepared without centring. With
/// hashing a column may come twice.
template <class T, class Body>
void for_each_prepared(const Preparation& by, const CsrView<T>& X, int64_t i, double* sums,
                       const Body& body) {
  double squares = 0;
  const auto prepare = [&](const auto& next) {
    return [&](int64_t j, double x) {
      next(j, prepared_number(by, j, x));
      const auto flag = std::ranges::lower_bound(by.flagged, j);
      if (!std::isnan(x) || flag == by.flagged.end() || *flag != j) return;
      const int64_t prepared = X.cols + (flag - by.flagged.begin());
      next(prepared, prepared_flag(by, prepared));
    };
  };
  if (by.row_norm > 0) {
    add_row(X, i, sums);
    take_stored(X, i, sums, prepare([&](int64_t, double x) { squares += x * x; }));
  }
  const double factor = to_row_norm(by, squares);
  add_row(X, i, sums);
  take_stored(X, i, sums, prepare([&](int64_t j, double x) {
                if (by.hashing.buckets == 0) return body(j, factor * x);
                const FeatureHash::Place place = by.hashing.of(j);
                body(place.bucket, place.sign * factor * x);
              }));
}

/// prepare_row with sums of its own.
template <class View, class U>
void prepare_row(const Preparation& by, const View& X, int64_t i, U* to) {
  std::vector<double> sums(kIsSparse<View> ? static_cast<size_t>(X.cols) : 0, 0.0);
  prepare_row(by, X, i, sums.data(), to);
}

/// The targets whose range a model keeps: no columns for classification.
inline MatrixView<const double> ranged_targets(const TargetOptions& coding,
                                               MatrixView<const double> Y) {
  return coding.task == Task::regression ? Y : Y.block_cols(0, 0);
}

/// The class numbers of rows; empty for regression.
inline std::vector<double> classes_of(const TargetOptions& coding, MatrixView<const double> Y) {
  std::vector<double> classes;
  for (int64_t i = 0; i < Y.rows && coding.task == Task::classification; ++i)
    classes.push_back(Y(i, 0));
  return classes;
}

/// Columns of the coded targets.
inline int64_t coded_outputs(const TargetOptions& coding, int64_t columns) {
  return coding.task == Task::classification ? coding.classes : columns;
}

/// code has coded_outputs entries; for classification y[0] is a checked class number.
inline void code_target(const TargetOptions& coding, const Preparation& by, int64_t columns,
                        const double* y, double* code) {
  if (coding.task == Task::regression) {
    std::copy_n(y, columns, code);
    for (size_t o = 0; o < by.targets.size(); ++o) code[o] = by.targets[o](code[o]);
    return;
  }
  std::fill_n(code, coding.classes, 0.0);
  code[static_cast<int64_t>(y[0])] = 1.0;
}

// Rows as a kernel sees them: prepared, in double. Sparse rows stay sparse unless centred.

class PreparedRows {
 public:
  PreparedRows() = default;
  /// Charged to the context as long as this lives.
  PreparedRows(const Preparation& preparation, const Rows& X, Context& context, const char* what);
  Rows view() const;

 private:
  bool sparse_ = false;
  CsrRows stored_;
  Matrix<double> dense_;
};

/// The same, dense.
Matrix<double> dense_prepared_rows(const Preparation& preparation, const Rows& X, Context& context,
                                   const char* what);

}  // namespace mercer::model
