// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Expectations of the logistic function sigma(f) for normal f.
#pragma once

namespace mercer::solver {

/// E log(1 + e^f), E sigma(f) and E sigma'(f) for f ~ N(mean, variance), variance >= 0.
struct LogisticNormal {
  double softplus, mean, slope;
};

/// Each within 1e-5, 1e-7 and 1e-7, and exactly the first's derivatives: by the mean, and twice
/// that by the variance.
LogisticNormal logistic_normal(double mean, double variance) noexcept;

}  // namespace mercer::solver
