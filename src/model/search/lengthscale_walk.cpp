// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/search/lengthscale_walk.h"

#include <algorithm>

namespace mercer::model {

LengthscaleWalk::LengthscaleWalk(double start, TryOut try_out, HasCandidate has_candidate)
    : try_out_(std::move(try_out)), has_candidate_(std::move(has_candidate)) {
  tried_.push_back({start, try_out_(start, nullptr)});
}

bool LengthscaleWalk::try_at(double lengthscale) {
  if (!has_candidate_(lengthscale)) return false;
  tried_.push_back({lengthscale, try_out_(lengthscale, &tried_[best_].trial)});
  const bool better = is_less(tried_.back().trial.best().loss, tried_[best_].trial.best().loss);
  if (better) best_ = tried_.size() - 1;
  return better;
}

void LengthscaleWalk::climb(double factor, int64_t most) {
  const size_t start = best_;
  for (const double step : {1.0 / factor, factor}) {
    int64_t taken = 0;
    while (taken < most && try_at(tried_[best_].lengthscale * step)) ++taken;
    const bool ends = taken == most || !has_candidate_(tried_[best_].lengthscale * step);
    stopped_short_ = stopped_short_ || (taken > 0 && ends);
    if (best_ != start) break;
  }
}

void LengthscaleWalk::lengthen(double factor, int64_t most) {
  for (int64_t k = 0; k < most; ++k) {
    const auto longest = std::ranges::max_element(tried_, {}, &Tried::lengthscale);
    if (choice().tried != &*longest) return;
    try_at(longest->lengthscale * factor);
  }
}

LengthscaleWalk::Choice LengthscaleWalk::choice() const {
  std::vector<const Trial*> trials;
  for (const Tried& one : tried_) trials.push_back(&one.trial);
  const Picked picked = paired_pick(trials);
  return {&tried_[picked.trial], picked.point};
}

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
