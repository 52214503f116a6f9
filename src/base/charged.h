// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A matrix whose bytes the call is charged for as long as it lives: the amount stands where the
// memory is taken.
#pragma once

#include "base/aligned.h"
#include "base/context.h"
#include "base/size.h"

namespace mercer {

template <class T>
class ChargedMatrix {
 public:
  ChargedMatrix() = default;
  /// OUT_OF_MEMORY naming `what` and the amount if the context's cap has no room for it.
  ChargedMatrix(Context& context, int64_t rows, int64_t cols, const char* what)
      : charge_(context.charge(
            checked_multiply(checked_multiply(rows, cols, what), sizeof(T), what), what)),
        matrix_(rows, cols) {}
  MatrixView<T> view() const noexcept { return matrix_.view(); }
  void fill(T value) const noexcept { matrix_.fill(value); }

 private:
  MemoryCharge charge_;
  Matrix<T> matrix_;
};

}  // namespace mercer
