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

}  // namespace

ProfiledLikelihood::ProfiledLikelihood(MatrixView<const double> Y, int64_t D, Context& context,
                                       std::span<const double> weights, const Options& options)
    : options_(options),
      weights_(of_mean_one(weights)),
      by_Z_(Y.rows, D, context, kMarginalLikelihood) {
  require(Y.rows >= 2, MERCER_INVALID_ARGUMENT, "%ld rows, expected at least two", Y.rows);
  take_varying(Y, context);
  residuals_ = Matrix<double>(Y.rows, outputs(), context, kMarginalLikelihood);
  const int64_t order = D == 0 ? Y.rows : std::min(D, Y.rows);
  if (order < Y.rows) {
    w_ = Matrix<double>(D, outputs(), context, kMarginalLikelihood);
    scaled_ = Matrix<double>(D, outputs(), context, kMarginalLikelihood);
  }
  A_ = Matrix<double>(order, order, context, kMarginalLikelihood);
}

// Subtracts the weighted mean row, then weighs rows.
void ProfiledLikelihood::center(MatrixView<double> Z) const {
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
  center(Y_.view());
  for (int64_t k = 0; k < outputs(); ++k) {
    double squares = 0;
    for (int64_t i = 0; i < Y.rows; ++i) squares += Y_(i, k) * Y_(i, k);
    scales_.push_back(std::sqrt(static_cast<double>(Y.rows) / squares));
    for (int64_t i = 0; i < Y.rows; ++i) Y_(i, k) *= scales_.back();
  }
}

std::vector<double> ProfiledLikelihood::weight_roots() const {
  std::vector<double> roots = weights_.empty() ? std::vector(rows(), 1.0) : weights_;
  for (double& root : roots) root = std::sqrt(root);
  return roots;
}

// A = P' W^{1/2} K W^{1/2} P in the lower triangle, P the centring by weighted means.
void ProfiledLikelihood::put_centered(MatrixView<const double> gram) {
  const int64_t n = rows();
  const std::vector<double> weights = weights_.empty() ? std::vector(n, 1.0) : weights_;
  const std::vector<double> roots = weight_roots();
  std::vector<double> means(n, 0.0);
  for (int64_t i = 0; i < n && options_.center; ++i) {
    const std::span<const double> row(gram.row(i), static_cast<size_t>(i));
    linalg::add(weights[i], row, std::span(means).first(row.size()));
    means[i] += linalg::dot(std::span(weights).first(row.size()), row) + weights[i] * gram(i, i);
  }
  for (double& mean : means) mean /= static_cast<double>(n);
  const double mean = linalg::dot(weights, means) / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    const double apart = mean - means[i], root = roots[i];
    const double* const row = gram.row(i);
    double* const out = A_.view().row(i);
    for (int64_t j = 0; j <= i; ++j) out[j] = root * roots[j] * (row[j] - means[j] + apart);
  }
}

// Factors A = LL'. Returns log |A|, or NaN if it has no factor.
double ProfiledLikelihood::factor(double noise) {
  const MatrixView<double> A = A_.view();
  for (int64_t j = 0; j < A.rows; ++j) A(j, j) += noise;
  if (linalg::cholesky(A) != 0) return kNaN;
  double half = 0;
  for (int64_t j = 0; j < A.rows; ++j) half += std::log(A(j, j));
  return 2 * half;
}

// Computes R, of features W. Returns y'K^{-1}y of each output.
std::vector<double> ProfiledLikelihood::residuals(MatrixView<const double> Z, double noise) {
  const MatrixView<double> R = residuals_.view();
  std::copy_n(Y_.data(), R.rows * R.cols, R.data);
  std::vector<double> quadratic(R.cols, 0.0);
  if (is_dual()) {
    linalg::cholesky_solve(A_.view(), R);
    for (int64_t i = 0; i < R.rows; ++i)
      for (int64_t o = 0; o < R.cols; ++o) {
        quadratic[o] += Y_(i, o) * R(i, o);
        R(i, o) *= noise;
      }
    return quadratic;
  }
  const MatrixView<double> W = w_.view();
  linalg::multiply(1.0, Transpose::yes, Z, Transpose::no, Y_.view(), 0.0, W);
  linalg::cholesky_solve(A_.view(), W);
  linalg::multiply(-1.0, Transpose::no, Z, Transpose::no, W, 1.0, R);
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

// Adds the parts of the outputs to the value and the slope; A becomes its inverse.
void ProfiledLikelihood::finish(const std::vector<double>& quadratic, double noise, Point& point) {
  const auto m = static_cast<double>(outputs());
  // Eigenvalues s of K that A lacks; below 0: those of A that centring takes away.
  const double null = freedom() - static_cast<double>(A_.rows());
  point.value += null * std::log(noise) / (2 * freedom());
  point.slope = noise * (null / noise + trace_of_inverse()) / (2 * freedom());
  for (int64_t o = 0; o < outputs(); ++o) {
    const Share share = share_of(quadratic[o], o, noise);
    point.value += share.value / m;
    point.slope += share.slope / m;
    for (int64_t i = 0; i < rows(); ++i) {
      const double r = residuals_(i, o);
      point.slope -= share.by_quadratic * r * r / (noise * m);
      if (is_dual()) residuals_(i, o) *= std::sqrt(share.by_quadratic / m) / noise;
    }
    for (int64_t j = 0; !is_dual() && j < w_.rows(); ++j)
      scaled_(j, o) = 2 * share.by_quadratic * w_(j, o) / (m * noise);
  }
}

// A holds the centred K: df/dK there is A^{-1}/(2 (n - 1)) - sum_o c_o a_o a_o', a_o = K^{-1}y_o,
// in the lower triangle.
ProfiledLikelihood::Point ProfiledLikelihood::at_dual(double noise) {
  const double log_determinant = factor(noise);
  Point point{log_determinant / (2 * freedom()), 0, A_.view()};
  if (std::isnan(log_determinant)) return point;
  finish(residuals({}, noise), noise, point);
  for (int64_t i = 0; i < rows(); ++i)
    for (int64_t j = 0; j <= i; ++j) A_(i, j) *= 0.5 / freedom();
  linalg::rank_update_rows(-1.0, residuals_.view(), A_.view());
  return point;
}

ProfiledLikelihood::Point ProfiledLikelihood::at_gram(MatrixView<const double> gram,
                                                      double lambda) {
  require(gram.rows == rows() && gram.cols == rows() && by_Z_.cols() == 0, MERCER_INTERNAL,
          "a Gram matrix of another shape");
  const double noise = static_cast<double>(rows()) * lambda;
  put_centered(gram);
  const Point point = at_dual(noise);
  if (std::isnan(point.value)) return point;
  // Centred rows do not see the part along W^{1/2}1, where A is s I; a_o has none.
  const auto n = static_cast<double>(rows());
  const double part = options_.center ? 1 / (2 * freedom() * noise * n) : 0.0;
  const std::vector<double> roots = weight_roots();
  for (int64_t i = 0; i < rows(); ++i)
    for (int64_t j = 0; j <= i; ++j) {
      const double both = roots[i] * roots[j];
      A_(i, j) = both * (A_(i, j) - part * both);
    }
  return point;
}

ProfiledLikelihood::Point ProfiledLikelihood::at(MatrixView<double> Z, double lambda) {
  require(Z.rows == rows() && Z.cols == by_Z_.cols(), MERCER_INTERNAL, "features of another shape");
  const double noise = static_cast<double>(rows()) * lambda;
  center(Z);
  A_.fill(0);
  Point point{0, 0, by_Z_.view()};
  if (is_dual()) {
    linalg::rank_update_rows(1.0, Z, A_.view());
    point = at_dual(noise);
    point.by_Z = by_Z_.view();
    if (std::isnan(point.value)) return point;
    by_Z_.fill(0);
    linalg::multiply_symmetric(2.0, A_.view(), Z, by_Z_.view());
  } else {
    linalg::rank_update(1.0, Z, A_.view());
    point.value = factor(noise) / (2 * freedom());
    if (std::isnan(point.value)) return point;
    finish(residuals(Z, noise), noise, point);
    linalg::copy_triangle(linalg::Triangle::lower, A_.view());
    linalg::multiply(1 / freedom(), Transpose::no, Z, Transpose::no, A_.view(), 0.0, by_Z_.view());
    linalg::multiply(-1.0, Transpose::no, residuals_.view(), Transpose::yes, scaled_.view(), 1.0,
                     by_Z_.view());
  }
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
