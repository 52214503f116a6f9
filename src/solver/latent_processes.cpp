// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/latent_processes.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "linalg/blas.h"
#include "solver/jittered_cholesky.h"
#include "solver/ridge_factor.h"

namespace mercer::solver {
namespace {

constexpr int64_t kSolvedRows = 256;  // per block of a triangular solve
constexpr const char* kPosteriors = "posteriors of classes";

}  // namespace

LatentProcess latent_process(RowStatistics&& rows, bool center, double precision,
                             Context& context) {
  const int64_t D = rows.features();
  const double weight = rows.weight();
  RidgeFactor factor(std::move(rows), center, precision / weight, context);
  Weights weights = factor.weights(context);
  LatentProcess process{Matrix<double>(D, D, context, kPosteriors),
                        factor.means().row.features,
                        std::move(weights.w),
                        weights.intercept[0],
                        center ? 1 / weight : 0,
                        precision};
  for (int64_t i = 0; i < D; ++i)
    std::copy_n(factor.factor().row(i), i + 1, process.factor.view().row(i));
  return process;
}

/// The precision is R L L'R' + precision (I - R R').
LatentProcess lifted(const LatentProcess& process, MatrixView<const double> R, Context& context) {
  const int64_t D = R.rows, r = R.cols;
  using enum linalg::Transpose;
  LatentProcess all{Matrix<double>(D, D, context, kPosteriors),
                    std::vector<double>(D, 0.0),
                    Matrix<double>(D, 1, context, kPosteriors),
                    process.intercept,
                    process.share,
                    process.precision};
  const Matrix<double> L(r, r, context, kPosteriors), RL(D, r, context, kPosteriors);
  L.fill(0);
  for (int64_t i = 0; i < r; ++i) std::copy_n(process.factor.view().row(i), i + 1, L.view().row(i));
  linalg::multiply(1.0, no, R, no, L.view(), 0.0, RL.view());
  all.factor.fill(0);
  for (int64_t j = 0; j < D; ++j) all.factor(j, j) = process.precision;
  linalg::rank_update_rows(-process.precision, R, all.factor.view());
  linalg::rank_update_rows(1, RL.view(), all.factor.view());
  jittered_cholesky(all.factor.view(), context);
  const MatrixView<const double> mean(process.mean.data(), r, 1);
  linalg::multiply(1.0, no, R, no, mean, 0.0, {all.mean.data(), D, 1});
  linalg::multiply(1.0, no, R, no, process.w.view(), 0.0, all.w.view());
  return all;
}

void LatentProcess::moments(MatrixView<const double> Z, MatrixView<double> f,
                            MatrixView<double> variance) const {
  const int64_t D = w.rows();
  for (int64_t first = 0; first < Z.rows; first += kSolvedRows) {
    const int64_t rows = std::min(kSolvedRows, Z.rows - first);
    const Matrix<double> V(D, rows);
    for (int64_t i = 0; i < rows; ++i) {
      double sum = intercept;
      const double* z = Z.row(first + i);
      for (int64_t j = 0; j < D; ++j) {
        sum += z[j] * w(j, 0);
        V(j, i) = z[j] - mean[j];
      }
      f(first + i, 0) = sum;
      variance(first + i, 0) = share;
    }
    linalg::triangular_solve(factor.view(), V.view());
    for (int64_t j = 0; j < D; ++j)
      for (int64_t i = 0; i < rows; ++i) variance(first + i, 0) += V(j, i) * V(j, i);
  }
}

void LatentProcesses::moments(MatrixView<const double> Z, MatrixView<double> f,
                              MatrixView<double> variance) const {
  for (int64_t k = 0; k < count(); ++k)
    all_[k].moments(Z, f.block_cols(k, k + 1), variance.block_cols(k, k + 1));
}

double LatentProcesses::share_of_prior(MatrixView<const double> Z) const {
  const Matrix<double> f(Z.rows, 1), variance(Z.rows, 1);
  double left = 0, prior = 0;
  for (const LatentProcess& one : all_) {
    if (one.precision == 0) continue;
    one.moments(Z, f.view(), variance.view());
    for (int64_t i = 0; i < Z.rows; ++i) {
      left += variance(i, 0) - one.share;
      for (int64_t j = 0; j < Z.cols; ++j)
        prior += std::pow(Z(i, j) - one.mean[j], 2) / one.precision;
    }
  }
  return left / prior;
}

std::vector<double> LatentProcesses::numbers() const {
  std::vector<double> all;
  for (const LatentProcess& one : all_) {
    for (int64_t i = 0; i < features(); ++i)
      all.insert(all.end(), one.factor.view().row(i), one.factor.view().row(i) + i + 1);
    all.insert(all.end(), one.mean.begin(), one.mean.end());
    all.insert(all.end(), one.w.data(), one.w.data() + features());
    all.insert(all.end(), {one.intercept, one.share});
  }
  return all;
}

LatentProcesses::LatentProcesses(std::span<const double> numbers, int64_t features, int64_t count) {
  const double each = static_cast<double>(features) * (static_cast<double>(features) + 5) / 2 + 2;
  require(static_cast<double>(numbers.size()) == each * static_cast<double>(count) &&
              std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }),
          MERCER_INVALID_ARGUMENT,
          "posteriors of classes have %zu numbers, expected %.0f finite ones", numbers.size(),
          each * static_cast<double>(count));
  const double* from = numbers.data();
  const auto next = [&](int64_t many, double* to) {
    std::copy_n(from, many, to);
    from += many;
  };
  for (int64_t k = 0; k < count; ++k) {
    LatentProcess one{Matrix<double>(features, features), std::vector<double>(features),
                      Matrix<double>(features, 1)};
    for (int64_t i = 0; i < features; ++i) {
      next(i + 1, one.factor.view().row(i));
      require(one.factor(i, i) > 0, MERCER_INVALID_ARGUMENT,
              "posteriors of classes: a pivot of %g, expected one above 0", one.factor(i, i));
    }
    next(features, one.mean.data());
    next(features, one.w.data());
    next(1, &one.intercept);
    next(1, &one.share);
    all_.push_back(std::move(one));
  }
}

}  // namespace mercer::solver
