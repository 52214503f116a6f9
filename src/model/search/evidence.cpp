// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A Gaussian process by its marginal likelihood (select.by = evidence), which is maximised from the
// search's choice and from longer and shorter lengthscales. Few rows and features choose the start,
// many give the end; lambda of all rows follows in closed form. Source: Rasmussen and Williams 2006,
// section 5.4.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/lbfgs.h"
#include "model/search/search_run.h"
#include "model/select/selection.h"
#include "solver/coupled_system.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

constexpr TrialSize kStarting{1000, 512};
constexpr double kStartFactors[] = {1, 0.25, 4};  // times the lengthscale that was found

}  // namespace

double known_noise(const SearchRun& run) {
  const Value* const noise =
      run.fitted_last == nullptr ? nullptr : run.fitted_last->parameters.find("noise");
  return noise == nullptr ? 0 : std::get<double>(*noise);
}

namespace {

Ard most_likely(SearchRun& run, const Candidate& chosen, const TrialSize& size, double factor,
                double lambda) {
  ArdOptions options;
  options.common = chosen.lengthscales.size() == 1;
  options.unit = run.unit;
  options.lambda = std::max(lambda / run.unit, kLeastSignal);
  options.noise = known_noise(run);
  std::vector<double> units = scaled(chosen.lengthscales, factor);
  units.resize(chosen.setting.prepared->fitted.prepared(run.X.cols()), units[0]);
  return learn_from(run, chosen.setting, size, units, options);
}

Ard likeliest_from(SearchRun& run, const Candidate& chosen) {
  Ard start;
  for (const double factor : kStartFactors) {
    Ard learnt = most_likely(run, chosen, kStarting, factor, chosen.point.lambda);
    if (start.lengthscale.empty() || learnt.value < start.value) start = std::move(learnt);
  }
  if (start.lengthscale.empty()) return start;
  Candidate from = chosen;
  from.lengthscales = start.lengthscale;
  from.lengthscales.resize(chosen.lengthscales.size());
  const TrialSize size{kEvidenceEnd.rows, std::min(run.options.features, kEvidenceEnd.features)};
  return most_likely(run, from, size, 1, start.lambda);
}

}  // namespace

// The evidence of outputs that are joined or miss targets, maximised without gradients: over the
// weights or mixtures that a search tries, then by golden sections over the lengthscale and over
// the weight, each value at its likeliest lambda. One amplitude serves outputs that are joined
// (solver/ridge_system.h; Bonilla, Chai, Williams 2008, whose task covariance is Gamma).

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

bool joins(const SearchRun& run, const Setting& setting) {
  return setting.coupling != nullptr || setting.partial->of_scalar() != nullptr ||
         !is_complete(run.Y, run.chosen_by);
}

void check_joint_evidence(const SearchRun& run) {
  const bool automatic = run.fit.outputs.or_independent;
  const char* const bar = automatic                     ? "outputs = auto"
                          : known_noise(run) > 0        ? "noise"
                          : run.options.learns_spectrum ? "spectrum = learnt"
                                                        : nullptr;
  require(bar == nullptr, MERCER_UNSUPPORTED,
          "select.by = evidence of outputs that are learnt together or miss targets with %s, "
          "expected %s",
          bar, automatic ? "one structure" : "it left out");
}

namespace {

PathPoint likeliest(SearchRun& run, const Setting& setting, std::span<const double> lengthscales) {
  const bool rotates = setting.partial->of_scalar() == nullptr && is_complete(run.Y, run.chosen_by);
  const int64_t most = rotates ? kJointRows : std::max<int64_t>(kJointTargets / run.Y.cols, 2);
  const std::vector<int64_t> train =
      sample_rows(run.split.train, std::min(run.sizes.coarse.rows, most), run.fit.select.seed);
  const solver::BlockSource& rows =
      map_rows(run, setting, lengthscales, run.sizes.coarse.features, train);
  const auto system =
      solver::make_coupled_system(*rows.subset(train), run.estimate.problem(), run.context,
                                  run.phases.counting(row_units(rows.features())));
  SelectionOptions how = run.fit.select;
  how.unit = run.unit;
  std::vector<PathPoint> points = empty_path(how);
  return likeliest_point(*system, points);
}

void climb_lengthscale(SearchRun& run, Candidate& chosen) {
  if (!run.searches_lengthscale()) return;
  const std::vector<double> found = chosen.lengthscales;
  const auto is_tried = has_candidate(run, chosen.setting);
  const auto negative = [&](double factor) {
    const std::vector<double> at = scaled(found, std::exp(factor));
    return is_tried(at[0]) ? likeliest(run, chosen.setting, at).score : kInfinity;
  };
  std::vector<double> scores;
  for (const double factor : kLogFactors) scores.push_back(negative(factor));
  const double best = kLogFactors[std::ranges::min_element(scores) - scores.begin()];
  const auto [low, high] = about(best, kLogFactors);
  chosen.lengthscales =
      scaled(found, std::exp(linalg::golden_sections(low, high, kLogTolerance, negative)));
}

void climb_joint_evidence(SearchRun& run, Candidate& chosen) {
  const std::vector<Setting> shapes = shapes_of(run, chosen.setting);
  std::vector<double> weights;
  double least = kInfinity;
  for (const Setting& shape : shapes) {
    weights.push_back(shape.shape);
    // Independent outputs have an amplitude each; weights near 0 have one.
    if (!shape.joined && shapes.size() > 1) continue;
    const double score = likeliest(run, shape, chosen.lengthscales).score;
    if (score < least) least = score, chosen.setting = shape;
  }
  std::ranges::sort(weights);
  climb_lengthscale(run, chosen);
  if (chosen.setting.coupling == nullptr || weights.size() == 1) return;
  const OutputRelations relations(run.fit.outputs, run.fit.coding, run.Y, run.weights,
                                  run.chosen_by, run.context);
  const auto with = [&](double weight) {
    Setting setting = chosen.setting;
    setting.shape = weight;
    setting.coupling = relations.coupling(weight, run.context);
    return setting;
  };
  const auto [low, high] = about(chosen.setting.shape, weights);
  chosen.setting =
      with(linalg::golden_sections(low, high, kWeightTolerance * high, [&](double weight) {
        return likeliest(run, with(weight), chosen.lengthscales).score;
      }));
}

}  // namespace

void climb_evidence(SearchRun& run, Candidate& chosen, const Candidate& one) {
  if (!run.by_evidence()) return;
  if (joins(run, chosen.setting)) return climb_joint_evidence(run, chosen);
  if (bar_to_gradients(run, chosen.setting) != nullptr)
    return;  // only of classes, by check_gradients
  size_t wanted = chosen.lengthscales.size();
  Ard learnt = likeliest_from(run, chosen);
  if (learnt.lengthscale.empty()) return;  // only of classes, too
  if (wanted > 1) {
    // Schwarz's criterion: what a lengthscale for each input would cost if it were integrated out.
    Ard common = likeliest_from(run, one);
    const auto rows = static_cast<double>(std::min(kEvidenceEnd.rows, std::ssize(run.split.train)));
    const double price = static_cast<double>(wanted - 1) * std::log(rows) / 2;
    if ((common.value - learnt.value) * learnt.nats <= price) {
      learnt = std::move(common);
      chosen.setting = one.setting;
      if (run.options.per_input != PerInput::on) wanted = 1;
    }
  }
  chosen.at_edge = learnt.at_edge;
  chosen.lengthscales = learnt.lengthscale;
  chosen.lengthscales.resize(wanted, learnt.lengthscale.front());
  chosen.point.lambda = learnt.lambda;
}

}  // namespace mercer::model
