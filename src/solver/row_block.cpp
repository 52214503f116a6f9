// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Conversion and column sums over strips of columns: a strip's sums stay in L1 while its rows
// stream by, and every chunk owns its columns, so no reduction across threads is needed.
#include "solver/row_block.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/size.h"

namespace mercer::solver {
namespace {

constexpr int64_t kStrip =
    512;  // 4 KiB of sums; a row's strip of floats is 2 KiB, long enough to prefetch

int64_t strips(int64_t columns) { return ceil_divide(columns, kStrip); }

}  // namespace

template <class T>
void shift_and_sum(MatrixView<const T> Z, const double* origin, MatrixView<double> wide,
                   double* sums, Context& context) {
  parallel_for(context, strips(Z.cols), [=](int64_t strip, int) noexcept {
    const int64_t first = strip * kStrip, count = std::min(kStrip, Z.cols - first);
    const double* __restrict from = origin + first;
    double* __restrict sum = sums + first;
    std::fill_n(sum, count, 0.0);
    for (int64_t i = 0; i < Z.rows; ++i) {
      const T* __restrict in = Z.row(i) + first;
      double* __restrict out = wide.row(i) + first;
      for (int64_t j = 0; j < count; ++j) {
        const double value = static_cast<double>(in[j]) - from[j];
        out[j] = value;
        sum[j] += value;
      }
    }
  });
}

template <class T>
void sum_columns(MatrixView<const T> Z, double* sums, Context& context) {
  parallel_for(context, strips(Z.cols), [=](int64_t strip, int) noexcept {
    const int64_t first = strip * kStrip, count = std::min(kStrip, Z.cols - first);
    double* __restrict sum = sums + first;
    std::fill_n(sum, count, 0.0);
    for (int64_t i = 0; i < Z.rows; ++i) {
      const T* __restrict in = Z.row(i) + first;
      for (int64_t j = 0; j < count; ++j) sum[j] += static_cast<double>(in[j]);
    }
  });
}

void weigh_and_sum(std::span<const double> weights, MatrixView<double> wide, double* sums,
                   Context& context) {
  parallel_for(context, strips(wide.cols), [=](int64_t strip, int) noexcept {
    const int64_t first = strip * kStrip, count = std::min(kStrip, wide.cols - first);
    double* __restrict sum = sums + first;
    std::fill_n(sum, count, 0.0);
    for (int64_t i = 0; i < wide.rows; ++i) {
      double* __restrict row = wide.row(i) + first;
      const double weight = weights[i], root = std::sqrt(weight);
      for (int64_t j = 0; j < count; ++j) {
        sum[j] += weight * row[j];
        row[j] *= root;
      }
    }
  });
}

template void shift_and_sum(MatrixView<const float>, const double*, MatrixView<double>, double*,
                            Context&);
template void shift_and_sum(MatrixView<const double>, const double*, MatrixView<double>, double*,
                            Context&);
template void sum_columns(MatrixView<const float>, double*, Context&);
template void sum_columns(MatrixView<const double>, double*, Context&);

}  // namespace mercer::solver
