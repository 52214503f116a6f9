// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Moments of powers of the positive part of normal variates: the arc-cosine kernels.
#pragma once

#include "kernel/angle.h"

namespace mercer::kernel {

/// 2 E[(w'x)_+^n (w'y)_+^n], w ~ N(0, I): k_n = ||x||^n ||y||^n J_n(theta) / pi, n = 0, 1, 2 or 4
/// (others: NaN); (w'x)_+^0 is 1[w'x > 0]. Rows of zeros: 0.
double arc_cosine_moment(int n, const Angle& angle) noexcept;

}  // namespace mercer::kernel
