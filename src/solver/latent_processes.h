// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian processes on features that are independent of each other, one for each class, as
// classifiers have them: f(x) = z(x)'w + intercept, with the variance
//   |L^{-1}(z(x) - mean)|^2 + share,
// L L' the precision of w about the intercept at `mean`.
#pragma once

#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

struct LatentProcess {
  Matrix<double> factor;            // L, lower
  std::vector<double> mean;         // of the features
  Matrix<double> w;                 // D x 1
  double intercept = 0, share = 0;  // share: the intercept's variance
  double precision = 0;             // of the prior of w; 0: unknown, as after loading

  /// Posterior mean and variance of f at rows of Z: rows x 1 each. O(rows D^2).
  void moments(MatrixView<const double> Z, MatrixView<double> f, MatrixView<double> variance) const;
};

/// That of rows of noise variance 1 over their weight and one target, of weights' prior precision
/// and, if `center`, a flat prior of the intercept. Errors: as ridge_cholesky.
LatentProcess latent_process(RowStatistics&& rows, bool center, double precision, Context& context);

/// That of features from one of coordinates c, where rows that it has seen have features R c with
/// orthonormal columns of R: beside these the weights keep their prior. O(D^2 r + D^3).
LatentProcess lifted(const LatentProcess& process, MatrixView<const double> R, Context& context);

class LatentProcesses {
 public:
  explicit LatentProcesses(std::vector<LatentProcess> all) : all_(std::move(all)) {}
  /// From numbers(); INVALID_ARGUMENT unless their count fits.
  LatentProcesses(std::span<const double> numbers, int64_t features, int64_t count);

  int64_t count() const noexcept { return std::ssize(all_); }
  int64_t features() const noexcept { return all_[0].w.rows(); }
  /// Of every process: rows x count() each.
  void moments(MatrixView<const double> Z, MatrixView<double> f, MatrixView<double> variance) const;
  /// As Posterior's, over the processes of known precision; NaN without one.
  double share_of_prior(MatrixView<const double> Z) const;
  /// For each process: L by rows, the features' means, coefficients, intercept and its variance.
  std::vector<double> numbers() const;

 private:
  std::vector<LatentProcess> all_;
};

}  // namespace mercer::solver
