// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How many frequencies a bound asks for. Private to statistic.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace mercer::statistic {

/// The least F >= 1 for which `holds` is true, as it then is for all larger F; UNSUPPORTED if there
/// is none up to 2^53. `name` and `value`: what was asked for, in the message.
template <class Holds>
int64_t least_where(const Holds& holds, const char* name, double value) {
  constexpr int64_t kMost = int64_t{1} << 53;
  require(holds(kMost), MERCER_UNSUPPORTED, "%s = %g needs more than 2^53 frequencies by the bound",
          name, value);
  int64_t low = 0, high = kMost;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace mercer::statistic
