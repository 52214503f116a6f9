// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Chooses how outputs are learnt together: the lengthscale is walked with a default mixture, then
// the other mixtures are tried at the result. Independent outputs, where they are allowed, have a
// search of their own, which is what it would be by itself: with the scale, grid, kernels and
// lengthscales that the other way of learning excludes.
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "model/search/search_run.h"

namespace mercer::model {
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
