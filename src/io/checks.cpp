// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "io/checks.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace mercer::io {

void require_finite(std::span<const double> numbers, const char* what) {
  const auto bad =
      std::find_if(numbers.begin(), numbers.end(), [](double x) { return !std::isfinite(x); });
  require(bad == numbers.end(), MERCER_INVALID_ARGUMENT, "%s[%ld] = %g, expected a finite number",
          what, bad - numbers.begin(), bad == numbers.end() ? 0.0 : *bad);
}

void require_count(const char* what, int64_t count, int64_t expected) {
  require(count == expected, MERCER_INVALID_ARGUMENT, "%s has %ld numbers, expected %ld", what,
          count, expected);
}

}  // namespace mercer::io
