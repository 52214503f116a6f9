// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The settings of a search: transforms, drawn or gridded frequencies, the kernel, and how outputs
// are learnt together.
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_summary.h"
#include "model/search/search_run.h"

namespace mercer::model {
namespace {

// Chooses the transform of the targets, the transform of the inputs, of few inputs whether
// frequencies are drawn or lie on a grid, and the kernel, one after the other, by a coarse walk
// under each. Least squares of skewed targets heed only the largest; errors that grow with targets
// are even in logarithms. Predictions are transformed back before they are judged. A few far values
// of a skewed input dominate distances under one lengthscale. Kernels are compared where they are
// not held back by few frequencies. Smooth kernels need a shorter lengthscale everywhere for a kink
// anywhere.

constexpr int64_t kMostKernelInputs = 100;  // above, the walks would cost too much
constexpr int64_t kFewInputs = 3;
constexpr double kFarBelow = 8;
constexpr double kSettingErrors = 1;  // standard errors by which another setting must win
// The best transform under a common lengthscale need not be the best under one per input: ranks on
// cal_housing lose 5 % with the former and win 10 % with the latter. Even less so for kernels: the
// Gaussian gains most from lengthscales per input.
constexpr double kNear = 1.1;

bool leaves_all(const std::vector<Curve>& curves) {
  return std::ranges::all_of(curves,
                             [](const Curve& curve) { return curve.kind == Transform::none; });
}

bool beats(const LengthscaleWalk& one, const LengthscaleWalk& other) {
  const Trial &a = one.best().trial, &b = other.best().trial;
  return beats(a, a.best_place(), b, b.best_place(), kSettingErrors);
}

}  // namespace

bool SearchRun::tries_settings() const {
  return !X_.sparse() && X_.cols() <= kMostKernelInputs && judge_.varies();
}

SearchRun::Walked SearchRun::walk_coarsely(const Setting& setting, double start) {
  LengthscaleWalk walk(
      start,
      [this, setting](double lengthscale, const Trial* near) {
        return try_out(stage_, setting, {&lengthscale, 1}, sizes_.coarse, near);
      },
      candidates(setting));
  // In few dimensions a trend and the details on it are two optima.
  if (setting.prepared->by.prepared(X_.cols()) <= kFewInputs)
    walk.probe(walk.best().lengthscale / kFarBelow);
  walk.climb(2.0, kCoarseSteps);
  walked_.push_back(setting);
  walked_.back().loss = walk.best().trial.best().loss;
  return {walked_.back(), std::move(walk)};
}

std::vector<Setting> SearchRun::other_target_transforms(const Setting& setting) {
  std::vector<Setting> others;
  if (!options_.choose_target_transform || final_ || judge_.classifies() ||
      setting.coupling != nullptr)
    return others;
  const RowSummary summary(fit_.prepare, found_, fit_.select.seed, X_, Y_, seen_, context_);
  if (!summary.has_skewed_targets()) return others;
  const std::vector<Range> ranges = summary.ranges().targets;
  const bool positive =
      std::ranges::all_of(ranges, [](const Range& range) { return range.lowest > 0; });
  for (const Transform transform : {Transform::log, Transform::rank}) {
    if (transform == Transform::log && !positive) continue;
    others.push_back(setting);
    others.back().prepared = &prepared_with(setting.prepared->asked.transform, transform);
  }
  return others;
}

std::vector<Setting> SearchRun::other_transforms(const Setting& setting) {
  std::vector<Setting> others;
  if (!options_.choose_transform || !fit_.prepare.standardize) return others;
  for (const Transform transform : {Transform::log, Transform::rank}) {
    if (!stays_inside(found_, transform)) continue;
    const Prepared& prepared = prepared_with(transform, setting.prepared->asked.target_transform);
    if (leaves_all(prepared.by.curves)) continue;  // no input is skewed
    others.push_back(setting);
    others.back().prepared = &prepared;
  }
  return others;
}

std::vector<Setting> SearchRun::other_kernels(const Setting& setting) {
  std::vector<Setting> others;
  for (auto& maker : setting.maker->other_kernels()) {
    others.push_back(setting);
    others.back().maker = &kept(std::move(maker));
  }
  return others;
}

// Not where gradients in the lengthscale are asked for, since a grid depends on it; nor for
// posteriors, since a period away from the rows a grid is as sure as among them.
std::vector<Setting> SearchRun::on_grid(const Setting& setting) {
  std::vector<Setting> others;
  const bool posterior =
      final_ && (final_->entry->keeps_posterior || final_->entry->separate_classes);
  const bool gradients =
      by_evidence() || options_.learns_spectrum || options_.per_input == PerInput::on;
  if (posterior || gradients) return others;
  if (auto maker = setting.maker->on_grid()) {
    others.push_back(setting);
    others.back().maker = &kept(std::move(maker));
  }
  return others;
}

SearchRun::Walked SearchRun::walk_settings() {
  Walked best = walk_coarsely(start_, central(start_));
  if (!tries_settings()) return best;
  const auto try_others = [&](const std::vector<Setting>& others, const auto& start) {
    for (const Setting& other : others) {
      Walked walked = walk_coarsely(other, start(other));
      if (beats(walked.walk, best.walk)) best = std::move(walked);
    }
  };
  try_others(other_target_transforms(best.setting),
             [&](const Setting&) { return best.walk.best().lengthscale; });
  try_others(other_transforms(best.setting), [this](const Setting& one) { return central(one); });
  try_others(on_grid(best.setting), [&](const Setting&) { return best.walk.best().lengthscale; });
  try_others(other_kernels(best.setting), [&](const Setting& one) {
    return best.walk.best().lengthscale * usual_lengthscale(one) / usual_lengthscale(best.setting);
  });
  return best;
}

std::vector<Setting> SearchRun::rivals_of(const Setting& kept) const {
  std::vector<Setting> near = {kept};
  std::vector<Setting> first;  // of the first kernel
  for (const Setting& one : walked_)
    if (one.maker == start_.maker && bar_to_per_input(one) == nullptr &&
        (!leaves_out() || one.prepared == kept.prepared))
      first.push_back(one);
  const auto least = std::ranges::min_element(first, is_less, &Setting::loss);
  for (const Setting& one : first) {
    const bool same = one.prepared == kept.prepared && one.maker == kept.maker;
    if (!same && one.loss <= kNear * least->loss) near.push_back(one);
  }
  return near;
}

const feature::FeatureMap& SearchRun::unit_of(const Setting& setting, int64_t features) {
  candidates_.use(*setting.maker);
  return candidates_.unit(setting.prepared->by, features);
}

/// The lengthscale with k = e^{-1/2} for rows that differ by sqrt(2), the root mean square
/// difference of standardised inputs, in every input; for a Gaussian kernel sqrt(2 d).
double SearchRun::usual_lengthscale(const Setting& setting) {
  const kernel::Kernel& kernel = unit_of(setting, sizes_.coarse.features).kernel();
  const int64_t d = setting.prepared->by.prepared(X_.cols());
  const std::vector<double> x(d, 0.0), y(x.size(), std::sqrt(2.0));
  const auto at = [&](double multiple) {
    return kernel.value_at_multiple(multiple, d, x.data(), y.data());
  };
  if (std::isnan(at(1))) return std::sqrt(2.0 * static_cast<double>(d));
  const double wanted = at(0) * std::exp(-0.5);
  double near = 1e-9, far = 1e9;
  for (int step = 0; step < 80; ++step) {
    const double middle = std::sqrt(near * far);
    (at(middle) > wanted ? near : far) = middle;
  }
  return 1 / near;
}

// Chooses how outputs are learnt together: the lengthscale is walked with a default mixture, then
// the other mixtures are tried at the result. Independent outputs, where they are allowed, have a
// search of their own, which is what it would be by itself: with the scale, grid, kernels and
// lengthscales that the other way of learning excludes.

namespace {

// The standard errors and the relative gain by which coupled outputs must win if independent ones
// are allowed: the difference of nearly equal fits has a small standard error, too.
constexpr double kShapeErrors = 1, kShare = 0.02;

/// By their least losses.
bool beats(const Trial& one, const Trial& other) {
  return one.best().loss < (1 - kShare) * other.best().loss &&
         beats(one, one.best_place(), other, other.best_place(), kShapeErrors);
}

}  // namespace

std::vector<Setting> SearchRun::shapes_of(const Setting& setting) {
  std::vector<Setting> shapes;
  const auto add = [&](double shape, const MapMaker& maker, CouplingPointer coupling, bool joined) {
    shapes.push_back({setting.prepared, &maker, std::move(coupling), shape, joined, setting.loss});
  };
  const MapMaker& maker = *setting.maker;
  for (const double share : maker.shapes()) add(share, kept(maker.at_shape(share)), nullptr, true);
  if (shapes.empty() && fit_.outputs.structure != OutputStructure::independent) {
    const OutputRelations relations(fit_.outputs, fit_.coding, Y_, weights_, chosen_by_, context_);
    for (const double weight : relations.weights()) {
      CouplingPointer coupling = relations.coupling(weight, context_);
      const bool joins = coupling != nullptr;
      if (joins || !fit_.outputs.or_independent) add(weight, maker, std::move(coupling), joins);
    }
  }
  if (shapes.empty()) shapes.push_back(setting);
  return shapes;
}

void SearchRun::couple(const feature::FeatureMap& map, const Setting& setting) {
  estimate_.coupling = map.outputs() > 1 ? coupling_of(map, context_) : setting.coupling;
}

void SearchRun::choose_shape(Chosen& chosen) {
  if (by_evidence()) return;
  const std::vector<Setting> shapes = shapes_of(chosen.setting);
  if (shapes.size() == 1) return;
  const Trial* const near = chosen.trial.points.empty() ? nullptr : &chosen.trial;
  std::vector<Trial> tried;
  for (const Setting& shape : shapes)
    tried.push_back(try_out(1, shape, chosen.lengthscales, sizes_.fine, near));
  const Picked best = best_of(tried);
  chosen.setting = shapes[best.trial];
  chosen.take(std::move(tried[best.trial]), best.point);
}

Picked SearchRun::best_of(const std::vector<Trial>& tried) const {
  if (leaves_out()) {
    std::vector<const Trial*> listed;
    for (const Trial& one : tried) listed.push_back(&one);
    return paired_pick(listed);
  }
  size_t best = 0;
  for (size_t s = 1; s < tried.size(); ++s)
    if (is_less(tried[s].best().loss, tried[best].best().loss)) best = s;
  return {best, paired_pick(tried[best])};
}

SearchOptions SearchRun::of_independent() const {
  SearchOptions apart = options_;
  apart.fit.outputs = {};
  apart.fit.prepare.scale = options_.independent.scale;
  apart.choose_transform = options_.independent.choose_transform;
  apart.choose_target_transform = options_.independent.choose_target_transform;
  return apart;
}

// A lengthscale that is searched has been tried with these rows and features.
Trial SearchRun::compared(const Chosen& chosen) {
  if (searches_lengthscale() && !chosen.trial.points.empty()) return chosen.trial;
  return try_out(1, chosen.setting, chosen.lengthscales, sizes_.fine, nullptr);
}

std::optional<Model> SearchRun::run_independent(const Chosen& joined, Ranges& ranges) {
  const SearchOptions options = of_independent();
  const std::unique_ptr<MapMaker> scalar = start_.maker->of_scalar();
  candidates_.release();
  phases_.share_rest();
  SearchRun apart(scalar == nullptr ? *start_.maker : *scalar, options, found_,
                  {X_, Y_, weights_, rule_.groups}, chosen_by_, unseen_, context_);
  apart.report_.trials = report_.trials;
  Chosen other = apart.choose_all();
  if (!beats(compared(joined), apart.compared(other)))
    return apart.finish(std::move(other), std::move(ranges));
  report_.trials = std::move(apart.report_.trials);
  return std::nullopt;
}

}  // namespace mercer::model
