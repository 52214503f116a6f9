// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Each part gets its least features and then whole steps of its share of the rest, rounded down.
// What that leaves is given step by step to the part that is furthest below its share.
#include "feature/allotment.h"

#include <cmath>
#include <limits>

#include "base/size.h"

namespace mercer::feature {
namespace {

struct Rest {
  int64_t columns;  // less the least of each part
  double share;     // of the parts with steps together
};

Rest rest_of(int64_t total, const std::vector<PartSize>& sizes) {
  int64_t least = 0;
  double share = 0;
  for (const PartSize& size : sizes) {
    least = checked_add(least, size.least, "features");
    if (size.step > 0) share += size.share;
  }
  require(share > 0 || total == least, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: the inputs decide how many each part has", total, least);
  require(total >= least, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected at least %ld for the parts of the map", total, least);
  require(share <= std::numeric_limits<double>::max(), MERCER_INVALID_ARGUMENT,
          "shares add up to %g, expected a finite sum", share);
  return {total - least, share};
}

}  // namespace

std::vector<int64_t> allot(int64_t total, const std::vector<PartSize>& sizes) {
  const Rest rest = rest_of(total, sizes);
  std::vector<int64_t> features;
  std::vector<double> missing;
  int64_t left = rest.columns;
  for (const PartSize& size : sizes) {
    const double ideal = static_cast<double>(rest.columns) * (size.share / rest.share);
    const int64_t steps =
        size.step == 0 ? 0
                       : static_cast<int64_t>(std::floor(ideal / static_cast<double>(size.step)));
    features.push_back(size.least + steps * size.step);
    missing.push_back(ideal - static_cast<double>(steps * size.step));
    left -= steps * size.step;
  }
  while (left > 0) {
    size_t next = sizes.size();
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i].step == 0 || sizes[i].step > left) continue;
      if (next == sizes.size() || missing[i] > missing[next]) next = i;
    }
    require(next < sizes.size(), MERCER_INVALID_ARGUMENT,
            "features = %ld, expected %ld less: those of a part come in steps of more", total,
            left);
    features[next] += sizes[next].step;
    missing[next] -= static_cast<double>(sizes[next].step);
    left -= sizes[next].step;
  }
  return features;
}

}  // namespace mercer::feature
