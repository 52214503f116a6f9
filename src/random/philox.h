// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once

#include <array>
#include <cstdint>

namespace mercer::random {

/// The four output words for a counter and a key. The one function behind which Random123 is hidden.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) noexcept;

}  // namespace mercer::random
