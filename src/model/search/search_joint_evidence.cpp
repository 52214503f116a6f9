// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The evidence of outputs that are joined or miss targets, maximised without gradients: over the
// weights or mixtures that a search tries, then by golden sections over the lengthscale and over
// the weight, each value at its likeliest lambda. One amplitude serves outputs that are joined
// (solver/evidence.h; Bonilla, Chai, Williams 2008, whose task covariance is Gamma).
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/lbfgs.h"
#include "model/search/search_run.h"
#include "model/select/selection.h"

namespace mercer::model {
namespace {

constexpr int64_t kJointRows = 1000;
constexpr int64_t kJointTargets = 2000;                      // where they are one system
constexpr double kLogFactors[] = {-1.4, -0.7, 0, 0.7, 1.4};  // of the lengthscale that was found
constexpr double kLogTolerance = 0.01, kWeightTolerance = 1e-4;  // of the largest weight tried

/// The neighbours of x in an ascending list, or its ends.
std::pair<double, double> about(double x, std::span<const double> list) {
  const auto at = std::ranges::lower_bound(list, x) - list.begin();
  const int64_t last = std::ssize(list) - 1;
  return {list[std::max<int64_t>(at - 1, 0)], list[std::min<int64_t>(at + 1, last)]};
}

}  // namespace

bool SearchRun::joins(const Setting& setting) const {
  return setting.coupling != nullptr || setting.maker->of_scalar() != nullptr ||
         !is_complete(Y_, chosen_by_);
}

void SearchRun::check_joint_evidence() const {
  const char* const bar = fit_.outputs.or_independent ? "outputs = auto, expected one structure"
                          : known_noise() > 0         ? "noise, expected it left out"
                          : options_.learns_spectrum  ? "spectrum = learnt, expected it left out"
                                                      : nullptr;
  require(bar == nullptr, MERCER_UNSUPPORTED,
          "select.by = evidence of outputs that are learnt together or miss targets with %s", bar);
}

PathPoint SearchRun::likeliest(const Setting& setting, std::span<const double> lengthscales) {
  const bool rotates = setting.maker->of_scalar() == nullptr && is_complete(Y_, chosen_by_);
  const int64_t most = rotates ? kJointRows : std::max<int64_t>(kJointTargets / Y_.cols, 2);
  const std::vector<int64_t> train =
      sample_rows(split_.train, std::min(sizes_.coarse.rows, most), fit_.select.seed);
  candidates_.use(*setting.maker);
  const solver::BlockSource& rows =
      candidates_.at(setting.prepared->by, lengthscales, sizes_.coarse.features, train);
  couple(candidates_.map(), setting);
  const auto path = solver::make_coupled_path(*rows.subset(train), estimate_.problem(), context_,
                                              counting(rows.features()));
  take_unit(candidates_.map(), rows, train);
  Selecting how = fit_.select;
  how.unit = unit_;
  std::vector<PathPoint> points = empty_path(how);
  return likeliest_point(*path, points);
}

void SearchRun::climb_joint_evidence(Chosen& chosen) {
  const std::vector<Setting> shapes = shapes_of(chosen.setting);
  std::vector<double> weights;
  double least = kInfinity;
  for (const Setting& shape : shapes) {
    weights.push_back(shape.shape);
    // Independent outputs have an amplitude each; weights near 0 have one.
    if (!shape.joined && shapes.size() > 1) continue;
    const double score = likeliest(shape, chosen.lengthscales).score;
    if (score < least) least = score, chosen.setting = shape;
  }
  std::ranges::sort(weights);
  climb_lengthscale(chosen);
  if (chosen.setting.coupling == nullptr || weights.size() == 1) return;
  const OutputRelations relations(fit_.outputs, fit_.coding, Y_, weights_, chosen_by_, context_);
  const auto with = [&](double weight) {
    Setting setting = chosen.setting;
    setting.shape = weight;
    setting.coupling = relations.coupling(weight, context_);
    return setting;
  };
  const auto [low, high] = about(chosen.setting.shape, weights);
  chosen.setting =
      with(linalg::golden_sections(low, high, kWeightTolerance * high, [&](double weight) {
        return likeliest(with(weight), chosen.lengthscales).score;
      }));
}

void SearchRun::climb_lengthscale(Chosen& chosen) {
  if (!searches_lengthscale()) return;
  const std::vector<double> found = chosen.lengthscales;
  const auto has_candidate = candidates(chosen.setting);
  const auto negative = [&](double factor) {
    const std::vector<double> at = scaled(found, std::exp(factor));
    return has_candidate(at[0]) ? likeliest(chosen.setting, at).score : kInfinity;
  };
  std::vector<double> scores;
  for (const double factor : kLogFactors) scores.push_back(negative(factor));
  const double best = kLogFactors[std::ranges::min_element(scores) - scores.begin()];
  const auto [low, high] = about(best, kLogFactors);
  chosen.lengthscales =
      scaled(found, std::exp(linalg::golden_sections(low, high, kLogTolerance, negative)));
}

}  // namespace mercer::model
