// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How one row enters a fit: inputs standardised in double and rounded once, class numbers as
// one-hot codes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/model.h"

namespace mercer::model {

template <class T, class U>
void standardize_row(const Standardizer& standardizer, const MatrixView<const T>& X, int64_t i,
                     U* to) noexcept {
  const T* from = X.row(i);
  if (standardizer.mean.empty()) {
    for (int64_t j = 0; j < X.cols; ++j) to[j] = static_cast<U>(from[j]);
    return;
  }
  const double* mean = standardizer.mean.data();
  const double* scale = standardizer.scale.data();
  for (int64_t j = 0; j < X.cols; ++j) {
    to[j] = static_cast<U>((static_cast<double>(from[j]) - mean[j]) / scale[j]);
  }
}

/// A sparse row made dense: what is not listed is 0, a column listed twice counts as the sum.
template <class T, class U>
void standardize_row(const Standardizer& standardizer, const CsrView<T>& X, int64_t i,
                     U* to) noexcept {
  std::fill_n(to, X.cols, U{0});
  const bool empty = standardizer.mean.empty();
  for (int64_t j = 0; !empty && j < X.cols; ++j) {
    const auto column = static_cast<size_t>(j);
    to[j] = static_cast<U>((0.0 - standardizer.mean[column]) / standardizer.scale[column]);
  }
  for_each_listed(X, i, [&](int64_t j, T value) {
    const double scale = empty ? 1.0 : standardizer.scale[static_cast<size_t>(j)];
    to[j] = static_cast<U>(static_cast<double>(to[j]) + static_cast<double>(value) / scale);
  });
}

/// The targets whose range a model keeps: none of class numbers.
inline MatrixView<const double> ranged_targets(const FitOptions& options,
                                               MatrixView<const double> Y) {
  return options.task == Task::regression ? Y : Y.block_cols(0, 0);
}

/// Columns of the coded targets.
inline int64_t coded_outputs(const FitOptions& options, int64_t columns) {
  return options.task == Task::classification ? options.classes : columns;
}

/// code has coded_outputs entries; for classification y[0] is a class number that was checked.
inline void code_target(const FitOptions& options, int64_t columns, const double* y, double* code) {
  if (options.task == Task::regression) {
    std::copy_n(y, columns, code);
    return;
  }
  std::fill_n(code, options.classes, 0.0);
  code[static_cast<int64_t>(y[0])] = 1.0;
}

}  // namespace mercer::model
