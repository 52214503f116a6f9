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

}  // namespace mercer::model
