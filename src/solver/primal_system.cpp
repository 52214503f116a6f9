// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge for every lambda from one eigendecomposition Z'Z = V diag(s) V': with c = V'Z'Y,
//   w = V diag(1/(s + n lambda)) c,   Tr H = sum s/(s + n lambda),
//   RSS = |Y outside the column space|^2 + sum (c^2/s) (n lambda/(s + n lambda))^2.
// Hoerl and Kennard 1970; generalised cross-validation: Golub, Heath, Wahba 1979, eq. 2.3.
// For one lambda: (Z'Z + n lambda I) w = Z'Y by Cholesky in the statistics' own storage.
#include "solver/primal_system.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "random/stream.h"
#include "solver/row_weights.h"

namespace mercer::solver {
namespace {

using linalg::kPlain, linalg::kTransposed;

constexpr const char* kCombinedOutputs = "ridge of combined outputs";
constexpr const char* kLeftOut = "leave-one-out";
constexpr int64_t kRowBlock = 1024, kCenteredRows = 512;
constexpr double kFirstJitter = 1e-15;
constexpr int kAttempts = 7;  // 1e-15 ... 1e-9
constexpr int64_t kProbes = 16;
constexpr int64_t kExact = 256;  // up to here the exact trace costs no more than the factor

void square(MatrixView<double> U) {
  for (int64_t i = 0; i < U.rows; ++i)
    for (int64_t j = 0; j < U.cols; ++j) U(i, j) *= U(i, j);
}

void require_training_block(const PrimalSystem& system, MatrixView<const double> Z,
                            MatrixView<const double> Y) {
  require(Z.cols == system.features(), MERCER_DIMENSION_MISMATCH,
          "Z.d = %ld, expected features = %ld", Z.cols, system.features());
  require(Y.cols == system.outputs() && Y.rows == Z.rows, MERCER_DIMENSION_MISMATCH,
          "Y is %ld x %ld, expected %ld rows as in Z and outputs = %ld", Y.rows, Y.cols, Z.rows,
          system.outputs());
}

/// Each 2 x 2 block of products of re and im becomes [a -b; b a] of re + i im, which adds the
/// products of the rows (im, -re), whose targets are 0, the imaginary parts of those of Z.
void add_imaginary_parts(MatrixView<double> G) {
  for (int64_t i = 0; i < G.rows; i += 2)
    for (int64_t j = 0; j <= i; j += 2) {
      G(i, j) = G(i + 1, j + 1) = G(i, j) + G(i + 1, j + 1);
      G(i + 1, j) = i == j ? 0 : G(i + 1, j) - G(i, j + 1);
      G(i, j + 1) = -G(i + 1, j);
    }
}

}  // namespace

double PrimalSystem::residual_degrees(double shift) const {
  double degrees = statistics_.weight() - static_cast<double>(centered_ + features());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double inverse_i = inverse(i, shift);
    degrees += inverse_i == 0 ? 1.0 : shift * inverse_i;
  }
  return degrees;
}

std::vector<double> PrimalSystem::residual_sum_of_squares(double shift) const {
  std::vector<double> rss = outside_;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double s = values_[i], inverse_i = inverse(i, shift);
    // A null direction was not subtracted from `outside`; it explains 2 w'c - s w^2.
    const double factor = s > null_level_ ? (shift * inverse_i) * (shift * inverse_i) / s
                                          : -inverse_i * (2 - s * inverse_i);
    const double* c = projected_.view().row(static_cast<int64_t>(i));
    for (std::size_t j = 0; j < rss.size(); ++j) rss[j] += factor * c[j] * c[j];
  }
  for (double& value : rss) value = value < 0 ? 0.0 : value;  // NaN stays
  return rss;
}

PrimalSystem::PrimalSystem(RowStatistics&& statistics, bool center, Context& context)
    : statistics_(std::move(statistics)), centered_(center ? 1 : 0) {
  require_rows(statistics_, "ridge");
  statistics_.release_scratch();
  means_ = center_in_place(statistics_, center);
  const int64_t D = features(), m = outputs();
  values_.resize(D);
  linalg::symmetric_eigen(statistics_.parts().gram, values_, context);

  // Eigenvalues beyond the rank that n rows allow, and negative ones, are rounding errors.
  const int64_t rank = statistics_.multiplicity() * (rows() - centered_);
  for (int64_t i = 0; i < D; ++i) values_[i] = i < D - rank ? 0.0 : std::max(0.0, values_[i]);
  // Centring subtracted n times the distance and left its rounding errors.
  const double scale = values_.back() + weight() * means_.distance;
  null_level_ = kEpsilon * static_cast<double>(D) * scale;

  projected_ = Matrix<double>(D, m, context, "targets among eigenvectors");
  linalg::multiply(1.0, kPlain, vectors(), kPlain, statistics_.cross(), 0.0, projected_.view());
  const auto squares = statistics_.sum_squared_outputs();
  outside_.assign(squares.begin(), squares.end());
  for (int64_t i = 0; i < D; ++i) {
    const double s = values_[i];
    for (int64_t j = 0; s > null_level_ && j < m; ++j)
      outside_[j] -= projected_(i, j) / s * projected_(i, j);  // c^2 alone could overflow
  }
  for (double& value : outside_) value = value < 0 ? 0.0 : value;
}

int64_t PrimalSystem::least_bytes(int64_t features, int64_t outputs) {
  constexpr const char* kWhat = "the statistics and their eigenvectors";
  const int64_t gram = checked_multiply(checked_multiply(8, features, kWhat), features, kWhat);
  const int64_t each =
      checked_add(gram, RowStatistics::bytes_beside_gram(features, outputs), kWhat);
  return checked_add(each, gram, kWhat);
}

Weights PrimalSystem::solve(double lambda) const {
  const double shift = checked_shift(lambda, weight());
  const int64_t D = features(), m = outputs();
  const Matrix<double> scaled(D, m);
  for (int64_t i = 0; i < D; ++i)
    for (int64_t j = 0; j < m; ++j)
      scaled(i, j) = inverse(static_cast<std::size_t>(i), shift) * projected_(i, j);
  Weights weights{Matrix<double>(D, m), {}};
  linalg::multiply(1.0, kTransposed, vectors(), kPlain, scaled.view(), 0.0, weights.w.view());
  weights.intercept = intercepts(means_.row, weights.w.view());
  return weights;
}

Solution PrimalSystem::solution(double lambda, Want want, Context&) const {
  return {solve(lambda), want == Want::dimension ? effective_dimension(lambda) : kNaN};
}

double PrimalSystem::null_level() const {
  return std::max(null_level_, squared_rounding(weight(), means_.row.features));
}

Directions PrimalSystem::directions(int64_t count, Context& context) const {
  const int64_t D = features(), m = outputs();
  Directions result{
      {Matrix<double>(D, count, context, "principal components"), {}},
      {Matrix<double>(count, m, context, "principal components"), means_.row.outputs}};
  for (int64_t j = 0; j < count; ++j) {
    const double* const v = vectors().row(D - 1 - j);
    for (int64_t i = 0; i < D; ++i) result.weights.w(i, j) = v[i];
    std::copy_n(projected_.view().row(D - 1 - j), m, result.targets.w.view().row(j));
  }
  const std::vector<double> zero(count, 0.0);
  result.weights.intercept = intercepts({means_.row.features, zero}, result.weights.w.view());
  return result;
}

double PrimalSystem::effective_dimension(double lambda) const {
  const double shift = checked_shift(lambda, weight());
  double trace = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) trace += values_[i] * inverse(i, shift);
  return trace / static_cast<double>(statistics_.multiplicity()) + static_cast<double>(centered_);
}

std::vector<double> PrimalSystem::leverage(double lambda) const {
  const double shift = checked_shift(lambda, weight());
  std::vector<double> scores(features(), 0.0);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double share = values_[i] * inverse(i, shift);
    const double* const v = vectors().row(static_cast<int64_t>(i));
    for (std::size_t j = 0; j < scores.size(); ++j) scores[j] += share * v[j] * v[j];
  }
  return scores;
}

std::vector<double> PrimalSystem::gcv(double lambda) const {
  const double shift = checked_shift(lambda, weight());
  const double n = weight(), degrees = residual_degrees(shift);
  std::vector<double> score = residual_sum_of_squares(shift);
  for (double& value : score)
    value = degrees <= kInterpolates * n ? kInfinity : value / degrees * (n / degrees);
  return score;
}

std::vector<double> PrimalSystem::evidence(double lambda, double noise) const {
  const double shift = checked_shift(lambda, weight());
  const double degrees = weight() - static_cast<double>(centered_);
  EvidenceSums sums(outside_, shift, degrees - static_cast<double>(features()));
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double s = values_[i];
    // A null direction was not subtracted from `outside`.
    sums.add(s, projected_.view().row(static_cast<int64_t>(i)), shift,
             s > null_level_ ? 1 / (s * (s + shift)) : -inverse(i, shift) / shift);
  }
  return sums.of(degrees, shift, noise);
}

std::vector<double> PrimalSystem::held_out_error(double lambda,
                                                 const RowStatistics& held_out) const {
  return mean_squared_error(solve(lambda), held_out);
}

// Ridge solutions of linear combinations of the outputs, each at its own lambda, from one
// eigendecomposition: a coupling of outputs is diagonal in a suitable basis of outputs.

Matrix<double> PrimalSystem::inverses(const Combination& of, Context& context) const {
  require_combination(of, outputs());
  Matrix<double> result(features(), of.M.cols, context, kCombinedOutputs);
  for (int64_t j = 0; j < result.cols(); ++j) {
    const double lambda = of.lambdas[j];
    const bool no_weights = lambda == kInfinity;
    const double shift = no_weights ? lambda : checked_shift(lambda, statistics_.weight());
    for (int64_t i = 0; i < result.rows(); ++i)
      result(i, j) = inverse(static_cast<std::size_t>(i), shift);
  }
  return result;
}

Matrix<double> PrimalSystem::filtered(const Combination& of, Context& context) const {
  const Matrix<double> factors = inverses(of, context);
  Matrix<double> result(factors.rows(), factors.cols(), context, kCombinedOutputs);
  linalg::multiply(1.0, kPlain, projected_.view(), kPlain, of.M, 0.0, result.view());
  for (int64_t i = 0; i < result.rows(); ++i)
    for (int64_t j = 0; j < result.cols(); ++j) result(i, j) *= factors(i, j);
  return result;
}

// Outside the eigenvectors every K_j is n lambda I, so that M M' alone counts there.
double PrimalSystem::evidence(const Combination& of, double lambda) const {
  require_combination(of, outputs());
  const double shift = checked_shift(lambda, weight());
  const double degrees = weight() - static_cast<double>(centered_);
  const auto columns = static_cast<double>(of.M.cols);
  double outside = 0;
  for (int64_t k = 0; k < of.M.rows; ++k)
    for (int64_t j = 0; j < of.M.cols; ++j) outside += outside_[k] * of.M(k, j) * of.M(k, j);
  JointEvidence sums(outside, shift, columns * (degrees - static_cast<double>(features())));
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double* const row = projected_.view().row(static_cast<int64_t>(i));
    const std::vector<double> c = combined({row, outside_.size()}, of.M);
    const double s = values_[i];
    for (std::size_t j = 0; j < c.size(); ++j) {
      const double g = lambda / of.lambdas[j];
      // A null direction was not subtracted from `outside`.
      const double share = s > null_level_ ? 1 / (s * (g * s + shift))
                                           : -inverse(i, weight() * of.lambdas[j]) / shift;
      sums.add(s, g, share * c[j] * c[j]);
    }
  }
  return sums.of(columns * degrees);
}

Weights PrimalSystem::solve(const Combination& of, Context& context) const {
  const Matrix<double> own = filtered(of, context);
  Weights weights{Matrix<double>(features(), of.M.cols, context, kCombinedOutputs), {}};
  linalg::multiply(1.0, kTransposed, vectors(), kPlain, own.view(), 0.0, weights.w.view());
  weights.intercept =
      intercepts({means_.row.features, combined(means_.row.outputs, of.M)}, weights.w.view());
  return weights;
}

// Leave-one-out residuals in closed form, (y - yhat)_i / (1 - H_ii) (Allen 1974), exact for ridge
// regression with n lambda kept. In the eigenbasis U = (Z - mean) V:
//   H_ii = sum_j u_ij^2/(s_j + n lambda) (+ 1/n for the unpenalised intercept),   yhat = U
//   diag(1/(s + n lambda)) c + ybar.
// A row of weight w has w H_ii instead of H_ii.
// U does not depend on lambda, so a path costs one rows x D x D product and two thin ones.

PrimalSystem::LeftOut PrimalSystem::prepare_left_out(std::span<const double> lambdas,
                                                     Context& context) const {
  const int64_t D = features(), m = outputs(), L = static_cast<int64_t>(lambdas.size());
  LeftOut factors{Matrix<double>(D, L, context, kLeftOut),
                  Matrix<double>(D, checked_multiply(L, m, kLeftOut), context, kLeftOut), m};
  for (int64_t l = 0; l < L; ++l) {
    const double shift = checked_shift(lambdas[l], statistics_.weight());
    for (int64_t i = 0; i < D; ++i) {
      factors.inverses(i, l) = inverse(static_cast<std::size_t>(i), shift);
      for (int64_t j = 0; j < m; ++j)
        factors.coefficients(i, l * m + j) = factors.inverses(i, l) * projected_(i, j);
    }
  }
  return factors;
}

/// targets: (row, column) -> the centred target.
template <class Targets>
Matrix<double> PrimalSystem::left_out(const LeftOut& factors, const WideBlock& block,
                                      const Targets& targets, Context& context) const {
  const MatrixView<const double> Z = block.Z;
  require_weights(block.weights, Z.rows);
  const int64_t D = features(), L = factors.inverses.cols(), columns = factors.coefficients.cols();
  const int64_t size = std::min(kRowBlock, Z.rows);
  Matrix<double> residuals(Z.rows, columns, context, kLeftOut);
  const Matrix<double> centered_rows(size, D, context, kLeftOut), basis(size, D, context, kLeftOut);
  const Matrix<double> fitted(size, columns, context, kLeftOut),
      leverage(size, L, context, kLeftOut);
  const double of_intercept = static_cast<double>(centered_) / weight();
  Stage stage(context, Z.rows);
  for (int64_t first = 0; first < Z.rows; first += size) {
    const MatrixView<const double> rows = Z.block_rows(first, std::min(first + size, Z.rows));
    const MatrixView<double> U = basis.view().block_rows(0, rows.rows);
    const MatrixView<double> centered = centered_rows.view().block_rows(0, rows.rows);
    copy_rows(rows, centered);
    linalg::subtract_from_rows(means_.row.features, centered);
    linalg::multiply(1.0, kPlain, centered, kTransposed, vectors(), 0.0, U);
    linalg::multiply(1.0, kPlain, U, kPlain, factors.coefficients.view(), 0.0,
                     fitted.view().block_rows(0, rows.rows));
    square(U);
    linalg::multiply(1.0, kPlain, U, kPlain, factors.inverses.view(), 0.0,
                     leverage.view().block_rows(0, rows.rows));
    for (int64_t i = 0; i < rows.rows; ++i) {
      const double weight = block.weight(first + i);
      for (int64_t j = 0; j < columns; ++j) {
        const double left = 1 - weight * of_intercept - weight * leverage(i, j / factors.each);
        residuals(first + i, j) =
            left > kInterpolates ? (targets(first + i, j) - fitted(i, j)) / left : kInfinity;
      }
    }
    stage.advance(rows.rows);
    context.checkpoint();
  }
  return residuals;
}

Matrix<double> PrimalSystem::leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                                           Context& context) const {
  require_training_block(*this, block.Z, block.Y);
  const std::vector<double>& mean = means_.row.outputs;
  const auto target = [&, m = outputs()](int64_t i, int64_t j) {
    return block.Y(i, j % m) - mean[j % m];
  };
  return left_out(prepare_left_out(lambdas, context), block, target, context);
}

Matrix<double> PrimalSystem::leave_one_out(const Combination& of, const WideBlock& block,
                                           Context& context) const {
  require_training_block(*this, block.Z, block.Y);
  const LeftOut factors{inverses(of, context), filtered(of, context), 1};
  const Matrix<double> T(block.Y.rows, of.M.cols, context, kLeftOut);
  const std::vector<double> mean = combined(means_.row.outputs, of.M);
  linalg::multiply(1.0, kPlain, block.Y, kPlain, of.M, 0.0, T.view());
  const auto target = [&](int64_t i, int64_t j) { return T(i, j) - mean[j]; };
  return left_out(factors, block, target, context);
}

// One lambda by a Cholesky factor.

RidgeFactor::RidgeFactor(RowStatistics&& statistics, bool center, double lambda, Context& context)
    : statistics_(std::move(statistics)), center_(center), lambda_(lambda) {
  statistics_.release_scratch();
  require_rows(statistics_, "ridge_cholesky");
  shift_ = checked_shift(lambda, statistics_.weight());
  means_ = center_in_place(statistics_, center);
  const MatrixView<double> gram = statistics_.parts().gram;
  for (int64_t i = 0; i < gram.rows; ++i) gram(i, i) += shift_;
  jittered_cholesky(gram, context);
}

Weights RidgeFactor::weights(Context& context) const {
  const MatrixView<const double> cross = statistics_.cross();
  Weights weights{Matrix<double>(cross.rows, cross.cols, context, "weights"), {}};
  std::copy_n(cross.data, cross.rows * cross.cols, weights.w.data());
  linalg::cholesky_solve(factor(), weights.w.view());
  weights.intercept = intercepts(means_.row, weights.w.view());
  return weights;
}

double RidgeFactor::effective_dimension(Context& context) const {
  const auto D = static_cast<double>(statistics_.features());
  return (D - shift_ * inverse_trace(factor(), context)) /
             static_cast<double>(statistics_.multiplicity()) +
         (center_ ? 1.0 : 0.0);
}

Solution RidgeFactor::solution(double lambda, Want want, Context& context) const {
  require_own(lambda);
  return {weights(context), want == Want::dimension ? effective_dimension(context) : kNaN};
}

void RidgeFactor::require_own(double lambda) const {
  require(lambda == lambda_, MERCER_INTERNAL, "a factor of lambda = %g asked for lambda = %g",
          lambda_, lambda);
}

Solution RidgeFactor::solve_leaving_out(const BlockSource& rows, double lambda, Context& context,
                                        const LeftOutRow& body) {
  Solution own = solution(lambda, Want::dimension, context);
  for_each_wide(rows, context, [&](const WideBlock& block) {
    const Matrix<double> residuals = leave_one_out(own.weights, block, context);
    for (int64_t i = 0; i < block.Z.rows; ++i)
      body(block.first + i, block.Y.row(i), block.weight(i), residuals.view().row(i));
  });
  return own;
}

Matrix<double> RidgeFactor::leave_one_out(const Weights& weights, const WideBlock& block,
                                          Context& context) const {
  const MatrixView<const double> Z = block.Z, Y = block.Y;
  Matrix<double> residuals(Z.rows, Y.cols, context, kLeftOut);
  for (int64_t i = 0; i < Z.rows; ++i)
    for (int64_t o = 0; o < Y.cols; ++o) residuals(i, o) = Y(i, o) - weights.intercept[o];
  linalg::multiply(-1.0, kPlain, Z, kPlain, weights.w.view(), 1.0, residuals.view());
  const int64_t size = std::min(kCenteredRows, Z.rows);
  const double of_intercept = center_ ? 1 / statistics_.weight() : 0.0;
  const Matrix<double> centered(size, Z.cols, context, kLeftOut);
  for (int64_t first = 0; first < Z.rows; first += size) {
    const int64_t count = std::min(size, Z.rows - first);
    const MatrixView<double> rows = centered.view().block_rows(0, count);
    copy_rows(Z.block_rows(first, first + count), rows);
    if (center_) linalg::subtract_from_rows(means_.row.features, rows);
    const Matrix<double> solved(Z.cols, count, context, kLeftOut);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < Z.cols; ++j) solved(j, i) = rows(i, j);
    linalg::triangular_solve(factor(), solved.view());
    std::vector<double> leverage(count, 0.0);
    for (int64_t j = 0; j < solved.rows(); ++j)
      for (int64_t i = 0; i < count; ++i) leverage[i] += solved(j, i) * solved(j, i);
    for (int64_t i = 0; i < count; ++i) {
      const double left = 1 - block.weight(first + i) * (of_intercept + leverage[i]);
      for (int64_t o = 0; o < Y.cols; ++o)
        residuals(first + i, o) = left > kInterpolates ? residuals(first + i, o) / left : kInfinity;
    }
    context.checkpoint();
  }
  return residuals;
}

Weights ridge_cholesky(RowStatistics&& statistics, bool center, double lambda, Context& context) {
  if (lambda == 0) return PrimalSystem(std::move(statistics), center, context).solve(lambda);
  return RidgeFactor(std::move(statistics), center, lambda, context).weights(context);
}

// sum (y - c - w'z)^2 = sum y^2 - 2 w'Z'y + w'Z'Z w + 2 c (w'sum z - sum y) + n c^2, from
// statistics alone, all about their origin: c = intercept - b + w'a there.

std::vector<double> mean_squared_error(const Weights& weights, const RowStatistics& statistics) {
  const int64_t D = statistics.features(), m = statistics.outputs();
  require(weights.w.rows() == D && weights.w.cols() == m &&
              static_cast<int64_t>(weights.intercept.size()) == m,
          MERCER_DIMENSION_MISMATCH,
          "weights are %ld x %ld, expected %ld features x %ld outputs of the statistics",
          weights.w.rows(), weights.w.cols(), D, m);
  require_rows(statistics, "rows to measure the error on");
  statistics.require_finite();
  // T = G w - 2 Z'y: then the quadratic and the linear term are one product w'T.
  const Matrix<double> T(D, m);
  for (int64_t i = 0; i < D; ++i)
    for (int64_t j = 0; j < m; ++j) T(i, j) = -2 * statistics.cross()(i, j);
  linalg::multiply_symmetric(1.0, statistics.gram(), weights.w.view(), T.view());

  std::vector<double> constant = weights.intercept;
  for (std::size_t j = 0; j < constant.size(); ++j) constant[j] -= statistics.origin_outputs()[j];
  for (int64_t i = 0; i < D; ++i)
    for (int64_t j = 0; j < m; ++j)
      constant[j] += weights.w(i, j) * statistics.origin_features()[i];
  const double n = statistics.weight();
  std::vector<double> error(m);
  for (std::size_t j = 0; j < error.size(); ++j) {
    const double c = constant[j];
    error[j] = statistics.sum_squared_outputs()[j] + c * (n * c - 2 * statistics.sum_outputs()[j]);
  }
  for (int64_t i = 0; i < D; ++i) {
    const double sum = statistics.sum_features()[i];
    for (int64_t j = 0; j < m; ++j) {
      const auto output = static_cast<std::size_t>(j);
      error[output] += weights.w(i, j) * (T(i, j) + 2 * constant[output] * sum);
    }
  }
  for (double& value : error) value = value < 0 ? 0.0 : value / n;  // NaN stays
  return error;
}

// Statistics about their mean, or about zero.

Means center_in_place(RowStatistics& statistics, bool center) {
  statistics.require_finite();
  Means means{MeanRow{std::vector<double>(statistics.sum_features().size(), 0.0),
                      std::vector<double>(statistics.sum_outputs().size(), 0.0)},
              0};
  if (center) {
    for (const double m : mean_about_origin(statistics).features) means.distance += m * m;
    means.row = mean_of(statistics);
  }
  move_origin(statistics, means.row);
  for (double& squares : statistics.parts().sum_squared_outputs)
    squares = squares < 0 ? 0.0 : squares;  // NaN stays
  if (statistics.is_complex()) add_imaginary_parts(statistics.parts().gram);
  return means;
}

// LAPACK does not touch the other triangle, which keeps a copy of the matrix between attempts.

void jittered_cholesky(MatrixView<double> A, Context& context) {
  const int64_t n = A.rows;
  Stage stage(context, 1);  // ignores further attempts, which are rare
  std::vector<double> diagonal(n);
  double mean = 0;
  for (int64_t i = 0; i < n; ++i) {
    diagonal[i] = A(i, i);
    mean += A(i, i) / static_cast<double>(n);
  }
  linalg::copy_triangle(linalg::Triangle::lower, A);
  int64_t pivot = linalg::cholesky(A, context);
  require(std::isfinite(mean), MERCER_NOT_POSITIVE_DEFINITE,
          "pivot %ld of %ld is not finite: the matrix holds NaN or Inf", pivot, n);
  double jitter = kFirstJitter * mean;
  for (int attempt = 0; pivot != 0 && attempt < kAttempts; ++attempt, jitter *= 10) {
    context.checkpoint();
    linalg::copy_triangle(linalg::Triangle::upper, A);
    for (int64_t i = 0; i < n; ++i) A(i, i) = diagonal[i] + jitter;
    pivot = linalg::cholesky(A, context);
  }
  stage.advance(1);
  context.checkpoint();
  require(pivot == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "pivot %ld of %ld is not positive, not even with 1e-9 of the mean diagonal, %g, added",
          pivot, n, mean);
}

// |L^{-1}|^2 by columns; those from j0 on are zero above row j0.
double exact_inverse_trace(MatrixView<const double> L, Context& context) {
  double sum = 0;
  for (int64_t j0 = 0; j0 < L.rows; j0 += kExact) {
    context.checkpoint();
    const int64_t rows = L.rows - j0, columns = std::min(kExact, rows);
    const Matrix<double> V(rows, columns, context, "columns of an inverse");
    V.fill(0);
    for (int64_t j = 0; j < columns; ++j) V(j, j) = 1;
    linalg::triangular_solve(L.block_rows(j0, L.rows).block_cols(j0, L.rows), V.view());
    for (int64_t k = 0; k < rows * columns; ++k) sum += V.data()[k] * V.data()[k];
  }
  return sum;
}

double inverse_trace(MatrixView<const double> L, Context& context) {
  if (L.rows <= kExact) return exact_inverse_trace(L, context);
  const Matrix<double> V(L.rows, kProbes, context, "the probes of a trace");
  const random::Stream stream(0, random::Tag::probe, 0);
  random::fill_rademacher(stream, 0, {V.data(), static_cast<std::size_t>(L.rows * kProbes)});
  linalg::triangular_solve(L, V.view());
  double sum = 0;
  for (int64_t i = 0; i < L.rows * kProbes; ++i) sum += V.data()[i] * V.data()[i];
  return sum / kProbes;
}

}  // namespace mercer::solver
