// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A lengthscale for each input, from the one for all: learnt by gradients through few features on
// some rows, scaled by a common factor, which few features and rows misjudge, and kept only if it
// beats the one for all by more than two standard errors of their difference (one of a regression on
// many rows). Classes of many rows keep one: what won with half the features lost with all (letter).
#include <algorithm>
#include <cmath>

#include "model/ard.h"
#include "model/search_run.h"

namespace mercer::model {
namespace {

constexpr int64_t kLearningFeatures = 512;
constexpr int64_t kFirstRows = 2000;
constexpr int64_t kLearningRows = 8000;
constexpr int64_t kLastIterations = 25;
constexpr int64_t kMostInputs = 100;
constexpr int64_t kRowsPerInput = 5;  // fewer do not say which inputs matter
constexpr int64_t kFactorSteps = 6;
// d numbers were learnt from these rows, and several factors tried: one error is won by chance.
constexpr double kErrors = 2;
constexpr double kErrorsOfMany = 1;  // rows, of a regression: chance wins less
// One lengthscale that found nothing says nothing of where to start: lambda of a fit that is nearly
// constant, 1 - R^2 of one that might as well be.
constexpr double kNoSignal = 0.1;
constexpr double kUnexplained = 0.95;
constexpr double kFactor = 1.4142135623730951;

/// A search that has room for the rest does without.
int64_t learning_bytes(int64_t n, int64_t d, int64_t features, int64_t outputs) {
  return 8 * (3 * n * features + features * features + n * (4 * d + outputs));
}

/// That of an input is its flag's, if that is larger: whether it is missing belongs to it.
std::vector<double> of_inputs(std::vector<double> prepared, int64_t d,
                              const std::vector<int64_t>& flagged) {
  for (size_t k = 0; k < flagged.size(); ++k) {
    double& own = prepared[static_cast<size_t>(flagged[k])];
    own = std::max(own, prepared[static_cast<size_t>(d) + k]);
  }
  prepared.resize(static_cast<size_t>(d));
  return prepared;
}

std::vector<double> scaled(std::vector<double> lengthscales, double factor) {
  for (double& one : lengthscales) one *= factor;
  return lengthscales;
}

}  // namespace

/// From `most` rows, in units of lengthscales found before; none where there is no room.
Ard SearchRun::learn_from(int64_t most, const std::vector<double>& units,
                          const ArdOptions& options) {
  const std::vector<int64_t> sample = sample_rows(split_.train, most, fit_.seed);
  const int64_t d = std::ssize(units), n = std::ssize(sample),
                outputs = coded_outputs(fit_, Y_.cols);
  const feature::FeatureMap& unit =
      candidates_.unit(std::min({options_.features, kLearningFeatures, 2 * n}));
  if (n < kRowsPerInput * d || !unit.has_gradient() ||
      !context_.has_room(learning_bytes(n, d, unit.features(), outputs)))
    return {};
  const Matrix<double> X(n, d, context_, "rows to learn lengthscales from");
  const Matrix<double> Y(n, outputs, context_, "targets to learn lengthscales from");
  X_.visit([&](const auto& rows) {
    for (int64_t i = 0; i < n; ++i)
      standardize_row(preparation_, rows, sample[static_cast<size_t>(i)], X.view().row(i));
  });
  for (int64_t i = 0; i < n; ++i) {
    code_target(fit_, preparation_, Y_.cols, Y_.row(sample[static_cast<size_t>(i)]),
                Y.view().row(i));
    // A dropped input is constant, and stays dropped.
    for (int64_t j = 0; j < d; ++j) {
      const double l = units[static_cast<size_t>(j)];
      X.view()(i, j) = l < kDroppedLengthscale ? X.view()(i, j) / l : 0.0;
    }
  }
  Ard ard = learn_lengthscales(unit, X.view(), Y.view(), options, context_);
  for (size_t j = 0; j < units.size(); ++j)
    ard.lengthscale[j] = std::min(ard.lengthscale[j] * units[j], kDroppedLengthscale);
  return ard;
}

/// Few rows first: through few features their likelihood has a wider basin, and costs a quarter.
std::vector<double> SearchRun::learn_per_input(const Chosen& chosen) {
  const int64_t d = preparation_.prepared(X_.cols());
  ArdOptions options;
  options.lengthscale = std::sqrt(2.0 * static_cast<double>(d));
  const bool explains = judge_.classifies() || chosen.point.score < kUnexplained;
  if (chosen.point.lambda < kNoSignal && explains) {
    options.lengthscale = chosen.lengthscales[0];
    options.lambda = std::max(chosen.point.lambda, 10 * kLeastArdLambda);
  }
  const std::vector<double> ones(static_cast<size_t>(d), 1.0);
  const Ard few = learn_from(kFirstRows, ones, options);
  if (few.lengthscale.empty() || std::ssize(split_.train) <= kFirstRows) return few.lengthscale;
  options.lengthscale = 1;
  options.lambda = std::max(few.lambda, 10 * kLeastArdLambda);
  options.most_iterations = kLastIterations;
  const Ard many = learn_from(kLearningRows, few.lengthscale, options);
  return many.lengthscale.empty() ? few.lengthscale : many.lengthscale;
}

void SearchRun::try_per_input(Chosen& chosen) {
  const int64_t d = preparation_.prepared(X_.cols());
  if (!searches_lengthscale() || !maker_.has_input_lengthscales() || d < 2 || d > kMostInputs ||
      X_.sparse() || preparation_.row_norm > 0 || !judge_.varies() ||
      (judge_.classifies() && !leaves_out()))
    return;
  const std::vector<double> learnt = learn_per_input(chosen);
  if (learnt.empty()) return;
  LengthscaleWalk walk(1.0, [&](double factor, const Trial* near) {
    return try_out(2, scaled(learnt, factor), sizes_.fine, near == nullptr ? &chosen.trial : near);
  });
  walk.climb(kFactor, kFactorSteps);
  const LengthscaleWalk::Choice choice = choice_of(walk);
  if (!beats(choice.tried->trial, choice.point, chosen.trial, chosen.at,
             leaves_out() ? kErrors : kErrorsOfMany))
    return;
  report_.relevance = of_inputs(relevance(learnt), X_.cols(), preparation_.flagged);
  chosen.lengthscales = scaled(learnt, choice.tried->lengthscale);
  chosen.take(choice.tried->trial, choice.point);
}

}  // namespace mercer::model
