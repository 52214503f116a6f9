// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A Gaussian process by its marginal likelihood (select.by = evidence), which is maximised from the
// search's choice and from longer and shorter lengthscales. Few rows and features choose the start,
// many give the end; lambda of all rows follows in closed form. Source: Rasmussen and Williams 2006,
// section 5.4. A learnt spectrum starts where that ends.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/lbfgs.h"
#include "model/assess/warnings.h"
#include "model/search/learnt_spectrum.h"
#include "model/search/search_run.h"
#include "model/select/selection.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

constexpr TrialSize kStarting{1000, 512}, kEnding{8000, 2048};
// Of a learnt spectrum: features where none are asked for, at most half the rows; rows whose
// sums take n D^2 operations; the share that judges; the rows to a feature below which a warning
// is given.
constexpr int64_t kSpectrumFeatures = 512, kSpectrumRows = 8000, kEvidenceRowsPerFeature = 2;
constexpr double kSpectrumWork = 2147483648.0, kSpectrumJudges = 0.2;
constexpr double kStartFactors[] = {1, 0.25, 4};  // times the lengthscale that was found

}  // namespace

double SearchRun::known_noise() const {
  const Value* const noise = final_->parameters.find("noise");
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
  if (n < kEvidenceRowsPerFeature * D)
    report_.warnings.push_back(
        text("spectrum = learnt of %ld features from %ld rows, expected at most %ld: frequencies "
             "of their own fit the rows themselves",
             D, n, n / kEvidenceRowsPerFeature));
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
  const std::vector<double> weights = solver::numbers_of(learnt_, sample);
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

// The evidence of outputs that are joined or miss targets, maximised without gradients: over the
// weights or mixtures that a search tries, then by golden sections over the lengthscale and over
// the weight, each value at its likeliest lambda. One amplitude serves outputs that are joined
// (solver/ridge.h; Bonilla, Chai, Williams 2008, whose task covariance is Gamma).

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
