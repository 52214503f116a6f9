// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A matrix that a call fills, single or double: the output counterpart of base/rows.h.
#pragma once

#include <cstdint>
#include <variant>

#include "base/matrix_view.h"

namespace mercer {

/// Non-owning.
class ResultView {
 public:
  ResultView() = default;
  // Implicit, so that a view can be passed as a result.
  ResultView(MatrixView<float> Z) : view_(Z) {}   // NOLINT
  ResultView(MatrixView<double> Z) : view_(Z) {}  // NOLINT

  /// The view if it has this type, else NULL.
  template <class T>
  const MatrixView<T>* get_if() const noexcept {
    return std::get_if<MatrixView<T>>(&view_);
  }
  int64_t rows() const {
    return std::visit([](const auto& Z) { return Z.rows; }, view_);
  }
  int64_t cols() const {
    return std::visit([](const auto& Z) { return Z.cols; }, view_);
  }

 private:
  std::variant<MatrixView<double>, MatrixView<float>> view_;
};

}  // namespace mercer
