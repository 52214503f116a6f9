// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Epilogues of positive and hyperbolic features, and exponentials of whole rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "transform/epilogue.h"
#include "transform/row_prologue.h"

namespace mercer::transform {

/// scale exp(P - h), h the row's number; 0 where h > kVanishing, as P may have overflowed there.
std::unique_ptr<const Epilogue> exp_epilogue();
/// scale exp(P + phase - h), with the same rule: phases are logarithms, so that no factor of a
/// product overflows or vanishes beside another.
std::unique_ptr<const Epilogue> tilted_epilogue();
/// [scale exp(P - h) | scale exp(-P - h)], with the same rule.
std::unique_ptr<const Epilogue> hyperbolic_epilogue();
/// [h scale cos(2 pi P) | h scale sin(2 pi P)].
std::unique_ptr<const Epilogue> grown_pair_epilogue();

/// Beyond this half squared norm w'x - ||x||^2 / 2 < -||x|| (7e5 - ||w||), and exp underflows.
inline constexpr double kVanishing = 1e12;

/// The row number factor ||x / l||^2 / 2, or its exponential if `grown`, in double; rows unchanged;
/// one lengthscale or one per input. NaN if an entry is not finite; clipped to the largest finite
/// number unless it is the exponential.
std::shared_ptr<const RowPrologue> half_norm_prologue(std::vector<double> lengthscale,
                                                      double factor, bool grown);

/// The largest number of a row, and the largest magnitude, n >= 1; unspecified if there is a NaN.
float largest(const float* row, int64_t n) noexcept;
double largest(const double* row, int64_t n) noexcept;
float largest_magnitude(const float* row, int64_t n) noexcept;
double largest_magnitude(const double* row, int64_t n) noexcept;

/// out[j] = scale exp(sign P[j] - shift), j < n; out may be P.
void exp_row(const float* P, int64_t n, float sign, float shift, float scale, float* out) noexcept;
void exp_row(const double* P, int64_t n, double sign, double shift, double scale,
             double* out) noexcept;

}  // namespace mercer::transform
