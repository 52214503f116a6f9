// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which transform of the inputs: a coarse walk under each. A kernel of one lengthscale measures
// distances, and a few far values of a skewed input are most of any distance; which of no curve,
// logarithms and ranks suits the rows is for the rows to say.
#include <algorithm>

#include "model/prepare/input_domain.h"
#include "model/search/search_run.h"

namespace mercer::model {
namespace {

constexpr int64_t kMostTransformed = 100;  // inputs: of more, the walks would cost too much
constexpr int64_t kFewInputs = 3;
constexpr double kFarBelow = 8;
constexpr double kErrors = 1;  // another transform must win by
// One lengthscale for all inputs says little of which transform suits one for each: of cal_housing
// ranks lose by 5 % with the one, and win by 10 % with the other.
constexpr double kNear = 1.1;

size_t place_of_best(const Trial& trial) {
  return static_cast<size_t>(&trial.best() - trial.points.data());
}

bool leaves_all(const std::vector<Curve>& curves) {
  return std::ranges::all_of(curves,
                             [](const Curve& curve) { return curve.kind == Transform::none; });
}

bool beats(const LengthscaleWalk& one, const LengthscaleWalk& other) {
  const Trial &a = one.best().trial, &b = other.best().trial;
  return beats(a, place_of_best(a), b, place_of_best(b), kErrors);
}

}  // namespace

bool SearchRun::tries_transforms() const {
  return options_.choose_transform && fit_.prepare.standardize && !X_.sparse() &&
         X_.cols() <= kMostTransformed && judge_.varies();
}

SearchRun::Walked SearchRun::walk_coarsely(Prepared& prepared) {
  LengthscaleWalk walk(
      central(prepared.by),
      [this, &prepared](double lengthscale, const Trial* near) {
        return try_out(stage_, prepared, {&lengthscale, 1}, sizes_.coarse, near);
      },
      [this](double lengthscale) { return maker_->has_candidate(lengthscale); });
  // In few dimensions the slope of a trend and what stands on it are two optima.
  if (prepared.by.prepared(X_.cols()) <= kFewInputs)
    walk.probe(walk.best().lengthscale / kFarBelow);
  walk.climb(2.0, kCoarseSteps);
  prepared.loss = walk.best().trial.best().loss;
  return {&prepared, std::move(walk)};
}

SearchRun::Walked SearchRun::walk_transforms() {
  Walked best = walk_coarsely(prepared_.front());
  if (!tries_transforms()) return best;
  for (const Transform transform : {Transform::log, Transform::rank}) {
    if (!stays_inside(found_, transform)) continue;
    Prepared& prepared = prepared_with(transform);
    if (leaves_all(prepared.by.curves)) continue;  // no input is skewed
    Walked walked = walk_coarsely(prepared);
    if (beats(walked.walk, best.walk)) best = std::move(walked);
  }
  return best;
}

std::vector<const SearchRun::Prepared*> SearchRun::rivals_of(const Prepared& kept) const {
  std::vector<const Prepared*> near = {&kept};
  if (leaves_out()) return near;
  const auto least = std::ranges::min_element(prepared_, is_less, &Prepared::loss);
  for (const Prepared& one : prepared_)
    if (&one != &kept && one.loss <= kNear * least->loss) near.push_back(&one);
  return near;
}

}  // namespace mercer::model
