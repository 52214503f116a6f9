// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of standard normal numbers, the same in every run.
#pragma once

#include <cstdint>
#include <span>

#include "base/aligned.h"
#include "random/distributions.h"

namespace mercer::bench {

template <class T>
Matrix<T> normal_rows(int64_t n, int64_t d) {
  AlignedBuffer<double> row(d);
  Matrix<T> X(n, d);
  for (int64_t i = 0; i < n; ++i) {
    random::fill_normal(random::Stream(1, random::Tag::generated, static_cast<uint64_t>(i)), 0,
                        std::span(row.data(), static_cast<size_t>(d)));
    for (int64_t k = 0; k < d; ++k) X(i, k) = static_cast<T>(row[k]);
  }
  return X;
}

}  // namespace mercer::bench
