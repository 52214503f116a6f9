// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Numbers above thresholds, as bits packed 64 to a word.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// Bit j mod 64 of words[j / 64] = z[j] > threshold[j], j in [0, count); unused bits of the last
/// word are 0. z is finite or NaN; returns whether no z is NaN.
bool sign_bits(const float* z, const float* threshold, int64_t count, uint64_t* words) noexcept;
bool sign_bits(const double* z, const double* threshold, int64_t count, uint64_t* words) noexcept;

}  // namespace mercer::transform
