// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The mean share of bits in which two binary codes of Fourier features differ, and the kernel from
// it (Raginsky, Lazebnik, "Locality-sensitive binary codes from shift-invariant
// kernels", NIPS 2009, lemma 2.3).
#pragma once

#include <functional>

namespace mercer::moment {

/// The share for the Gaussian kernel of variance 1, whose k(m tau) is k^(m^2): (8/pi^2) sum_{m>=1}
/// (1 - k^(m^2))/(4 m^2 - 1), k in [0, 1]. Within 1e-15.
double gaussian_code_share(double k) noexcept;
/// The k whose share it is: 1 for shares <= 0, and 0 from 4/pi^2 on, the share of k = 0.
double gaussian_from_code_share(double share) noexcept;

/// k as a strictly decreasing function of t = ||tau|| >= 0, k(0) = 1.
using Profile = std::function<double(double t)>;
/// (8/pi^2) sum_{m>=1} (1 - k(m t))/(4 m^2 - 1). Within 1e-9.
double profile_code_share(const Profile& k, double t);
/// The k(t) whose share it is: 1 for shares <= 0, and 0 from 4/pi^2 on. Within 1e-8.
double profile_from_code_share(const Profile& k, double share);

}  // namespace mercer::moment
