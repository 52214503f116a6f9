// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How far inner products of derivatives of Fourier features may be from the kernel's derivatives,
// uniformly over a set (Szabo, Sriperumbudur 2019, theorem and remarks of section 3).
#pragma once

#include <cstdint>

#include "kernel/kernel.h"

namespace mercer::bound {

/// Constants of the derivative (p, q) of a kernel of d inputs and variance 1.
struct SpectralConstants {
  double sigma;      // sigma_{p,q} = (E |omega^{p+q}|^2)^{1/2}
  double ratio;      // C_{p,q} = (E |omega^{p+q}|^2 ||omega||^2)^{1/2} / sigma
  double bernstein;  // the least K >= 1 with A_n <= n!/2 K^{n-2} for n = 2, 3, ...
};
/// UNSUPPORTED unless the kernel has a spectrum of the form of kernel::EvenPowerSpectrum, and where
/// no K exists: |p| + |q| above twice its order.
SpectralConstants spectral_constants(const kernel::Kernel& kernel, int64_t d,
                                     const kernel::MultiIndex& order);

/// A_n = E |omega^order|^n / (E |omega^order|^2)^{n/2}, whether or not Bernstein's condition holds.
double moment_ratio(const kernel::Kernel& kernel, const kernel::MultiIndex& order, int64_t n);

struct BoundQuestion {
  int64_t d;
  double diameter;   // |S| > 0
  double delta;      // the bound fails with probability at most this
  double norm = 0;   // r of the norm L^r over S x S; 0: uniform
  double bernstein;  // K
};
/// The theorem's bound for F frequencies, times the kernel's variance.
double derivative_bound(const kernel::Kernel& kernel, const SpectralConstants& constants,
                        const BoundQuestion& question, int64_t F);
/// The least F whose bound is at most epsilon; UNSUPPORTED if that is above 2^53.
int64_t least_frequencies(const kernel::Kernel& kernel, const SpectralConstants& constants,
                          const BoundQuestion& question, double epsilon);

}  // namespace mercer::bound
