// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The SIMD target of the vector code. Only tests, which go through all targets, call select_target.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mercer::transform {

/// Targets this build was compiled for and this machine can run, best first.
std::vector<int64_t> supported_targets();
std::string target_name(int64_t target);
/// Makes every later call use this target; 0 restores the best. Not thread-safe.
void select_target(int64_t target);

}  // namespace mercer::transform
