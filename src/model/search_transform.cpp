// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which transform of the inputs: a coarse walk under each. A kernel of one lengthscale measures
// distances, and a few far values of a skewed input are most of any distance; which of no curve,
// logarithms and ranks suits the rows is for the rows to say.
#include <algorithm>

#include "model/input_domain.h"
#include "model/row_summary.h"
#include "model/search_run.h"

namespace mercer::model {
namespace {

constexpr int64_t kMostTransformed = 100;  // inputs: of more, the walks would cost too much
constexpr double kErrors = 1;              // another transform must win by
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

void SearchRun::take_transform(Transform transform) {
  if (fit_.transform == transform) return;
  fit_.transform = transform;
  candidates_.release();
  preparation_ = fit_preparation(fit_, X_, Y_, context_, seen_);
}

bool SearchRun::tries_transforms() const {
  return options_.choose_transform && fit_.standardize && !X_.sparse() &&
         X_.cols() <= kMostTransformed && judge_.varies();
}

LengthscaleWalk SearchRun::walk_coarsely() {
  LengthscaleWalk walk(
      central(),
      [this](double lengthscale, const Trial* near) {
        return try_out(stage_, {&lengthscale, 1}, sizes_.coarse, near);
      },
      [this](double lengthscale) { return maker_.has_candidate(lengthscale); });
  walk.climb(2.0, kCoarseSteps);
  return walk;
}

LengthscaleWalk SearchRun::walk_transforms() {
  LengthscaleWalk best = walk_coarsely();
  if (!tries_transforms()) return best;
  Transform kept = fit_.transform;
  walked_ = {{kept, best.best().trial.best().loss}};
  for (const Transform transform : {Transform::log, Transform::rank}) {
    if (!stays_inside(fit_, transform)) continue;
    take_transform(transform);
    if (leaves_all(preparation_.curves)) continue;  // no input is skewed
    LengthscaleWalk walk = walk_coarsely();
    walked_.push_back({transform, walk.best().trial.best().loss});
    if (!beats(walk, best)) continue;
    best = std::move(walk);
    kept = transform;
  }
  take_transform(kept);
  return best;
}

std::vector<Transform> SearchRun::rival_transforms() const {
  std::vector<Transform> rivals = {fit_.transform};
  if (leaves_out()) return rivals;
  const auto least = std::ranges::min_element(walked_, is_less, &Walked::loss);
  for (const Walked& walked : walked_)
    if (walked.transform != fit_.transform && walked.loss <= kNear * least->loss)
      rivals.push_back(walked.transform);
  return rivals;
}

}  // namespace mercer::model
