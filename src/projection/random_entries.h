// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// W with i.i.d. entries of mean 0 and variance 1, for linear maps and sketches.
#pragma once

#include <cstdint>
#include <memory>

#include "projection/projection.h"

namespace mercer::projection {

enum class EntryLaw { gaussian, rademacher };

/// P = XW, W d x D; entry k of column j is variate k of stream (seed, frequency, j).
std::unique_ptr<Projection> make_random_entries(EntryLaw law, int64_t d, int64_t D, uint64_t seed);

}  // namespace mercer::projection
