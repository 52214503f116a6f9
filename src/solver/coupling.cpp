// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/coupling.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"

namespace mercer::solver {
namespace {

constexpr const char* kRoots = "roots of coupled outputs";

}  // namespace

Coupling::Coupling(int64_t outputs, Matrix<double> roots, std::vector<double> scale,
                   Context& context)
    : outputs_(outputs), roots_(std::move(roots)), scale_(std::move(scale)) {
  require(outputs >= 1 && roots_.rows() >= 1 && roots_.cols() >= outputs &&
              roots_.cols() % outputs == 0 && std::ssize(scale_) == outputs,
          MERCER_INVALID_ARGUMENT, "roots of %ld outputs are %ld x %ld, with %zu units", outputs,
          roots_.rows(), roots_.cols(), scale_.size());
  const double* const numbers = roots_.data();
  const int64_t count = roots_.rows() * roots_.cols();
  require(std::all_of(numbers, numbers + count, [](double x) { return std::isfinite(x); }) &&
              std::any_of(numbers, numbers + count, [](double x) { return x != 0; }),
          MERCER_INVALID_ARGUMENT, "roots of outputs are 0 or not finite, expected a rank of 1");
  if (!shared()) return;
  const MatrixView<const double> B(roots_.data(), outputs, width());
  const Matrix<double> V(outputs, outputs, context, kRoots);
  linalg::multiply(1.0, linalg::Transpose::no, B, linalg::Transpose::yes, B, 0.0, V.view());
  g_.resize(outputs);
  linalg::symmetric_eigen(V.view(), g_, context);
  // Eigenvalues below this are rounding errors of directions that B does not reach.
  const double least = kEpsilon * static_cast<double>(outputs) * g_.back();
  for (double& g : g_) g = g > least ? g : 0;
  Q_ = Matrix<double>(outputs, outputs, context, kRoots);
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t j = 0; j < outputs; ++j) Q_(k, j) = V(j, k);
}

Coupling Coupling::independent(int64_t outputs, Context& context) {
  Matrix<double> unit(1, checked_multiply(outputs, outputs, kRoots), context, kRoots);
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t l = 0; l < outputs; ++l) unit(0, k * outputs + l) = k == l ? 1 : 0;
  return {outputs, std::move(unit), std::vector<double>(outputs, 1.0), context};
}

void Coupling::spread(MatrixView<const double> theta, MatrixView<double> C) const noexcept {
  for (int64_t c = 0; c < C.rows; ++c)
    for (int64_t k = 0; k < C.cols; ++k) {
      double sum = 0;
      for (int64_t b = 0; b < theta.cols; ++b) sum += root(c, k, b) * theta(c, b);
      C(c, k) = sum;
    }
}

void Coupling::gather(MatrixView<const double> C, MatrixView<double> theta) const noexcept {
  for (int64_t c = 0; c < C.rows; ++c)
    for (int64_t b = 0; b < theta.cols; ++b) {
      double sum = 0;
      for (int64_t k = 0; k < C.cols; ++k) sum += root(c, k, b) * C(c, k);
      theta(c, b) = sum;
    }
}

std::vector<double> Coupling::lambdas(double lambda) const {
  std::vector<double> result;
  for (const double g : g_) result.push_back(g > 0 ? lambda / g : kInfinity);
  return result;
}

}  // namespace mercer::solver
