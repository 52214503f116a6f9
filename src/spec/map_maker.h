// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of one kind in any size: a map spec without "inputs", "features" and "seed" as what the search draws candidates from.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "model/search.h"

namespace mercer::spec {

/// INVALID_ARGUMENT if the spec names inputs, features or seed; otherwise the errors of map_from_spec. The kernel's lengthscale is
/// replaced by that of each candidate; a kernel without one is taken as it is. A kernel left out is the Gaussian.
std::unique_ptr<model::MapMaker> map_maker(std::string_view json, int64_t inputs, uint64_t seed);

}  // namespace mercer::spec
