// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With A = Z'Z + s I, s = n lambda, W = A^{-1}Z'Y and R = Y - ZW: K^{-1}Y = R/s, Z'K^{-1}Y = W,
// y'K^{-1}y = (r'r + s w'w)/s without cancellation, K^{-1}Z = Z A^{-1}, and on the n - 1 dimensions
// that centring leaves log|K| = (n - 1 - D) log s + log|A|, Tr K^{-1} = (n - 1 - D)/s + Tr A^{-1}.
// Of fewer rows than features A is K itself, which has one eigenvalue s more where Z is centred.
// From df = mean_o [-(K^{-1}y_o)' dK (K^{-1}y_o) / (2 q_o)] + Tr(K^{-1} dK) / (2 (n - 1)) and
// dK = dZ Z' + Z dZ' + ds I the derivatives follow.
#include "solver/profiled_likelihood.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/blas.h"
#include "solver/row_weights.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;

constexpr const char* kMarginalLikelihood = "the marginal likelihood";

std::vector<double> of_mean_one(std::span<const double> weights) {
  std::vector<double> scaled(weights.begin(), weights.end());
  const double mean =
      std::accumulate(scaled.begin(), scaled.end(), 0.0) / static_cast<double>(scaled.size());
  for (double& weight : scaled) weight /= mean;
  return scaled;
}

void mirror_lower(MatrixView<double> A, double factor) {
  for (int64_t i = 0; i < A.rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      A(i, j) *= factor;
      A(j, i) = A(i, j);
    }
  }
}

}  // namespace

ProfiledLikelihood::ProfiledLikelihood(MatrixView<const double> Y, int64_t D, Context& context,
                                       std::span<const double> weights, const Options& options)
    : options_(options),
      weights_(of_mean_one(weights)),
      by_Z_(Y.rows, D, context, kMarginalLikelihood) {
  require(Y.rows >= 2, MERCER_INVALID_ARGUMENT, "%ld rows, expected at least two", Y.rows);
  take_varying(Y, context);
  residuals_ = Matrix<double>(Y.rows, outputs(), context, kMarginalLikelihood);
  w_ = Matrix<double>(D, outputs(), context, kMarginalLikelihood);
  scaled_ = Matrix<double>(D, outputs(), context, kMarginalLikelihood);
  const int64_t order = is_dual() ? Y.rows : D;
  A_ = Matrix<double>(order, order, context, kMarginalLikelihood);
}

// Subtracts the weighted mean row, then weighs rows.
void ProfiledLikelihood::centre(MatrixView<double> Z) const {
  if (options_.center) linalg::subtract_from_rows(linalg::column_means(Z, weights_), Z);
  scale_by_roots(weights_, Z);
}

void ProfiledLikelihood::take_varying(MatrixView<const double> Y, Context& context) {
  std::vector<int64_t> varying;
  for (int64_t o = 0; o < Y.cols; ++o)
    if (!column_is_constant(Y, o) || !options_.center) varying.push_back(o);
  Y_ = Matrix<double>(Y.rows, std::ssize(varying), context, kMarginalLikelihood);
  for (int64_t k = 0; k < outputs(); ++k) {
    const int64_t o = varying[k];
    const double origin = options_.center ? Y(0, o) : 0;
    for (int64_t i = 0; i < Y.rows; ++i) Y_(i, k) = Y(i, o) - origin;
  }
  centre(Y_.view());
  for (int64_t k = 0; k < outputs(); ++k) {
    double squares = 0;
    for (int64_t i = 0; i < Y.rows; ++i) squares += Y_(i, k) * Y_(i, k);
    scales_.push_back(std::sqrt(static_cast<double>(Y.rows) / squares));
    for (int64_t i = 0; i < Y.rows; ++i) Y_(i, k) *= scales_.back();
  }
}

// Factors A = LL'. Returns log |A|, or NaN if it has no factor.
double ProfiledLikelihood::factor(MatrixView<const double> Z, double noise) {
  const MatrixView<double> A = A_.view();
  A_.fill(0);
  if (is_dual()) {
    linalg::multiply(1.0, Transpose::no, Z, Transpose::yes, Z, 0.0, A);
  } else {
    linalg::rank_update(1.0, Z, A);
  }
  for (int64_t j = 0; j < A.rows; ++j) A(j, j) += noise;
  if (linalg::cholesky(A) != 0) return kNaN;
  double half = 0;
  for (int64_t j = 0; j < A.rows; ++j) half += std::log(A(j, j));
  return 2 * half;
}

// Computes W and R. Returns y'K^{-1}y of each output.
std::vector<double> ProfiledLikelihood::residuals(MatrixView<const double> Z, double noise) {
  const MatrixView<double> W = w_.view(), R = residuals_.view();
  std::copy_n(Y_.data(), R.rows * R.cols, R.data);
  if (is_dual()) {
    linalg::cholesky_solve(A_.view(), R);
    linalg::multiply(1.0, Transpose::yes, Z, Transpose::no, R, 0.0, W);
    for (int64_t k = 0; k < R.rows * R.cols; ++k) R.data[k] *= noise;
  } else {
    linalg::multiply(1.0, Transpose::yes, Z, Transpose::no, Y_.view(), 0.0, W);
    linalg::cholesky_solve(A_.view(), W);
    linalg::multiply(-1.0, Transpose::no, Z, Transpose::no, W, 1.0, R);
  }
  std::vector<double> quadratic(R.cols, 0.0);
  for (int64_t i = 0; i < R.rows; ++i)
    for (int64_t o = 0; o < R.cols; ++o) quadratic[o] += R(i, o) * R(i, o) / noise;
  for (int64_t j = 0; j < W.rows; ++j)
    for (int64_t o = 0; o < W.cols; ++o) quadratic[o] += W(j, o) * W(j, o);
  return quadratic;
}

// Replaces L by A^{-1}.
double ProfiledLikelihood::trace_of_inverse() {
  linalg::cholesky_inverse(A_.view());
  double trace = 0;
  for (int64_t j = 0; j < A_.rows(); ++j) trace += A_(j, j);
  return trace;
}

ProfiledLikelihood::Point ProfiledLikelihood::at(MatrixView<double> Z, double lambda) {
  require(Z.rows == rows() && Z.cols == by_Z_.cols(), MERCER_INTERNAL, "features of another shape");
  const double noise = static_cast<double>(rows()) * lambda;
  const auto m = static_cast<double>(outputs());
  // Eigenvalues s of K that A lacks; below 0: those of A that centring takes away.
  const double null = freedom() - static_cast<double>(A_.rows());
  centre(Z);
  const double log_determinant = null * std::log(noise) + factor(Z, noise);
  if (std::isnan(log_determinant)) return {log_determinant, 0, by_Z_.view()};
  const std::vector<double> quadratic = residuals(Z, noise);
  Point point{log_determinant / (2 * freedom()), 0, by_Z_.view()};
  point.slope = noise * (null / noise + trace_of_inverse()) / (2 * freedom());
  for (int64_t o = 0; o < outputs(); ++o) {
    const Share share = share_of(quadratic[o], o, noise);
    point.value += share.value / m;
    point.slope += share.slope / m;
    for (int64_t i = 0; i < rows(); ++i) {
      const double r = residuals_(i, o);
      point.slope -= share.by_quadratic * r * r / (noise * m);
    }
    for (int64_t j = 0; j < Z.cols; ++j)
      scaled_(j, o) = 2 * share.by_quadratic * w_(j, o) / (m * noise);
  }
  mirror_lower(A_.view(), 1 / freedom());
  if (is_dual()) {
    linalg::multiply(1.0, Transpose::no, A_.view(), Transpose::no, Z, 0.0, by_Z_.view());
  } else {
    linalg::multiply(1.0, Transpose::no, Z, Transpose::no, A_.view(), 0.0, by_Z_.view());
  }
  linalg::multiply(-1.0, Transpose::no, residuals_.view(), Transpose::yes, scaled_.view(), 1.0,
                   by_Z_.view());
  // The columns of W^{1/2} df/dZ already sum to 0, so centring Z needs no correction.
  scale_by_roots(weights_, by_Z_.view());
  return point;
}

// An output's part of f given its y'K^{-1}y, at the best amplitude, or at the known noise.
ProfiledLikelihood::Share ProfiledLikelihood::share_of(double quadratic, int64_t o,
                                                       double shift) const {
  if (options_.noise == 0) return {std::log(quadratic) / 2, 0, 1 / (2 * quadratic)};
  const double scale = scales_[o];
  const double noise = options_.noise * scale * scale, amplitude = noise / shift;
  const double by_quadratic = 1 / (2 * freedom() * amplitude);
  return {
      by_quadratic * quadratic + std::log(2 * std::numbers::pi * amplitude / (scale * scale)) / 2,
      by_quadratic * quadratic - 0.5, by_quadratic};
}

}  // namespace mercer::solver
