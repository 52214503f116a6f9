// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The SIMD targets of the vector code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mercer::transform {

/// Targets this build was compiled for and this machine can run, best first.
std::vector<int64_t> supported_targets();
std::string target_name(int64_t target);

}  // namespace mercer::transform
