// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge for every lambda from one eigendecomposition Z'Z = V diag(s) V': with c = V'Z'Y,
//   w = V diag(1/(s + n lambda)) c,   Tr H = sum s/(s + n lambda),
//   RSS = |Y outside the column space|^2 + sum (c^2/s) (n lambda/(s + n lambda))^2.
// Hoerl and Kennard 1970; generalised cross-validation: Golub, Heath, Wahba 1979, eq. 2.3.
#include "solver/ridge.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "solver/row_weights.h"

namespace mercer::solver {
namespace {

// Below this share of residual degrees RSS is rounding error, and their square divides it: 1e-8 is

}  // namespace

double RidgePath::State::residual_degrees(double shift) const {
  double degrees = statistics.weight() - static_cast<double>(centered + features());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double inverse_i = inverse(i, shift);
    degrees += inverse_i == 0 ? 1.0 : shift * inverse_i;
  }
  return degrees;
}

std::vector<double> RidgePath::State::residual_sum_of_squares(double shift) const {
  std::vector<double> rss = outside;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double s = values[i], inverse_i = inverse(i, shift);
    // A null direction was not subtracted from `outside`; it explains 2 w'c - s w^2.
    const double factor = s > null_level ? (shift * inverse_i) * (shift * inverse_i) / s
                                         : -inverse_i * (2 - s * inverse_i);
    const double* c = projected.view().row(static_cast<int64_t>(i));
    for (std::size_t j = 0; j < rss.size(); ++j) rss[j] += factor * c[j] * c[j];
  }
  for (double& value : rss) value = value < 0 ? 0.0 : value;  // NaN stays
  return rss;
}

RidgePath::RidgePath(RowStatistics&& statistics, bool center, Context& context) {
  require_rows(statistics, "ridge");
  RowStatistics taken = std::move(statistics);
  taken.release_scratch();
  const int64_t D = taken.features(), m = taken.outputs();
  Means means = center_in_place(taken, center);
  state_ = std::make_unique<State>(
      State{std::move(taken), std::move(means), center ? 1 : 0, std::vector<double>(D)});
  State& state = *state_;
  linalg::symmetric_eigen(state.statistics.parts().gram, state.values, context);

  // Eigenvalues beyond the rank that n rows allow, and negative ones, are rounding errors.
  const int64_t rank = state.statistics.multiplicity() * (state.statistics.rows() - state.centered);
  for (int64_t i = 0; i < D; ++i) {
    double& value = state.values[i];
    value = i < D - rank ? 0.0 : std::max(0.0, value);
  }
  // Centring subtracted n times the distance and left its rounding errors.
  const double scale = state.values.back() + state.statistics.weight() * state.means.distance;
  state.null_level = kEpsilon * static_cast<double>(D) * scale;

  state.projected = Matrix<double>(D, m, context, "targets among eigenvectors");
  linalg::multiply(1.0, linalg::Transpose::no, state.vectors(), linalg::Transpose::no,
                   state.statistics.cross(), 0.0, state.projected.view());
  const auto squares = state.statistics.sum_squared_outputs();
  state.outside.assign(squares.begin(), squares.end());
  for (int64_t i = 0; i < D; ++i) {
    const double s = state.values[i];
    for (int64_t j = 0; s > state.null_level && j < m; ++j)
      state.outside[j] -=
          state.projected(i, j) / s * state.projected(i, j);  // c^2 alone could overflow
  }
  for (double& value : state.outside) value = value < 0 ? 0.0 : value;
}

int64_t RidgePath::least_bytes(int64_t features, int64_t outputs, int64_t held) {
  constexpr const char* kWhat = "the statistics and their eigenvectors";
  const int64_t gram = checked_multiply(checked_multiply(8, features, kWhat), features, kWhat);
  const int64_t each =
      checked_add(gram, RowStatistics::bytes_beside_gram(features, outputs), kWhat);
  return checked_add(checked_multiply(held, each, kWhat), gram, kWhat);
}

RidgePath::~RidgePath() = default;
RidgePath::RidgePath(RidgePath&&) noexcept = default;

int64_t RidgePath::features() const noexcept { return state_->features(); }
int64_t RidgePath::outputs() const noexcept { return state_->outputs(); }
int64_t RidgePath::rows() const noexcept { return state_->statistics.rows(); }
double RidgePath::weight() const noexcept { return state_->statistics.weight(); }
std::span<const double> RidgePath::eigenvalues() const noexcept { return state_->values; }

Weights RidgePath::solve(double lambda) const {
  const double shift = checked_shift(lambda, weight());
  const int64_t D = features(), m = outputs();
  const Matrix<double> filtered(D, m);
  for (int64_t i = 0; i < D; ++i)
    for (int64_t j = 0; j < m; ++j)
      filtered(i, j) =
          state_->inverse(static_cast<std::size_t>(i), shift) * state_->projected(i, j);
  Weights weights{Matrix<double>(D, m), {}};
  linalg::multiply(1.0, linalg::Transpose::yes, state_->vectors(), linalg::Transpose::no,
                   filtered.view(), 0.0, weights.w.view());
  weights.intercept = intercepts(state_->means.row, weights.w.view());
  return weights;
}

double RidgePath::effective_dimension(double lambda) const {
  const double shift = checked_shift(lambda, weight());
  double trace = 0;
  for (std::size_t i = 0; i < state_->values.size(); ++i)
    trace += state_->values[i] * state_->inverse(i, shift);
  return trace / static_cast<double>(state_->statistics.multiplicity()) +
         static_cast<double>(state_->centered);
}

std::vector<double> RidgePath::leverage(double lambda) const {
  const double shift = checked_shift(lambda, weight());
  std::vector<double> scores(features(), 0.0);
  for (std::size_t i = 0; i < state_->values.size(); ++i) {
    const double share = state_->values[i] * state_->inverse(i, shift);
    const double* const v = state_->vectors().row(static_cast<int64_t>(i));
    for (std::size_t j = 0; j < scores.size(); ++j) scores[j] += share * v[j] * v[j];
  }
  return scores;
}

std::vector<double> RidgePath::gcv(double lambda) const {
  const double shift = checked_shift(lambda, weight());
  const double n = weight(), degrees = state_->residual_degrees(shift);
  std::vector<double> score = state_->residual_sum_of_squares(shift);
  for (double& value : score)
    value = degrees <= kInterpolates * n ? kInfinity : value / degrees * (n / degrees);
  return score;
}

std::vector<double> RidgePath::evidence(double lambda, double noise) const {
  const double shift = checked_shift(lambda, weight());
  const double degrees = weight() - static_cast<double>(state_->centered);
  EvidenceSums sums(state_->outside, shift, degrees - static_cast<double>(features()));
  for (std::size_t i = 0; i < state_->values.size(); ++i) {
    const double s = state_->values[i];
    // A null direction was not subtracted from `outside`.
    sums.add(s, state_->projected.view().row(static_cast<int64_t>(i)), shift,
             s > state_->null_level ? 1 / (s * (s + shift)) : -state_->inverse(i, shift) / shift);
  }
  return sums.of(degrees, shift, noise);
}

std::vector<double> RidgePath::held_out_error(double lambda, const RowStatistics& held_out) const {
  return mean_squared_error(solve(lambda), held_out);
}

// Ridge solutions of linear combinations of the outputs, each at its own lambda, from one
// eigendecomposition: a coupling of outputs is diagonal in a suitable basis of outputs.

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

// Leave-one-out residuals in closed form, (y - yhat)_i / (1 - H_ii) (Allen 1974), exact for ridge
// regression with n lambda kept. In the eigenbasis U = (Z - mean) V:
//   H_ii = sum_j u_ij^2/(s_j + n lambda) (+ 1/n for the unpenalised intercept),   yhat = U
//   diag(1/(s + n lambda)) c + ybar.
// A row of weight w has w H_ii instead of H_ii.
// U does not depend on lambda, so a path costs one rows x D x D product and two thin ones.

namespace {

constexpr int64_t kRowBlock = 1024;
using linalg::kPlain;
constexpr const char* kLeftOut = "leave-one-out";

void square(MatrixView<double> U) {
  for (int64_t i = 0; i < U.rows; ++i)
    for (int64_t j = 0; j < U.cols; ++j) U(i, j) *= U(i, j);
}

void require_training_block(const RidgePath& path, MatrixView<const double> Z,
                            MatrixView<const double> Y) {
  require(Z.cols == path.features(), MERCER_DIMENSION_MISMATCH,
          "Z has %ld columns, expected features = %ld", Z.cols, path.features());
  require(Y.cols == path.outputs() && Y.rows == Z.rows, MERCER_DIMENSION_MISMATCH,
          "Y is %ld x %ld, expected %ld rows as in Z and outputs = %ld", Y.rows, Y.cols, Z.rows,
          path.outputs());
}

}  // namespace

/// Factors of the columns of residuals in the eigenbasis.
struct RidgePath::State::LeftOut {
  Matrix<double> inverses;      // 1/(s + n lambda): D x lambdas
  Matrix<double> coefficients;  // inverses times c: D x columns
  int64_t each;                 // adjacent columns that share a lambda
};

RidgePath::State::LeftOut RidgePath::State::prepare_left_out(std::span<const double> lambdas,
                                                             Context& context) const {
  const int64_t D = features(), m = outputs(), L = static_cast<int64_t>(lambdas.size());
  LeftOut factors{Matrix<double>(D, L, context, kLeftOut),
                  Matrix<double>(D, checked_multiply(L, m, kLeftOut), context, kLeftOut), m};
  for (int64_t l = 0; l < L; ++l) {
    const double shift = checked_shift(lambdas[l], statistics.weight());
    for (int64_t i = 0; i < D; ++i) {
      factors.inverses(i, l) = inverse(static_cast<std::size_t>(i), shift);
      for (int64_t j = 0; j < m; ++j)
        factors.coefficients(i, l * m + j) = factors.inverses(i, l) * projected(i, j);
    }
  }
  return factors;
}

/// targets: (row, column) -> the centred target.
template <class Targets>
Matrix<double> RidgePath::State::left_out(const LeftOut& factors, MatrixView<const double> Z,
                                          const Targets& targets, std::span<const double> weights,
                                          Context& context) const {
  require_weights(weights, Z.rows);
  const int64_t D = features(), L = factors.inverses.cols(), columns = factors.coefficients.cols();
  const int64_t block = std::min(kRowBlock, Z.rows);
  Matrix<double> residuals(Z.rows, columns, context, kLeftOut);
  const Matrix<double> centred_rows(block, D, context, kLeftOut),
      basis(block, D, context, kLeftOut);
  const Matrix<double> fitted(block, columns, context, kLeftOut),
      leverage(block, L, context, kLeftOut);
  const double of_intercept = static_cast<double>(centered) / statistics.weight();
  Stage stage(context, Z.rows);
  for (int64_t first = 0; first < Z.rows; first += block) {
    const MatrixView<const double> rows = Z.block_rows(first, std::min(first + block, Z.rows));
    const MatrixView<double> U = basis.view().block_rows(0, rows.rows);
    const MatrixView<double> centred = centred_rows.view().block_rows(0, rows.rows);
    for (int64_t i = 0; i < rows.rows; ++i) std::copy_n(rows.row(i), D, centred.row(i));
    linalg::subtract_from_rows(means.row.features, centred);
    linalg::multiply(1.0, kPlain, centred, linalg::Transpose::yes, vectors(), 0.0, U);
    linalg::multiply(1.0, kPlain, U, kPlain, factors.coefficients.view(), 0.0,
                     fitted.view().block_rows(0, rows.rows));
    square(U);
    linalg::multiply(1.0, kPlain, U, kPlain, factors.inverses.view(), 0.0,
                     leverage.view().block_rows(0, rows.rows));
    for (int64_t i = 0; i < rows.rows; ++i) {
      const double weight = weights.empty() ? 1.0 : weights[first + i];
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

Matrix<double> RidgePath::leave_one_out(double lambda, MatrixView<const double> Z,
                                        MatrixView<const double> Y, Context& context,
                                        std::span<const double> weights) const {
  return leave_one_out(std::span(&lambda, 1), Z, Y, context, weights);
}

Matrix<double> RidgePath::leave_one_out(std::span<const double> lambdas, MatrixView<const double> Z,
                                        MatrixView<const double> Y, Context& context,
                                        std::span<const double> weights) const {
  require_training_block(*this, Z, Y);
  const std::vector<double>& mean = state_->means.row.outputs;
  const auto target = [&, m = outputs()](int64_t i, int64_t j) {
    return Y(i, j % m) - mean[j % m];
  };
  return state_->left_out(state_->prepare_left_out(lambdas, context), Z, target, weights, context);
}

Matrix<double> RidgePath::leave_one_out(const Combination& of, MatrixView<const double> Z,
                                        MatrixView<const double> Y, Context& context,
                                        std::span<const double> weights) const {
  require_training_block(*this, Z, Y);
  State::LeftOut factors{state_->inverses(of, context), state_->filtered(of, context), 1};
  const Matrix<double> T(Y.rows, of.M.cols, context, kLeftOut);
  const std::vector<double> mean = combined(state_->means.row.outputs, of.M);
  linalg::multiply(1.0, kPlain, Y, kPlain, of.M, 0.0, T.view());
  const auto target = [&](int64_t i, int64_t j) { return T(i, j) - mean[j]; };
  return state_->left_out(factors, Z, target, weights, context);
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

// A geometric grid of lambdas; both ends are exact.

std::vector<double> lambda_grid(double largest, double smallest, int64_t count) {
  require(count >= 1, MERCER_INVALID_ARGUMENT, "count = %ld, expected at least 1", count);
  require(std::isfinite(largest) && smallest > 0 && smallest <= largest, MERCER_INVALID_ARGUMENT,
          "lambdas from %g to %g, expected finite largest >= smallest > 0", largest, smallest);
  std::vector<double> grid(count, smallest);
  const double span = std::log(smallest) - std::log(largest);
  for (int64_t i = 0; i + 1 < count; ++i)
    grid[i] = std::exp(std::log(largest) +
                       span * static_cast<double>(i) / static_cast<double>(count - 1));
  grid[0] = largest;
  return grid;
}

// Statistics about their mean, or about zero.

namespace {

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

std::vector<double> intercepts(const MeanRow& mean, MatrixView<const double> w) {
  std::vector<double> result = mean.outputs;
  for (int64_t i = 0; i < w.rows; ++i)
    for (int64_t j = 0; j < w.cols; ++j) result[j] -= mean.features[i] * w(i, j);
  return result;
}

double checked_shift(double lambda, double n) {
  require(std::isfinite(lambda) && lambda >= 0, MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected a finite number >= 0", lambda);
  const double shift = lambda * n;
  require(std::isfinite(shift), MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected n lambda to be finite for n = %.17g rows", lambda, n);
  return shift;
}

void require_rows(int64_t rows, const char* what) {
  require(rows >= 1, MERCER_INVALID_ARGUMENT, "%s: %ld rows, expected at least 1", what, rows);
}

void require_rows(const RowStatistics& statistics, const char* what) {
  require_rows(statistics.rows(), what);
  require(statistics.weight() > 0, MERCER_INVALID_ARGUMENT,
          "%s: the weights of %ld rows sum to %g, expected a positive number", what,
          statistics.rows(), statistics.weight());
}

}  // namespace mercer::solver
