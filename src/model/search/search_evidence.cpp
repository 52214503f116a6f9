// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A Gaussian process by its marginal likelihood (select.by = evidence), which is maximised from the
// search's choice and from longer and shorter lengthscales. Few rows and features choose the start,
// many give the end; lambda of all rows follows in closed form. Source: Rasmussen and Williams 2006,
// section 5.4.
#include <algorithm>

#include "model/search/search_run.h"

namespace mercer::model {
namespace {

constexpr TrialSize kStarting{1000, 512}, kEnding{8000, 2048};
constexpr double kStarts[] = {1, 0.25, 4};  // times the lengthscale that was found

}  // namespace

Ard SearchRun::most_likely(const Chosen& chosen, const TrialSize& size, double factor,
                           double lambda) {
  ArdOptions options;
  options.common = chosen.lengthscales.size() == 1;
  options.lambda = std::max(lambda, kLeastSignal);
  const Value* const noise = options_.final_estimate->parameters.find("noise");
  if (noise != nullptr) options.noise = std::get<double>(*noise);
  std::vector<double> units = scaled(chosen.lengthscales, factor);
  units.resize(chosen.setting.prepared->by.prepared(X_.cols()), units[0]);
  return learn_from(chosen.setting, size, units, options);
}

void SearchRun::climb_evidence(Chosen& chosen) {
  if (!by_evidence()) return;
  const bool common = chosen.lengthscales.size() == 1;
  const auto take = [&](const Ard& learnt) {
    chosen.lengthscales = learnt.lengthscale;
    if (common) chosen.lengthscales.resize(1);
    chosen.point.lambda = learnt.lambda;
  };
  Ard start;
  for (const double factor : kStarts) {
    Ard learnt = most_likely(chosen, kStarting, factor, chosen.point.lambda);
    if (start.lengthscale.empty() || learnt.value < start.value) start = std::move(learnt);
  }
  take(start);
  const TrialSize size{kEnding.rows, std::min(options_.features, kEnding.features)};
  take(most_likely(chosen, size, 1, start.lambda));
  if (!common) report_relevance(chosen);
}

}  // namespace mercer::model
