// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How far the estimated kernel matrix of many rows is from the kernel's, with confidence, without
// forming either.
#pragma once

#include <cstdint>

#include "feature/feature_map.h"
#include "statistic/mean_bounds.h"

namespace mercer::statistic {

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
