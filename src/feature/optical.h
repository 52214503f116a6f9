// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The variance of optical features.
#pragma once

#include <cstdint>

namespace mercer::feature {

/// Variance of 1/D sum_j |u_j'x|^m |u_j'y|^m with i.i.d. columns: (k_{2m} - k_m^2)/D with the
/// optical kernels k; dot = x'y, N = ||x||^2 ||y||^2.
double optical_variance(int64_t exponent, double dot, double N, int64_t D) noexcept;

}  // namespace mercer::feature
