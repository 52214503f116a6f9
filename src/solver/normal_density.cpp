// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/normal_density.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/blas.h"

namespace mercer::solver {
namespace {

// Of a variance: what is left of it beside the variables before.
constexpr double kLeastVarianceLeft = 1e-12;

/// L of a covariance, in its place.
Matrix<double> factor_of(Matrix<double> covariance, bool diagonal) {
  const int64_t d = covariance.rows();
  std::vector<double> variances(d);
  for (int64_t j = 0; j < d; ++j) {
    variances[j] = covariance(j, j);
    require(variances[j] > 0, MERCER_INVALID_ARGUMENT,
            "input %ld is constant, expected one that varies, or base = none", j);
    for (int64_t k = 0; k < d; ++k)
      if (k > j || (diagonal && k < j)) covariance(j, k) = 0;
  }
  const int64_t pivot = linalg::cholesky(covariance.view());
  for (int64_t j = 0; j < d; ++j) {
    const double left = covariance(j, j) * covariance(j, j);
    require((pivot == 0 || j < pivot - 1) && left > kLeastVarianceLeft * variances[j],
            MERCER_INVALID_ARGUMENT,
            "input %ld is a linear combination of those before it in every row, expected it left "
            "out, base = diagonal or base = none",
            j);
  }
  return covariance;
}

}  // namespace

NormalDensity::NormalDensity(std::vector<double> mean, Matrix<double> covariance, bool diagonal)
    : NormalDensity(std::move(mean), factor_of(std::move(covariance), diagonal)) {}

NormalDensity::NormalDensity(std::vector<double> mean, Matrix<double> factor)
    : mean_(std::move(mean)),
      factor_(std::move(factor)),
      precision_(inputs(), inputs()),
      log_scale_(0.5 * static_cast<double>(inputs()) * std::log(2 * std::numbers::pi)) {
  const int64_t d = inputs();
  std::copy_n(factor_.data(), d * d, precision_.data());
  linalg::cholesky_inverse(precision_.view());
  for (int64_t j = 0; j < d; ++j) {
    log_scale_ += std::log(factor_(j, j));
    for (int64_t k = 0; k < j; ++k) precision_(k, j) = precision_(j, k);
  }
}

NormalDensity NormalDensity::of(std::span<const double> numbers, int64_t inputs) {
  const int64_t count = std::ssize(numbers);
  require(inputs >= 1 && count % inputs == 0 && count / inputs == inputs + 1,
          MERCER_INVALID_ARGUMENT, "a normal density of %ld numbers, expected %ld x %ld", count,
          inputs, inputs + 1);
  require_finite(numbers, "a normal density");
  Matrix<double> factor(inputs, inputs);
  std::copy(numbers.begin() + inputs, numbers.end(), factor.data());
  for (int64_t j = 0; j < inputs; ++j) {
    const double* const row = factor.view().row(j);
    require(row[j] > 0 && std::all_of(row + j + 1, row + inputs, [](double x) { return x == 0; }),
            MERCER_INVALID_ARGUMENT,
            "a normal density whose factor has %g on its diagonal or numbers above it, expected a "
            "triangle with positive numbers there",
            row[j]);
  }
  return {{numbers.begin(), numbers.begin() + inputs}, std::move(factor)};
}

double NormalDensity::log_density(const double* x) const noexcept {
  double sum = 0;
  for (int64_t k = 0; k < inputs(); ++k) sum += slope(k, x) * (x[k] - mean_[k]);
  return 0.5 * sum - log_scale_;
}

double NormalDensity::slope(int64_t k, const double* x) const noexcept {
  const double* const row = precision_.view().row(k);
  double sum = 0;
  for (int64_t j = 0; j < inputs(); ++j) sum -= row[j] * (x[j] - mean_[j]);
  return sum;
}

void NormalDensity::from_standard(double* z) const noexcept {
  for (int64_t j = inputs() - 1; j >= 0; --j) {
    double sum = mean_[j];
    for (int64_t k = 0; k <= j; ++k) sum += factor_(j, k) * z[k];
    z[j] = sum;
  }
}

std::vector<double> NormalDensity::numbers() const {
  std::vector<double> numbers = mean_;
  numbers.insert(numbers.end(), factor_.data(), factor_.data() + inputs() * inputs());
  return numbers;
}

}  // namespace mercer::solver
