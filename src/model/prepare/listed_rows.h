// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Iterates over the numbers of a row, each column once: duplicates in a sparse row are summed.
#pragma once

#include <cstdint>
#include <utility>

#include "base/views.h"

namespace mercer::model {

/// Calls body(column, sum) for the non-zero sums of add_row, in the order in which columns first
/// occur, and resets them to 0.
template <class T, class Body>
void take_listed(const CsrView<T>& X, int64_t i, double* sums, const Body& body) {
  for_each_listed(X, i, [&](int64_t j, T) {
    const double x = std::exchange(sums[j], 0.0);
    if (x != 0) body(j, x);
  });
}

/// Calls body(column, x) for every number of a dense row.
template <class T, class Body>
void for_each_number(const MatrixView<const T>& X, int64_t i, double*, const Body& body) {
  for_each_listed(X, i, [&](int64_t j, T x) { body(j, static_cast<double>(x)); });
}
/// Calls body(column, x) for every non-zero of a sparse row. sums: zeros, one per column, before
/// and after.
template <class T, class Body>
void for_each_number(const CsrView<T>& X, int64_t i, double* sums, const Body& body) {
  add_row(X, i, sums);
  take_listed(X, i, sums, body);
}

/// Length of the sums that for_each_number needs.
inline int64_t sum_count(const Rows& rows) { return rows.sparse() ? rows.cols() : 0; }

}  // namespace mercer::model
