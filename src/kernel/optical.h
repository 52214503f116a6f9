// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Moments of intensities behind a random scatterer: the optical kernels.
#pragma once

#include <cstdint>

namespace mercer::kernel {

/// E |u'x|^{2s} |u'y|^{2s}, u of independent CN(0, 1) entries: sum_i (s! C(s, i))^2 dot^{2i}
/// N^{s-i}, N = ||x||^2 ||y||^2, dot = x'y.
double optical_moment(int64_t s, double dot, double N) noexcept;

}  // namespace mercer::kernel
