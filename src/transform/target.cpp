// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "transform/target.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

namespace mercer::transform {

std::vector<int64_t> supported_targets() {
  std::vector<int64_t> targets;
  const int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  for (int bit = 0; bit < 63; ++bit) {
    const int64_t target = int64_t{1} << bit;
    if ((supported & target) != 0) targets.push_back(target);
  }
  return targets;
}

std::string target_name(int64_t target) { return hwy::TargetName(target); }

}  // namespace mercer::transform
