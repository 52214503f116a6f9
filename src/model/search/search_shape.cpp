// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How outputs are learnt together, as one more choice: the lengthscale is walked with a fair shape,
// then the others are tried at what it found.
#include <algorithm>
#include <cmath>

#include "model/search/search_run.h"

namespace mercer::model {
namespace {

// What joins outputs must win by where they may as well be apart: what is nearly the same has small
// errors of its difference, too.
constexpr double kErrors = 1, kShare = 0.02;

const Trial& least_of(const std::vector<Tried>& tried) {
  return std::ranges::min_element(tried, is_less,
                                  [](const Tried& one) { return one.trial.best().loss; })
      ->trial;
}

/// By their least losses.
bool beats(const Trial& one, const Trial& other) {
  const auto place = [](const Trial& trial) {
    return static_cast<size_t>(&trial.best() - trial.points.data());
  };
  return one.best().loss < (1 - kShare) * other.best().loss &&
         beats(one, place(one), other, place(other), kErrors);
}

}  // namespace

void SearchRun::list_shapes(const MapMaker& maker) {
  for (const double value : maker.shapes()) {
    makers_.push_back(maker.at_shape(value));
    shapes_.push_back({value, makers_.back().get()});
  }
  if (shapes_.empty() && fit_.outputs.structure != OutputStructure::independent) {
    const OutputRelations relations(fit_.outputs, fit_.coding, Y_, weights_, chosen_by_, context_);
    for (const double weight : relations.weights())
      shapes_.push_back({weight, &maker, relations.coupling(weight, context_)});
    for (Shape& shape : shapes_) shape.joined = shape.coupling != nullptr;
  }
  if (shapes_.empty()) shapes_.push_back({.maker = &maker});
  if (fit_.outputs.or_independent) {
    makers_.push_back(maker.of_scalar());
    if (makers_.back() != nullptr)
      shapes_.push_back({.maker = makers_.back().get(), .joined = false});
  }
  use(0);
}

void SearchRun::use(size_t shape) {
  shape_ = shape;
  if (maker_ != shapes_[shape].maker) candidates_.use(*shapes_[shape].maker);
  maker_ = shapes_[shape].maker;
  estimate_.coupling = shapes_[shape].coupling;
}

void SearchRun::couple(const feature::FeatureMap& map) {
  estimate_.coupling = map.outputs() > 1 ? coupling_of(map, context_) : shapes_[shape_].coupling;
}

void SearchRun::choose_shape(Chosen& chosen) {
  if (shapes_.size() == 1) return;
  std::vector<Tried> joined, apart;
  std::vector<size_t> places;
  size_t alone = 0;
  for (size_t s = 0; s < shapes_.size(); ++s) {
    use(s);
    std::vector<Tried> found = tried_with_shape(chosen);
    if (shapes_[s].joined) {
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
  use(wins ? places[best.trial] : alone);
  if (!chosen.lengthscales.empty() && !wins) chosen.lengthscales = {taken.lengthscale};
  chosen.take(std::move(taken.trial), wins ? best.point : other.point);
}

std::vector<Tried> SearchRun::tried_with_shape(const Chosen& chosen) {
  const auto at = [&](std::span<const double> lengthscales, const Trial* near) {
    return try_out(1, *chosen.prepared, lengthscales, sizes_.fine, near);
  };
  const Trial* const near = chosen.trial.points.empty() ? nullptr : &chosen.trial;
  const bool walks = !shapes_[shape_].joined && fit_.outputs.or_independent &&
                     searches_lengthscale() && chosen.lengthscales.size() == 1;
  std::vector<Tried> found;
  if (!walks) {
    const double lengthscale = chosen.lengthscales.empty() ? 0.0 : chosen.lengthscales[0];
    found.push_back({lengthscale, at(chosen.lengthscales, near)});
    return found;
  }
  // What nothing joins has a lengthscale of its own.
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
