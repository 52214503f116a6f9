// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/search/trial_sizes.h"

#include <algorithm>

namespace mercer::model {
namespace {

// Smaller trials would save nothing that matters.
constexpr TrialSize kLeast{2000, 512};
constexpr int64_t kEnough = 2048;
constexpr int64_t kFeaturesPerRow = 4;
constexpr double kProducts = 1e11;
constexpr double kRowsPerFeature = 2.5;

/// Some forms want an even number of features, some sketches whole blocks.
int64_t divided(int64_t features, int64_t divisor) { return features / divisor / 32 * 32; }

TrialSize within(int64_t rows, int64_t features, int64_t most) {
  while (std::min(rows, features) > most) {
    rows = (rows + 1) / 2;
    features = divided(features, 2);
  }
  return {rows, features};
}

TrialSize part(int64_t rows, int64_t features, int64_t divisor) {
  const int64_t D = std::max(divided(features, divisor), std::min(features, kLeast.features));
  const int64_t n = std::max(rows / divisor, std::min(rows, kLeast.rows));
  const auto wide = static_cast<double>(D);
  const double most = std::max(kRowsPerFeature * wide, kProducts / (wide * wide));
  return {static_cast<int64_t>(std::min(static_cast<double>(n), most)), D};
}

}  // namespace

TrialSizes left_out_sizes(int64_t rows, int64_t features) {
  // Beyond some multiple of the rows more features hardly move the best lengthscale, and lambda is
  // chosen again with all of them. With 2,048 of 8,192 twelve data sets of 120 to 900 rows lost
  // .001 +- .001 of R^2 or accuracy.
  const int64_t D = std::min(features, std::max(kFeaturesPerRow * rows, kEnough));
  return {within(rows, D, 600), within(rows, D, 1300)};
}

TrialSizes held_out_sizes(int64_t rows, int64_t features) {
  return {part(rows, features, 4), part(rows, features, 2)};
}

}  // namespace mercer::model
