// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Closed-form variances of maps of one function of normal projections, D i.i.d. columns, kernels of
// variance 1.
#pragma once

#include <cstdint>

#include "kernel/angle.h"

namespace mercer::moment {

/// Variance of 2/D sum_j (w_j'x)_+^n (w_j'y)_+^n, n = 0, 1 or 2: (2 k_{2n} - k_n^2)/D with the
/// arc-cosine kernels k.
double arc_cosine_variance(int64_t order, const kernel::Angle& angle, int64_t D) noexcept;
/// Variance of 1/D sum_j sign(w_j'x) sign(w_j'y): (1 - k^2)/D.
double sign_variance(const kernel::Angle& angle, int64_t D) noexcept;

}  // namespace mercer::moment
