// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A Gaussian process by its marginal likelihood (select.by = evidence), which is maximised from the
// search's choice and from longer and shorter lengthscales. Few rows and features choose the start,
// many give the end; lambda of all rows follows in closed form. Source: Rasmussen and Williams 2006,
// section 5.4. A learnt spectrum starts where that ends.
#include <algorithm>
#include <cmath>

#include "model/assess/warnings.h"
#include "model/search/learnt_spectrum.h"
#include "model/search/search_run.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

constexpr TrialSize kStarting{1000, 512}, kEnding{8000, 2048};
// Of a learnt spectrum: features where none are asked for, at most half the rows; rows whose
// sums take n D^2 operations; the share that judges; the rows to a feature below which a warning
// is given.
constexpr int64_t kSpectrumFeatures = 512, kSpectrumRows = 8000, kRowsPerFeature = 2;
constexpr double kSpectrumWork = 2147483648.0, kSpectrumJudges = 0.2;
constexpr double kStartFactors[] = {1, 0.25, 4};  // times the lengthscale that was found

}  // namespace

double SearchRun::known_noise() const {
  const Value* const noise = options_.final_estimate->parameters.find("noise");
  return noise == nullptr ? 0 : std::get<double>(*noise);
}

Ard SearchRun::most_likely(const Chosen& chosen, const TrialSize& size, double factor,
                           double lambda) {
  ArdOptions options;
  options.common = chosen.lengthscales.size() == 1;
  options.unit = unit_;
  options.lambda = std::max(lambda / unit_, kLeastSignal);
  options.noise = known_noise();
  std::vector<double> units = scaled(chosen.lengthscales, factor);
  units.resize(chosen.setting.prepared->by.prepared(X_.cols()), units[0]);
  return learn_from(chosen.setting, size, units, options);
}

Ard SearchRun::likeliest_from(const Chosen& chosen) {
  Ard start;
  for (const double factor : kStartFactors) {
    Ard learnt = most_likely(chosen, kStarting, factor, chosen.point.lambda);
    if (start.lengthscale.empty() || learnt.value < start.value) start = std::move(learnt);
  }
  if (start.lengthscale.empty()) return start;
  Chosen from = chosen;
  from.lengthscales = start.lengthscale;
  from.lengthscales.resize(chosen.lengthscales.size());
  const TrialSize size{kEnding.rows, std::min(options_.features, kEnding.features)};
  return most_likely(from, size, 1, start.lambda);
}

void SearchRun::climb_evidence(Chosen& chosen, const Chosen& one) {
  if (!by_evidence()) return;
  if (joins(chosen.setting)) return climb_joint_evidence(chosen);
  if (bar_to_gradients(chosen.setting) != nullptr) return;  // only of classes, by check_gradients
  size_t wanted = chosen.lengthscales.size();
  Ard learnt = likeliest_from(chosen);
  if (learnt.lengthscale.empty()) return;  // likewise
  if (wanted > 1) {
    // Schwarz's criterion: what a lengthscale for each input would cost if it were integrated out.
    Ard common = likeliest_from(one);
    const auto rows = static_cast<double>(std::min(kEnding.rows, std::ssize(split_.train)));
    const double price = static_cast<double>(wanted - 1) * std::log(rows) / 2;
    if ((common.value - learnt.value) * learnt.nats <= price) {
      learnt = std::move(common);
      chosen.setting = one.setting;
      if (options_.per_input != PerInput::on) wanted = 1;
    }
  }
  lengthscale_at_edge_ = learnt.at_edge;
  chosen.lengthscales = learnt.lengthscale;
  chosen.lengthscales.resize(wanted, learnt.lengthscale.front());
  chosen.point.lambda = learnt.lambda;
}

int64_t SearchRun::spectrum_features() {
  const int64_t n = std::ssize(chosen_by_);
  const int64_t D = options_.given_features ? options_.features
                                            : std::clamp<int64_t>(n / 4 * 2, 2, kSpectrumFeatures);
  if (n < kRowsPerFeature * D)
    report_.warnings.push_back(
        text("spectrum = learnt of %ld features from %ld rows, expected at most %ld: frequencies "
             "of their own fit the rows themselves",
             D, n, n / kRowsPerFeature));
  return D;
}

void SearchRun::learn_frequencies(Chosen& chosen) {
  if (!options_.learns_spectrum) return;
  const int64_t D = spectrum_features();
  const auto affordable =
      static_cast<int64_t>(kSpectrumWork / (static_cast<double>(D) * static_cast<double>(D)));
  const int64_t most = std::clamp(affordable, std::min(2 * D, kSpectrumRows), kSpectrumRows);
  const Split split = split_rows(sample_rows(chosen_by_, most, fit_.select.seed), kSpectrumJudges,
                                 most, fit_.select.seed, Purpose::choice, rule_);
  std::vector<int64_t> sample = split.train;
  sample.insert(sample.end(), split.held_out.begin(), split.held_out.end());
  const auto [X, Y] = learning_rows(chosen.setting, sample);
  const std::vector<double> weights = solver::taken_weights(learnt_, sample);
  candidates_.use(*chosen.setting.maker);
  candidates_.release();
  const auto made = [&](int64_t features) {
    return candidates_.make(chosen.setting.prepared->by, chosen.lengthscales, features, {});
  };
  const LearntSpectrum learnt =
      learn_spectrum(*made(D), *made(std::min(options_.features, kEnding.features)),
                     {X.view(), Y.view(), weights, std::ssize(split.train)},
                     {.unit = unit_,
                      .lambda = std::max(chosen.point.lambda / unit_, kLeastSignal),
                      .noise = known_noise()},
                     context_);
  chosen.learnt = learnt.map;
  if (learnt.map == nullptr)
    report_.warnings.emplace_back(
        "the learnt spectrum foretells rows held out no better than the kernel's own frequencies, "
        "which are kept");
}

}  // namespace mercer::model
