// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Chooses how outputs are learnt together: the lengthscale is walked with a default mixture, then
// the other mixtures are tried at the result.
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "model/search/search_run.h"

namespace mercer::model {
namespace {

// The standard errors and the relative gain by which coupled outputs must win if independent ones
// are allowed: the difference of nearly equal fits has a small standard error, too.
constexpr double kShapeErrors = 1, kShare = 0.02;

const Trial& least_of(const std::vector<Tried>& tried) {
  return std::ranges::min_element(tried, is_less,
                                  [](const Tried& one) { return one.trial.best().loss; })
      ->trial;
}

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
      add(weight, maker, std::move(coupling), joins);
    }
  }
  if (shapes.empty()) shapes.push_back(setting);
  if (!fit_.outputs.or_independent) return shapes;
  if (auto scalar = maker.of_scalar()) add(kNaN, kept(std::move(scalar)), nullptr, false);
  return shapes;
}

void SearchRun::couple(const feature::FeatureMap& map, const Setting& setting) {
  estimate_.coupling = map.outputs() > 1 ? coupling_of(map, context_) : setting.coupling;
}

void SearchRun::choose_shape(Chosen& chosen) {
  if (by_evidence()) return;
  const std::vector<Setting> shapes = shapes_of(chosen.setting);
  if (shapes.size() == 1) return;
  std::vector<Tried> joined, apart;
  std::vector<size_t> places;
  size_t alone = 0;
  for (size_t s = 0; s < shapes.size(); ++s) {
    std::vector<Tried> found = tried_with_shape(shapes[s], chosen);
    if (shapes[s].joined) {
      places.push_back(s);
      joined.push_back(std::move(found.front()));
    } else {
      alone = s;
      apart = std::move(found);
    }
  }
  const bool kept_apart = fit_.outputs.or_independent && !apart.empty();
  if (!kept_apart && !apart.empty()) {
    places.push_back(alone);
    joined.push_back(std::move(apart.front()));
  }
  const Picked best = best_of(joined);
  const Picked other = kept_apart ? best_of(apart) : Picked{};
  const bool wins = !kept_apart || beats(least_of(joined), least_of(apart));
  Tried& taken = wins ? joined[best.trial] : apart[other.trial];
  chosen.setting = shapes[wins ? places[best.trial] : alone];
  if (!chosen.lengthscales.empty() && !wins) chosen.lengthscales = {taken.lengthscale};
  chosen.take(std::move(taken.trial), wins ? best.point : other.point);
}

std::vector<Tried> SearchRun::tried_with_shape(const Setting& setting, const Chosen& chosen) {
  const auto at = [&](std::span<const double> lengthscales, const Trial* near) {
    return try_out(1, setting, lengthscales, sizes_.fine, near);
  };
  const Trial* const near = chosen.trial.points.empty() ? nullptr : &chosen.trial;
  const bool walks = !setting.joined && fit_.outputs.or_independent && searches_lengthscale() &&
                     chosen.lengthscales.size() == 1;
  std::vector<Tried> found;
  if (!walks) {
    const double lengthscale = chosen.lengthscales.empty() ? 0.0 : chosen.lengthscales[0];
    found.push_back({lengthscale, at(chosen.lengthscales, near)});
    return found;
  }
  // Independent outputs have a lengthscale of their own.
  LengthscaleWalk walk(chosen.lengthscales[0], [&](double lengthscale, const Trial* best) {
    return at({&lengthscale, 1}, best == nullptr ? near : best);
  });
  walk.climb(std::sqrt(2.0), 3);
  return walk.take();
}

Picked SearchRun::best_of(const std::vector<Tried>& tried) const {
  if (leaves_out()) {
    std::vector<const Trial*> listed;
    for (const Tried& one : tried) listed.push_back(&one.trial);
    return paired_pick(listed);
  }
  size_t best = 0;
  for (size_t s = 1; s < tried.size(); ++s)
    if (is_less(tried[s].trial.best().loss, tried[best].trial.best().loss)) best = s;
  return {best, paired_pick(tried[best].trial)};
}

}  // namespace mercer::model
