// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of drawn numbers, the same in every run.
#pragma once

#include <cstdint>
#include <span>

#include "base/aligned.h"
#include "random/distributions.h"

namespace mercer::bench {

/// fill(stream, 0, row): what random/distributions.h has.
template <class T, class Fill>
Matrix<T> drawn_rows(const Fill& fill, int64_t n, int64_t d) {
  AlignedBuffer<double> row(d);
  Matrix<T> X(n, d);
  for (int64_t i = 0; i < n; ++i) {
    fill(random::Stream(1, random::Tag::generated, static_cast<uint64_t>(i)), 0,
         std::span(row.data(), d));
    for (int64_t k = 0; k < d; ++k) X(i, k) = static_cast<T>(row[k]);
  }
  return X;
}

/// Standard normal numbers.
template <class T>
Matrix<T> normal_rows(int64_t n, int64_t d) {
  return drawn_rows<T>(random::fill_normal, n, d);
}

}  // namespace mercer::bench
