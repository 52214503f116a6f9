// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The settings of a search: transforms, drawn or gridded frequencies, the kernel, how outputs
// are learnt together, and the linear kernel of few rows.
#include <algorithm>
#include <cmath>

#include "model/prepare/input_domain.h"
#include "model/prepare/row_summary.h"
#include "model/search/search_run.h"

namespace mercer::model {

// Chooses the transform of the targets, the transform of the inputs, of few inputs whether
// frequencies are drawn or lie on a grid, and the kernel, one after the other, by a coarse walk
// under each. Least squares of skewed targets heed only the largest; errors that grow with targets
// are even in logarithms. Predictions are transformed back before they are judged. A few far values
// of a skewed input dominate distances under one lengthscale. Kernels are compared where they are
// not held back by few frequencies. Smooth kernels need a shorter lengthscale everywhere for a kink
// anywhere.

namespace {

constexpr int64_t kMostKernelInputs = 100;  // above, the walks would cost too much
// Steps up and down from the median heuristic: a factor of 256, but at most kLongest upwards.
constexpr int64_t kCoarseSteps = 8;
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

bool is_better_walk(const LengthscaleWalk& one, const LengthscaleWalk& other) {
  const Trial &a = one.best().trial, &b = other.best().trial;
  return beats(a, a.best_place(), b, b.best_place(), kSettingErrors);
}

bool tries_settings(const SearchRun& run) {
  return !run.X.sparse() && run.X.cols() <= kMostKernelInputs && run.judge.varies();
}

SettingWalk walk_coarsely(SearchRun& run, const Setting& setting, double start) {
  LengthscaleWalk walk(
      start,
      [&run, setting](double lengthscale, const Trial* near) {
        return try_out(run, run.stage, setting, {&lengthscale, 1}, run.sizes.coarse, near);
      },
      has_candidate(run, setting));
  // In few dimensions a trend and the details on it are two optima.
  if (setting.prepared->fitted.prepared(run.X.cols()) <= kFewInputs)
    walk.probe(walk.best().lengthscale / kFarBelow);
  walk.climb(2.0, kCoarseSteps);
  run.walked.push_back(setting);
  run.walked.back().loss = walk.best().trial.best().loss;
  return {run.walked.back(), std::move(walk)};
}

std::vector<Setting> other_target_transforms(SearchRun& run, const Setting& setting) {
  std::vector<Setting> others;
  if (!run.options.choose_target_transform || run.fitted_last || run.judge.classifies() ||
      setting.coupling != nullptr)
    return others;
  const RowSummary summary(run.fit.prepare, run.found, run.fit.select.seed, run.X, run.Y, run.seen,
                           run.context);
  if (!summary.has_skewed_targets()) return others;
  const std::vector<Range> ranges = summary.ranges().targets;
  const bool positive =
      std::ranges::all_of(ranges, [](const Range& range) { return range.lowest > 0; });
  for (const Transform transform : {Transform::log, Transform::rank}) {
    if (transform == Transform::log && !positive) continue;
    others.push_back(setting);
    others.back().prepared = &prepared_with(run, setting.prepared->options.transform, transform);
  }
  return others;
}

std::vector<Setting> other_transforms(SearchRun& run, const Setting& setting) {
  std::vector<Setting> others;
  if (!run.options.choose_transform || !run.fit.prepare.standardize) return others;
  for (const Transform transform : {Transform::log, Transform::rank}) {
    if (!stays_inside(run.found, transform)) continue;
    const FittedPreparation& prepared =
        prepared_with(run, transform, setting.prepared->options.target_transform);
    if (leaves_all(prepared.fitted.curves)) continue;  // no input is skewed
    others.push_back(setting);
    others.back().prepared = &prepared;
  }
  return others;
}

// Not where gradients in the lengthscale are asked for, since a grid depends on it; nor where the
// kernel itself is fitted in the end; nor for posteriors: features of a grid are periodic, so that
// one period away from the rows a posterior is as confident as among them.
std::vector<Setting> on_grid(SearchRun& run, const Setting& setting) {
  std::vector<Setting> others;
  const bool posterior = run.fitted_last && (run.fitted_last->entry->keeps_posterior ||
                                             run.fitted_last->entry->separate_classes);
  const bool gradients =
      run.by_evidence() || run.options.learns_spectrum || run.options.per_input == PerInput::on;
  if (posterior || gradients || ends_in_kernel(run, setting)) return others;
  if (auto partial = setting.partial->on_grid()) {
    others.push_back(setting);
    others.back().partial = &run.keep(std::move(partial));
  }
  return others;
}

}  // namespace

SettingWalk walk_settings(SearchRun& run) {
  SettingWalk best = walk_coarsely(run, run.start, central(run, run.start));
  if (!tries_settings(run)) return best;
  const auto try_others = [&](const std::vector<Setting>& others, const auto& start) {
    for (const Setting& other : others) {
      if (!has_time(run, "other transforms, grids and kernels")) return;
      SettingWalk walked = walk_coarsely(run, other, start(other));
      if (is_better_walk(walked.walk, best.walk)) best = std::move(walked);
    }
  };
  try_others(other_target_transforms(run, best.setting),
             [&](const Setting&) { return best.walk.best().lengthscale; });
  try_others(other_transforms(run, best.setting),
             [&run](const Setting& one) { return central(run, one); });
  try_others(on_grid(run, best.setting),
             [&](const Setting&) { return best.walk.best().lengthscale; });
  const std::vector<const PartialMap*>& kernels = kernels_beside(run, *best.setting.partial);
  for (size_t k = 0; k < kernels.size(); ++k) {
    // A rougher kernel of the same family only where the one before is kept.
    if (k > 0 && best.setting.partial != kernels[k - 1] &&
        kernels[k]->kernel()->name() == kernels[k - 1]->kernel()->name())
      continue;
    Setting other = best.setting;
    other.partial = kernels[k];
    try_others({other}, [&](const Setting& one) {
      return best.walk.best().lengthscale * usual_lengthscale(run, one) /
             usual_lengthscale(run, best.setting);
    });
  }
  return best;
}

// The linear kernel, the simplest that there is, is taken unless the choice is better by an error, or
// by kHopeless where the linear one is likelier. At long lengthscales others come near to it, but of a
// few dozen rows losses tell so little apart that walks end before.

namespace {

constexpr int64_t kMostForLinear = 600;  // rows; of more, walks see long lengthscales to their end

bool tries_linear(const SearchRun& run, const Candidate& chosen) {
  const SearchOptions& options = run.options;
  return std::max(run.X.rows(), options.all_rows) <= kMostForLinear && run.searches_lengthscale() &&
         run.lambda < 0 && run.fitted_last == nullptr && !run.by_evidence() &&
         options.per_input == PerInput::automatic && !options.learns_spectrum &&
         !options.given_features && run.fit.keep == Keep::nothing && run.leaves_out() &&
         run.rule.exchangeable() && tries_settings(run) && !run.judge.classifies() &&
         has_values_at_rows(run, chosen.setting);
}

const PartialMap* linear_of(SearchRun& run) {
  if (run.repeat != nullptr) return linear_of(run.repeat->first);
  if (run.linear == nullptr)
    if (auto linear = run.start.partial->linear()) run.linear = &run.keep(std::move(linear));
  return run.linear;
}

}  // namespace

void choose_linear(SearchRun& run, Candidate& chosen) {
  if (!tries_linear(run, chosen) || !has_time(run, "a linear kernel")) return;
  Candidate linear;
  linear.setting = chosen.setting;
  linear.setting.partial = linear_of(run);
  if (linear.setting.partial == nullptr) return;
  Trial trial = try_out(run, kFineStage, linear.setting, {}, run.sizes.fine, nullptr);
  const size_t at = paired_pick(trial);
  const auto wins = [&](double errors) {
    return beats(chosen.trial, chosen.trial.best_place(), trial, trial.best_place(), errors);
  };
  const bool likelier =
      trial.points[at].evidence < chosen.point.evidence;  // minus logarithms: less is likelier
  if (wins(likelier ? kHopeless : kSettingErrors)) return;
  linear.take(std::move(trial), at);
  chosen = std::move(linear);
}

// Settings near the kept one.

std::vector<Setting> rivals_of(const SearchRun& run, const Setting& kept) {
  std::vector<Setting> near = {kept};
  std::vector<Setting> first;  // of the first kernel
  for (const Setting& one : run.walked)
    if (one.partial == run.start.partial && bar_to_per_input(run, one) == nullptr)
      first.push_back(one);
  const auto least = std::ranges::min_element(first, is_less, &Setting::loss);
  for (const Setting& one : first) {
    const bool same = one.prepared == kept.prepared && one.partial == kept.partial;
    if (!same && one.loss <= kNear * least->loss) near.push_back(one);
  }
  return near;
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
bool is_better_coupling(const Trial& one, const Trial& other) {
  return one.best().loss < (1 - kShare) * other.best().loss &&
         beats(one, one.best_place(), other, other.best_place(), kShapeErrors);
}

TrialPlace best_of(const SearchRun& run, const std::vector<Trial>& tried) {
  if (run.leaves_out()) {
    std::vector<const Trial*> listed;
    for (const Trial& one : tried) listed.push_back(&one);
    return paired_pick(listed);
  }
  size_t best = 0;
  for (size_t s = 1; s < tried.size(); ++s)
    if (is_less(tried[s].best().loss, tried[best].best().loss)) best = s;
  return {best, paired_pick(tried[best])};
}

}  // namespace

std::vector<Setting> shapes_of(SearchRun& run, const Setting& setting) {
  std::vector<Setting> shapes;
  const auto add = [&](double shape, const PartialMap& partial, CouplingPointer coupling,
                       bool joined) {
    shapes.push_back(
        {setting.prepared, &partial, std::move(coupling), shape, joined, setting.loss});
  };
  const PartialMap& partial = *setting.partial;
  for (const double share : partial.shapes())
    add(share, run.keep(partial.at_shape(share)), nullptr, true);
  if (shapes.empty() && run.fit.outputs.structure != OutputStructure::independent) {
    const OutputRelations relations(run.fit.outputs, run.fit.coding, run.Y, run.weights,
                                    run.chosen_by, run.context);
    for (const double weight : relations.weights()) {
      CouplingPointer coupling = relations.coupling(weight, run.context);
      const bool joins = coupling != nullptr;
      if (joins || !run.fit.outputs.or_independent)
        add(weight, partial, std::move(coupling), joins);
    }
  }
  if (shapes.empty()) shapes.push_back(setting);
  return shapes;
}

void choose_shape(SearchRun& run, Candidate& chosen) {
  if (run.by_evidence()) return;
  const std::vector<Setting> shapes = shapes_of(run, chosen.setting);
  if (shapes.size() == 1) return;
  const Trial* const near = chosen.trial.points.empty() ? nullptr : &chosen.trial;
  std::vector<Trial> tried;
  for (const Setting& shape : shapes)
    tried.push_back(try_out(run, kFineStage, shape, chosen.lengthscales, run.sizes.fine, near));
  const TrialPlace best = best_of(run, tried);
  chosen.setting = shapes[best.trial];
  chosen.take(std::move(tried[best.trial]), best.point);
}

namespace {

SearchOptions of_independent(const SearchRun& run) {
  SearchOptions apart = run.options;
  apart.fit.outputs = {};
  apart.fit.prepare.scale = run.options.independent.scale;
  apart.choose_transform = run.options.independent.choose_transform;
  apart.choose_target_transform = run.options.independent.choose_target_transform;
  return apart;
}

// A lengthscale that is searched has been tried with these rows and features.
Trial compared(SearchRun& run, const Candidate& chosen) {
  if (run.searches_lengthscale() && !chosen.trial.points.empty()) return chosen.trial;
  return try_out(run, kFineStage, chosen.setting, chosen.lengthscales, run.sizes.fine, nullptr);
}

}  // namespace

std::optional<Model> run_independent(SearchRun& run, const Candidate& joined, Ranges& ranges) {
  if (!has_time(run, "independent outputs")) return std::nullopt;
  const SearchOptions options = of_independent(run);
  const std::unique_ptr<PartialMap> scalar = run.start.partial->of_scalar();
  run.candidates.release();
  run.phases.share_rest();
  SearchRun apart(scalar == nullptr ? *run.start.partial : *scalar, options, run.found,
                  {run.X, run.Y, run.weights, run.rule.groups}, run.chosen_by, run.unseen,
                  run.context);
  apart.report.trials = run.report.trials;
  begin(apart);
  Candidate other = choose_all(apart);
  if (!is_better_coupling(compared(run, joined), compared(apart, other)))
    return finish(apart, std::move(other), std::move(ranges));
  run.report.trials = std::move(apart.report.trials);
  return std::nullopt;
}

}  // namespace mercer::model
