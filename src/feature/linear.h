// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Linear maps: random projections that keep inner products, E Z Z' = variance gamma XX' (SPEC 2 and
// 4).
#pragma once

#include <cstdint>
#include <memory>

#include "feature/feature_map.h"

namespace mercer::feature {

/// In the order of the table in linear.cpp.
enum class LinearProjection { gaussian, rademacher, srht, countsketch, osnap };

struct LinearOptions {
  LinearProjection projection = LinearProjection::gaussian;
  uint64_t seed = 0;
  int64_t nonzeros = 0;  // osnap: non-zeros of every input; 0: 4, or D if that is less
};

/// `kernel` is the polynomial one with degree 1 and offset 0: variance gamma x'y. Errors:
/// UNSUPPORTED (another kernel, non-zeros for another projection), INVALID_ARGUMENT (d or D < 1;
/// too large for the projection; more non-zeros than D).
std::unique_ptr<FeatureMap> make_linear(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        const LinearOptions& options);

}  // namespace mercer::feature
