// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge for every lambda from one eigendecomposition Z'Z = V diag(s) V': with c = V'Z'Y,
//   w = V diag(1/(s + n lambda)) c,   Tr H = sum s/(s + n lambda),
//   RSS = |Y outside the column space|^2 + sum (c^2/s) (n lambda/(s + n lambda))^2.
// Hoerl and Kennard 1970; generalised cross-validation: Golub, Heath, Wahba 1979, eq. 2.3.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "solver/evidence.h"
#include "solver/ridge_state.h"

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

}  // namespace mercer::solver
