// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The sparse spectrum process of Lazaro-Gredilla, Quinonero-Candela, Rasmussen and Figueiras-Vidal
// 2010 with a weight for each frequency, as in Yang, Smola, Song and Wilson 2015 ("A la carte").
// With z = sqrt(a) [cos(w'x) | sin(w'x)] and G = [P | Q] = dL/dZ,
//   dL/dw = sum_i x_i (Q z_cos - P z_sin)_i, dL/dlog a = 1/2 sum_i (P z_cos + Q z_sin)_i.
// F (d + 1) numbers overfit where rows are few. So they have a normal prior about those that were
// drawn, and rows that are held out stop the descent, by
//   log p(held out | learnt from) = log p(all) - log p(learnt from).
#include "model/search/learnt_spectrum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/numbers.h"
#include "feature/fourier.h"
#include "linalg/blas.h"
#include "model/assess/warnings.h"
#include "model/search/ard.h"
#include "model/search/search_run.h"
#include "solver/profiled_likelihood.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

using feature::FeatureMap;
using linalg::Transpose;

constexpr const char* kSpectrum = "learning frequencies";
// Deviations of the prior: of frequencies in radians for a deviation of an input, and of log weights.
// Of 0.1, 0.2, 0.3 and 1 for frequencies, tried on airfoil, concrete and kin8nm, 0.2 and 0.3 did
// best; 0.2 holds a band of frequencies in one input back.
constexpr double kOfFrequencies = 0.3, kOfWeights = 1;
constexpr double kLeastGain = 3;       // nats: odds of 20
constexpr double kMostLog = 500;       // of weights, which are finite then
constexpr int64_t kTogether = 5;       // iterations between judgements
constexpr int64_t kPatience = 3;       // judgements without a gain
constexpr double kLeastRoot = 1e-100;  // of a weight

/// Of frequencies and log weights about those that were drawn, which phi follows.
std::vector<EvidenceObjective::Prior> prior_about(const std::vector<double>& start, int64_t F) {
  std::vector<EvidenceObjective::Prior> prior;
  for (const double center : start) prior.push_back({center, kOfFrequencies});
  prior.pop_back();
  for (auto one = prior.end() - F; one != prior.end(); ++one) one->deviation = kOfWeights;
  return prior;
}

/// Nats of the rows at so much noise beside features of unit amplitude, up to a constant.
double nats_of(const FeatureMap& map, const SpectrumRows& rows, int64_t n, double shift,
               double noise, Context& context) {
  const Matrix<double> Z(n, map.features(), context, kSpectrum);
  map.apply(rows.X.block_rows(0, n), {0, map.features()}, context, Z.view());
  solver::ProfiledLikelihood likelihood(rows.Y.block_rows(0, n), map.features(), context,
                                        rows.weights.first(rows.weights.empty() ? 0 : n),
                                        {.noise = noise});
  return likelihood.freedom() * static_cast<double>(likelihood.outputs()) *
         likelihood.at(Z.view(), shift / static_cast<double>(n)).value;
}

/// -log p(rows held out | rows learnt from), up to a constant; lambda: of the latter.
double held_out_nats(const FeatureMap& map, const SpectrumRows& rows, double lambda, double noise,
                     Context& context) {
  const double shift = lambda * static_cast<double>(rows.first);
  return nats_of(map, rows, rows.X.rows, shift, noise, context) -
         nats_of(map, rows, rows.first, shift, noise, context);
}

/// The rows that are learnt from.
SpectrumRows first_of(const SpectrumRows& rows) {
  return {rows.X.block_rows(0, rows.first), rows.Y.block_rows(0, rows.first),
          rows.weights.first(rows.weights.empty() ? 0 : rows.first), rows.first};
}

/// The descent from what was drawn, on given rows. L-BFGS begins each part without what it knew of
/// curvatures: parts of the same lengths go as far on other rows.
class Descent {
 public:
  Descent(const FeatureMap& drawn, const SpectrumRows& rows, const SpectrumOptions& options,
          Context& context)
      : F_(drawn.frequency_count()),
        features_(drawn.kernel(), F_, rows.X, context),
        objective_(features_, rows.Y, rows.weights, options.noise, context, options.unit),
        unit_(options.unit),
        variables_(spectrum_of(drawn, context)) {
    variables_.push_back(EvidenceObjective::phi_of(options.lambda));
    objective_.add_prior(prior_about(variables_, F_));
  }

  Descent(const Descent&) = delete;  // the objective refers to the features

  bool varies() const { return objective_.varies(); }
  /// The number of iterations taken.
  int64_t go_on(int64_t iterations) {
    return objective_.minimize(variables_, iterations).iterations;
  }
  double lambda() const { return unit_ * EvidenceObjective::lambda_of(variables_.back()); }
  std::unique_ptr<FeatureMap> map() const { return features_.map_at(theta()); }
  /// The same kernel but for its scale, which lambda has.
  std::unique_ptr<FeatureMap> map_of_unit_sum() const {
    std::vector<double> theta(this->theta().begin(), this->theta().end());
    double sum = 0;
    for (size_t j = theta.size() - F_; j < theta.size(); ++j) sum += std::exp(theta[j]);
    for (size_t j = theta.size() - F_; j < theta.size(); ++j) theta[j] -= std::log(sum);
    return features_.map_at(theta);
  }

 private:
  std::span<const double> theta() const {
    return std::span(variables_).first(variables_.size() - 1);
  }

  int64_t F_;
  TrainedFrequencies features_;
  EvidenceObjective objective_;
  double unit_;
  std::vector<double> variables_;
};

/// The iterations after which judged(map, lambda) was least, and that.
template <class Judge>
std::pair<int64_t, double> judged_descent(Descent descent, int64_t most, const Judge& judged) {
  std::pair<int64_t, double> best{0, kInfinity};
  if (!descent.varies()) return best;
  for (int64_t done = 0, since = 0; done < most && since < kPatience; ++since) {
    const int64_t iterations = descent.go_on(kTogether);
    done += iterations;
    const double now = judged(*descent.map(), descent.lambda());
    if (now < best.second) {
      best = {done, now};
      since = -1;
    }
    if (iterations < kTogether) break;
  }
  return best;
}

}  // namespace

TrainedFrequencies::TrainedFrequencies(const kernel::Kernel& kernel, int64_t F,
                                       MatrixView<const double> X, Context& context)
    : kernel_(kernel),
      F_(F),
      X_(X),
      Z_(X.rows, 2 * F, context, kSpectrum),
      turned_(X.rows, F, context, kSpectrum) {}

std::unique_ptr<FeatureMap> TrainedFrequencies::map_at(std::span<const double> theta) const {
  std::vector<double> weights;
  for (const double log_weight : theta.subspan(F_ * X_.cols))
    weights.push_back(std::exp(log_weight));
  return feature::make_fourier_supplied(kernel_, {theta.data(), F_, X_.cols}, weights, {});
}

void TrainedFrequencies::apply(std::span<const double> theta, Context& context,
                               MatrixView<double> Z) {
  // Where a step goes too far the likelihood is no number.
  const bool finite =
      std::ranges::all_of(theta, [](double one) { return std::isfinite(one); }) &&
      std::ranges::all_of(theta.subspan(F_ * X_.cols), [](double one) { return one < kMostLog; });
  if (!finite) {
    std::fill_n(Z.data, Z.rows * Z.cols, kNaN);
    return;
  }
  map_at(theta)->apply(X_, {0, features()}, context, Z);
  std::copy_n(Z.data, Z.rows * Z.cols, Z_.data());  // Z is about to be centred
}

void TrainedFrequencies::pull_back(MatrixView<const double> G, Context&, std::span<double> slope) {
  const std::span<double> by_weight = slope.subspan(F_ * X_.cols);
  std::ranges::fill(by_weight, 0.0);
  for (int64_t i = 0; i < X_.rows; ++i) {
    for (int64_t j = 0; j < F_; ++j) {
      const double cosine = Z_(i, j), sine = Z_(i, F_ + j);
      turned_(i, j) = G(i, F_ + j) * cosine - G(i, j) * sine;
      by_weight[j] += 0.5 * (G(i, j) * cosine + G(i, F_ + j) * sine);
    }
  }
  linalg::multiply(1.0, Transpose::yes, turned_.view(), Transpose::no, X_, 0.0,
                   {slope.data(), F_, X_.cols});
}

// Cosines at the origin are the weights' roots.
std::vector<double> spectrum_of(const FeatureMap& map, Context& context) {
  const int64_t F = map.frequency_count(), d = map.inputs();
  const Matrix<double> W = map.frequencies(context), origin(1, d), at_origin(1, 2 * F);
  origin.fill(0);
  map.apply(MatrixView<const double>(origin.view()), {0, 2 * F}, context, at_origin.view());
  std::vector<double> theta(W.data(), W.data() + F * d);
  const double k = map.kernel().value_at_zero();
  for (int64_t j = 0; j < F; ++j)
    theta.push_back(2 * std::log(std::max(at_origin(0, j), kLeastRoot)) - std::log(k));
  return theta;
}

bool has_spectrum(const FeatureMap& map) {
  return map.frequency_count() > 0 && !map.is_complex() && map.outputs() == 1 &&
         map.features() == 2 * map.frequency_count() && map.kernel().prologue() == nullptr;
}

LearntSpectrum learn_spectrum(const FeatureMap& drawn, const FeatureMap& rival,
                              const SpectrumRows& rows, const SpectrumOptions& options,
                              Context& context) {
  const auto judged = [&](const FeatureMap& map, double lambda) {
    return held_out_nats(map, rows, lambda, options.noise, context);
  };
  const double lambda = options.unit * options.lambda;
  const double start = judged(drawn, lambda);
  const double other = rival.features() == drawn.features() ? start : judged(rival, lambda);
  const auto [iterations, best] = judged_descent(Descent(drawn, first_of(rows), options, context),
                                                 options.most_iterations, judged);
  if (!(best < start - kLeastGain && best < other)) return {};
  Descent whole(drawn, rows, options, context);
  for (int64_t done = 0; done < iterations; done += kTogether)
    whole.go_on(std::min(kTogether, iterations - done));
  return {whole.map_of_unit_sum(), start - best, iterations};
}

// The stage of a search.

namespace {

// Features where none are asked for, at most half the rows; rows whose sums take n D^2 operations;
// the share that judges; the rows to a feature below which a warning is given.
constexpr int64_t kSpectrumFeatures = 512, kSpectrumRows = 8000, kEvidenceRowsPerFeature = 2;
constexpr double kSpectrumWork = 2147483648.0, kSpectrumJudges = 0.2;

int64_t spectrum_features(SearchRun& run) {
  const int64_t n = std::ssize(run.chosen_by);
  const int64_t D = run.options.given_features
                        ? run.options.features
                        : std::clamp<int64_t>(n / 4 * 2, 2, kSpectrumFeatures);
  if (n < kEvidenceRowsPerFeature * D)
    run.report.warnings.push_back(
        text("spectrum = learnt of %ld features from %ld rows, expected at most %ld: frequencies "
             "of their own fit the rows themselves",
             D, n, n / kEvidenceRowsPerFeature));
  return D;
}

}  // namespace

void learn_frequencies(SearchRun& run, Candidate& chosen) {
  if (!run.options.learns_spectrum) return;
  const int64_t D = spectrum_features(run);
  const auto affordable =
      static_cast<int64_t>(kSpectrumWork / (static_cast<double>(D) * static_cast<double>(D)));
  const int64_t most = std::clamp(affordable, std::min(2 * D, kSpectrumRows), kSpectrumRows);
  const Split split =
      split_rows(sample_rows(run.chosen_by, most, run.fit.select.seed), kSpectrumJudges, most,
                 run.fit.select.seed, Purpose::choice, run.rule);
  std::vector<int64_t> sample = split.train;
  sample.insert(sample.end(), split.held_out.begin(), split.held_out.end());
  const auto [X, Y] = learning_rows(run, chosen.setting, sample);
  const std::vector<double> weights = solver::numbers_of(run.learnt_weights, sample);
  run.candidates.use(*chosen.setting.partial);
  run.candidates.release();
  const auto made = [&](int64_t features) {
    return run.candidates.make(chosen.setting.prepared->fitted, chosen.lengthscales, features, {});
  };
  const LearntSpectrum learnt =
      learn_spectrum(*made(D), *made(std::min(run.options.features, kEvidenceEnd.features)),
                     {X.view(), Y.view(), weights, std::ssize(split.train)},
                     {.unit = run.unit,
                      .lambda = std::max(chosen.point.lambda / run.unit, kLeastSignal),
                      .noise = known_noise(run)},
                     run.context);
  chosen.learnt = learnt.map;
  if (learnt.map == nullptr)
    run.report.warnings.emplace_back(
        "the learnt spectrum foretells rows held out no better than the kernel's own frequencies, "
        "which are kept");
}

}  // namespace mercer::model
