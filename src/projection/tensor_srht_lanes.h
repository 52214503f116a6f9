// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// TensorSRHT of several rows at once, a lane for each row (transform/lanes.h): a gather within a
// row costs several cycles a number, loading the numbers of eight rows costs one.
#pragma once

#include <cstdint>

#include "projection/multilinear.h"
#include "projection/tensor_srht_row.h"

namespace mercer::projection {

/// u of rows [i0, i0 + n), n <= kLanes<T>, as lanes: d elements, then, if the rows are complex, d
/// elements of imaginary parts. Lanes past n are zero.
template <class T>
void load_lanes(const FactorRows<T>& rows, const FactorShape& factor, int64_t i0, int64_t n,
                int64_t d, T* u) noexcept;

/// srht_table of every lane: d elements of kLanes<T> real parts and, if complex, as many imaginary
/// parts. imaginary: u holds imaginary parts.
template <class T>
void srht_lane_table(const SrhtFactor<T>& factor, const T* u, bool imaginary, T* table) noexcept;

/// Columns gathered together before they are put in their rows.
inline constexpr int64_t kLaneColumns = 128;

}  // namespace mercer::projection
