// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How far an approximate Gram matrix is from the exact one, and how far the Gram
// matrix of a map's features is from that of its kernel.
#pragma once

#include <cstdint>
#include <span>

#include "base/context.h"
#include "base/views.h"
#include "feature/feature_map.h"

namespace mercer::statistic {

struct KernelError {
  double relative_frobenius;  // ||approximate - exact||_F / ||exact||_F
  double largest;             // max |approximate - exact|
};

/// NaN in either matrix gives NaN. Errors: DIMENSION_MISMATCH (shapes differ), INVALID_ARGUMENT
/// (empty, or exact is zero).
KernelError kernel_error(MatrixView<const double> approximate, MatrixView<const double> exact);

/// ||Re ZZ^H - K||_F / ||K||_F on the rows of X, dense or sparse doubles. Features are computed
/// kErrorColumns at a time: at most 8 n (2 n + kErrorColumns) bytes, charged. Calls BLAS, so from
/// the calling thread only. Errors: INVALID_ARGUMENT (no rows, a kernel that is 0 on all pairs, an
/// error that is not finite).
inline constexpr int64_t kErrorColumns = 4096;
double measured_error(const feature::FeatureMap& map, const Rows& X, Context& context);

// The kernel error that closed-form variances predict for a map.

/// sqrt(E ||K^ - K||_F^2) / ||K||_F over all n^2 pairs of rows of X, from the map's variance and
/// bias. Errors: UNSUPPORTED (a map without a closed form), INVALID_ARGUMENT (a Gram matrix of
/// zeros).
double predicted_error(const feature::FeatureMap& map, MatrixView<const double> X,
                       Context& context);

// How far the estimated kernel matrix of many rows is from the kernel's, with confidence, and the
// bounds of means on which that is based.

// Confidence bounds of a mean and of a quotient of means from independent draws, whose skewness is
// corrected (Hall, "On the removal of skewness by transformation", JRSS B 1992).

struct Bounds {
  double low = 0, high = 0;
};

/// Each bound of the mean holds with probability 1 - alpha, to first order in 1/n; n >= 2 draws.
Bounds mean_bounds(std::span<const double> draws, double alpha);

/// Both together bound mean(numerators) / mean(denominators), of numbers >= 0 drawn in pairs, with
/// probability 1 - alpha: all quotients q for which the mean of numerator - q denominator may be 0
/// (Fieller 1954). high is infinite where the draws do not bound it.
Bounds quotient_bounds(std::span<const double> numerators, std::span<const double> denominators,
                       double alpha);

// How far the estimated kernel matrix of many rows is from the kernel's, with confidence, without
// forming either.

struct CertificateRequest {
  double alpha = 0.05;  // each interval misses with at most this probability, nearly
  int64_t rows = 256;   // drawn
  uint64_t seed = 0;
};

/// A = K^ - K, K the kernel matrix of the rows and K^ its estimate.
struct KernelCertificate {
  bool exact = false;        // all rows were looked at: bounds are equal
  double relative = 0;       // ||A||_F / ||K||_F, estimated
  Bounds frobenius;          // of it
  Bounds spectral;           // of ||A||_2
  Bounds relative_spectral;  // of ||A||_2 / ||K||_2
};

/// Memory: (rows + some hundred) times the row length and rows numbers; time: 2 n features and
/// n rows values of the kernel, n rows (D + 2 rows) multiply-adds. Calls BLAS. Errors: UNSUPPORTED
/// (several outputs, columns of kernel values), INVALID_ARGUMENT (fewer than two rows, a kernel
/// that is 0, a result that is not finite).
KernelCertificate certify(const feature::FeatureMap& map, MatrixView<const double> X,
                          const CertificateRequest& request, Context& context);

}  // namespace mercer::statistic
