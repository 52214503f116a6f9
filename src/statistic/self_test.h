// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Whether this machine computes what every other does, and how fast. Each part is Parameters, for a
// report; those that can fail say "passed".
#pragma once

#include <cstdint>

#include "base/context.h"
#include "base/parameters.h"

namespace mercer::statistic {

/// SIMD target, BLAS, FFTW, threads.
Parameters machine_found(const Context& context);

/// Every sampler: "hash" of its draws, which are the same bytes everywhere.
ObjectList sampler_answers();

/// Every map with its default kernel, every kernel with its default map, fourier with every
/// projection. "difference" is that of a weighted sum of the features of fixed rows from the known
/// sum, or, for maps made from rows, of a sum of kernel estimates; "single" is that of features in
/// single precision. "deviations" is how far the mean estimate over seeds is from the exact kernel
/// and the map's bias, in standard errors by its variance. Errors: CANCELLED.
ObjectList map_answers(uint64_t seeds, Context& context);

/// Rates of matrix products, of writing memory and of a map beside the time that these two allow.
/// Errors: CANCELLED, OUT_OF_MEMORY.
Parameters rates_found(Context& context);

bool all_passed(const ObjectList& answers);

}  // namespace mercer::statistic
