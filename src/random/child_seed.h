// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Seeds of the parts of a composed map.
#pragma once

#include <cstdint>

namespace mercer::random {

/// The seed of part `index` of the kind `part` of what is made from `seed`: a function of the three
/// by Philox under a tag of its own, so that no two parts share numbers, and none shares them with
/// the whole. index < 2^48.
uint64_t child_seed(uint64_t seed, uint64_t part, uint64_t index) noexcept;

}  // namespace mercer::random
