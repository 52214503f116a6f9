// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Seeds of the parts of a composed map.
#pragma once

#include <cstdint>

namespace mercer::random {

/// The seed of part number `index`, of kind `part`, of a map with this seed: a function of the
/// three by Philox under its own tag, so that no two parts share random numbers with each other or
/// with the whole. index < 2^48.
uint64_t child_seed(uint64_t seed, uint64_t part, uint64_t index) noexcept;

}  // namespace mercer::random
