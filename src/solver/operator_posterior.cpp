// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// noise P'S^{-1}P, S = H + shift I: with S = L L' from L^{-1}P, else from S^{-1}P by steps. For
// decomposable maps (B B' = Q diag(g) Q', Z'Z = V diag(s) V') S^{-1} is diagonal in both bases:
// Cov f(x) = Q diag_j(noise sum_i (V'z)_i^2 / (s_i + shift/g_j)) Q', 0 where g_j = 0; noise last,
// which may be large where the rest is small.
#include "solver/operator_posterior.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/conjugate_gradient.h"
#include "linalg/symmetric_eigen.h"
#include "solver/operator_ridge.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;

constexpr const char* kWhat = "a posterior covariance";
constexpr int64_t kSketch = 100;
constexpr uint64_t kSketchSeed = 0;
constexpr double kTolerance = 1e-10;
constexpr int64_t kMostSteps = 10000;

Matrix<double> transposed(MatrixView<const double> A, Context& context) {
  Matrix<double> out(A.cols, A.rows, context, kWhat);
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) out(j, i) = A(i, j);
  return out;
}

/// What no target shows has the shift alone, of which rounding of a sum with this trace takes up to
/// eps trace: a hundredth of the least shift that is let through. Less would pass for certainty.
void require_resolved(double trace, double shift) {
  const double least = 100 * std::numeric_limits<double>::epsilon() * trace;
  require(shift >= least, MERCER_NOT_POSITIVE_DEFINITE,
          "N lambda = %g is lost in rounding of the sum over targets, of trace %g: expected at "
          "least %g",
          shift, trace, least);
}

}  // namespace

void OperatorPosterior::covariance(MatrixView<const double> Phi, Context& context,
                                   MatrixView<double> out) const {
  if (out.rows == 0) return;
  const int64_t p = Phi.rows / out.rows;
  const Matrix<double> blocks(p, Phi.rows, context, kWhat);
  quadratic(Phi, p, context, blocks.view());
  for (int64_t i = 0; i < out.rows; ++i)
    for (int64_t o = 0; o < p; ++o)
      for (int64_t q = 0; q < p; ++q)
        out(i, o * p + q) = noise_ * 0.5 * (blocks(o, i * p + q) + blocks(q, i * p + o));
}

FactoredPosterior::FactoredPosterior(Matrix<double>&& H, double shift, double noise,
                                     Context& context)
    : OperatorPosterior(noise), L_(std::move(H)) {
  double trace = 0;
  for (int64_t j = 0; j < L_.rows(); ++j) {
    trace += L_(j, j);
    L_(j, j) += shift;
  }
  require_resolved(trace, shift);
  context.checkpoint();
  const int64_t pivot = linalg::cholesky(L_.view());
  require(pivot == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "pivot %lld of the sum over targets + N lambda I, of %lld, is not positive",
          static_cast<long long>(pivot), static_cast<long long>(L_.rows()));
}

void FactoredPosterior::quadratic(MatrixView<const double> Phi, int64_t p, Context& context,
                                  MatrixView<double> blocks) const {
  const Matrix<double> P = transposed(Phi, context);
  linalg::triangular_solve(L_.view(), P.view());
  for (int64_t j = 0; j < P.cols(); j += p) {
    const MatrixView<const double> block = P.view().block_cols(j, j + p);
    linalg::multiply(1.0, Transpose::yes, block, Transpose::no, block, 0.0,
                     blocks.block_cols(j, j + p));
  }
}

IterativePosterior::IterativePosterior(const linalg::LinearOperator& A, double shift, double noise,
                                       Context& context)
    : OperatorPosterior(noise), A_(A), shift_(shift) {
  const int64_t rank = std::min(kSketch, A.cols() / 4);
  if (rank > 0 && context.has_room(bytes_of_sketch(A, rank)))
    sketch_.emplace(NormalEquations(A, 0), rank, kSketchSeed, context);
}

void IterativePosterior::quadratic(MatrixView<const double> Phi, int64_t p, Context& context,
                                   MatrixView<double> blocks) const {
  const Matrix<double> P = transposed(Phi, context), V(P.rows(), P.cols(), context, kWhat);
  V.fill(0);
  linalg::CgOptions steps{.tolerance = kTolerance, .most_iterations = kMostSteps};
  if (sketch_) steps.preconditioner = [&](MatrixView<double> R) { sketch_->apply(shift_, R); };
  const auto solved =
      linalg::conjugate_gradient(NormalEquations(A_, shift_), P.view(), steps, context, V.view());
  linalg::require_converged(solved, steps);
  for (int64_t j = 0; j < P.cols(); j += p)
    linalg::multiply(1.0, Transpose::yes, P.view().block_cols(j, j + p), Transpose::no,
                     V.view().block_cols(j, j + p), 0.0, blocks.block_cols(j, j + p));
}

SteinPosterior::SteinPosterior(Matrix<double>&& ZtZ, const OutputBasis& basis, double shift,
                               double noise, Context& context)
    : vectors_(std::move(ZtZ)),
      inverse_(vectors_.rows(), basis.outputs(), context, kWhat),
      basis_(basis),
      noise_(noise) {
  std::vector<double> s(static_cast<std::size_t>(vectors_.rows()));
  double trace = 0;
  for (int64_t j = 0; j < vectors_.rows(); ++j) trace += vectors_(j, j);
  require_resolved(basis.g().back() * trace, shift);
  linalg::symmetric_eigen(vectors_.view(), s, context);
  const std::vector<double> shifts = basis.lambdas(shift);
  for (int64_t i = 0; i < inverse_.rows(); ++i)
    for (int64_t j = 0; j < inverse_.cols(); ++j)
      inverse_(i, j) = 1 / (std::max(0.0, s[static_cast<std::size_t>(i)]) +
                                shifts[static_cast<std::size_t>(j)]);
}

void SteinPosterior::covariance(MatrixView<const double> Z, Context& context,
                                MatrixView<double> out) const {
  const int64_t p = basis_.outputs();
  const Matrix<double> squares(Z.rows, Z.cols, context, kWhat), c(Z.rows, p, context, kWhat),
      scaled(p, p, context, kWhat);
  linalg::multiply(1.0, Transpose::no, Z, Transpose::yes, vectors_.view(), 0.0, squares.view());
  for (int64_t at = 0; at < Z.rows * Z.cols; ++at) squares.data()[at] *= squares.data()[at];
  linalg::multiply(1.0, Transpose::no, squares.view(), Transpose::no, inverse_.view(), 0.0,
                   c.view());
  for (int64_t i = 0; i < Z.rows; ++i) {
    for (int64_t k = 0; k < p; ++k)
      for (int64_t j = 0; j < p; ++j) scaled(k, j) = std::sqrt(noise_) * std::sqrt(c(i, j)) * basis_.Q()(k, j);
    linalg::multiply(1.0, Transpose::no, scaled.view(), Transpose::yes, scaled.view(), 0.0,
                     {out.row(i), p, p});
  }
}

}  // namespace mercer::solver
