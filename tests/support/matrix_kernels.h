// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of several outputs, and their Gram matrices.
#pragma once

#include <memory>
#include <vector>

#include "base/aligned.h"
#include "kernel/kernel.h"

namespace mercer::test {

inline Value gaussian_of(const std::vector<double>& lengthscale, double variance = 1) {
  return std::make_shared<const Parameters>(
      Parameters{{"kernel", "gaussian"}, {"lengthscale", lengthscale}, {"variance", variance}});
}

inline Matrix<double> gram_of(const kernel::Kernel& kernel, const Matrix<double>& X,
                              const Matrix<double>& Y) {
  const int64_t p = kernel.outputs(X.cols());
  Matrix<double> K(p * X.rows(), p * Y.rows());
  Context context;
  kernel::gram(kernel, X.view(), Y.view(), context, K.view());
  return K;
}

}  // namespace mercer::test
