// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge solutions of linear combinations of the outputs, each at its own lambda, from one
// eigendecomposition: a coupling of outputs is diagonal in a suitable basis of outputs.
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/blas.h"
#include "solver/evidence.h"
#include "solver/ridge_state.h"

namespace mercer::solver {
namespace {

constexpr const char* kCombinedOutputs = "ridge of combined outputs";
using linalg::kPlain;

void require_combination(const Combination& of, int64_t outputs) {
  const auto count = static_cast<int64_t>(of.lambdas.size());
  require(of.M.rows == outputs && of.M.cols == count, MERCER_DIMENSION_MISMATCH,
          "M is %ld x %ld, expected outputs = %ld rows and a column for each of %ld lambdas",
          of.M.rows, of.M.cols, outputs, count);
}

}  // namespace

std::vector<double> combined(std::span<const double> of, MatrixView<const double> M) {
  std::vector<double> sums(M.cols, 0.0);
  for (int64_t k = 0; k < M.rows; ++k)
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += of[k] * M(k, static_cast<int64_t>(j));
  return sums;
}

Matrix<double> RidgePath::State::inverses(const Combination& of, Context& context) const {
  require_combination(of, outputs());
  Matrix<double> result(features(), of.M.cols, context, kCombinedOutputs);
  for (int64_t j = 0; j < result.cols(); ++j) {
    const double lambda = of.lambdas[j];
    const bool no_weights = lambda == kInfinity;
    const double shift = no_weights ? lambda : checked_shift(lambda, statistics.weight());
    for (int64_t i = 0; i < result.rows(); ++i)
      result(i, j) = inverse(static_cast<std::size_t>(i), shift);
  }
  return result;
}

Matrix<double> RidgePath::State::filtered(const Combination& of, Context& context) const {
  const Matrix<double> factors = inverses(of, context);
  Matrix<double> result(factors.rows(), factors.cols(), context, kCombinedOutputs);
  linalg::multiply(1.0, kPlain, projected.view(), kPlain, of.M, 0.0, result.view());
  for (int64_t i = 0; i < result.rows(); ++i)
    for (int64_t j = 0; j < result.cols(); ++j) result(i, j) *= factors(i, j);
  return result;
}

// Outside the eigenvectors every K_j is n lambda I, so that M M' alone counts there.
double RidgePath::evidence(const Combination& of, double lambda) const {
  require_combination(of, outputs());
  const double shift = checked_shift(lambda, weight());
  const double degrees = weight() - static_cast<double>(state_->centered);
  const auto columns = static_cast<double>(of.M.cols);
  double outside = 0;
  for (int64_t k = 0; k < of.M.rows; ++k)
    for (int64_t j = 0; j < of.M.cols; ++j) outside += state_->outside[k] * of.M(k, j) * of.M(k, j);
  JointEvidence sums(outside, shift, columns * (degrees - static_cast<double>(features())));
  for (std::size_t i = 0; i < state_->values.size(); ++i) {
    const double* const row = state_->projected.view().row(static_cast<int64_t>(i));
    const std::vector<double> c = combined({row, state_->outside.size()}, of.M);
    const double s = state_->values[i];
    for (std::size_t j = 0; j < c.size(); ++j) {
      const double g = lambda / of.lambdas[j];
      // A null direction was not subtracted from `outside`.
      const double share = s > state_->null_level
                               ? 1 / (s * (g * s + shift))
                               : -state_->inverse(i, weight() * of.lambdas[j]) / shift;
      sums.add(s, g, share * c[j] * c[j]);
    }
  }
  return sums.of(columns * degrees);
}

Weights RidgePath::solve(const Combination& of, Context& context) const {
  const Matrix<double> filtered = state_->filtered(of, context);
  Weights weights{Matrix<double>(features(), of.M.cols, context, kCombinedOutputs), {}};
  linalg::multiply(1.0, linalg::Transpose::yes, state_->vectors(), kPlain, filtered.view(), 0.0,
                   weights.w.view());
  weights.intercept = intercepts(
      {state_->means.row.features, combined(state_->means.row.outputs, of.M)}, weights.w.view());
  return weights;
}

}  // namespace mercer::solver
