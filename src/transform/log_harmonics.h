// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Cosines and sines of multiples of log x times sqrt(x), element by element: features of
// homogeneous kernels. Every element's bits depend on its own operands and the target alone.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// roots[k] = sqrt(x_k), logs[k] = turns log(x_k), k < n. Zero gives two zeros; a negative number
/// or NaN a NaN root, infinity an infinite root, both with some finite logarithm.
void roots_and_logs(const float* x, int64_t n, float turns, float* roots, float* logs) noexcept;
void roots_and_logs(const double* x, int64_t n, double turns, double* roots, double* logs) noexcept;

/// cosines[k] = scale roots[k] cos(2 pi order logs[k]), and the sines.
void log_harmonics(const float* roots, const float* logs, int64_t n, float order, float scale,
                   float* cosines, float* sines) noexcept;
void log_harmonics(const double* roots, const double* logs, int64_t n, double order, double scale,
                   double* cosines, double* sines) noexcept;

}  // namespace mercer::transform
