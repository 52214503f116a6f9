// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Elementary functions of the samplers, computed with + - x / sqrt only, so that a seed means the
// same bytes on every machine (libm differs between systems in the last place). Scalar, compiled
// with -ffp-contract=off.
#pragma once

#include <cstdint>

namespace mercer::random {

/// ln x for x > 0 (normal or subnormal), error below 1 ulp; -inf at 0, NaN below.
double portable_log(double x) noexcept;

/// e^x, error below 2 ulp; 0 below -745.2, +inf above 709.78.
double portable_exp(double x) noexcept;

struct SinCos {
  double sin;
  double cos;
};

/// sin and cos of 2 pi u (u in turns, any finite value), absolute error below 2^-52.
SinCos portable_sincos_turns(double turns) noexcept;

/// x y/(2 pi) modulo 1, in units of 2^-64 of a turn, for any finite x and y whatever the size of their
/// product: its 106 bits times as many of those of 1/(2 pi) as reach below the point. Error: below
/// 2^-64 of a turn; sums of such numbers wrap around as angles do, exactly.
uint64_t portable_turns_of_product(double x, double y) noexcept;

/// tan(pi u) for u in (-1/2, 1/2), relative error below 2^-50.
double portable_tan_half_turns(double u) noexcept;

/// x^y for x > 0, as exp(y log x): relative error below 4 ulp times (1 + |y log x|).
double portable_pow(double x, double y) noexcept;

/// Inverse of the standard normal distribution function for p in (0, 1), relative error below 2e-15
/// (Wichura 1988, algorithm AS 241).
double normal_quantile(double p) noexcept;

}  // namespace mercer::random
