// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Closed-form variances of ANOVA features with random signs, of one column.
#pragma once

#include <cstdint>
#include <vector>

namespace mercer::feature {

/// E (z(x) z(y))^2, z(x) = sum over S, |S| = degree, of prod_{k in S} w_k x_k with random signs w:
/// the coefficient of s^m t^m u^m v^m, m = degree, in
///   prod_k E (1 + s w x_k)(1 + t w x_k)(1 + u w y_k)(1 + v w y_k),
/// whose factor is 1 + st x^2 + uv y^2 + (s + t)(u + v) xy + stuv x^2 y^2. d (degree + 1)^4
/// operations; `scratch` is kept between calls.
double symmetric_square(int64_t d, const double* x, const double* y, int64_t degree,
                        std::vector<double>& scratch);

/// The same expectation for z(x) = prod_k (1 + w_k x_k): the product of the factors at s = t = u =
/// v = 1.
double subsets_square(int64_t d, const double* x, const double* y) noexcept;

}  // namespace mercer::feature
