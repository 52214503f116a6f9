// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What predictors from latent Gaussian processes (solver/latent_processes.h) have in common. Scores
// are logs of probabilities.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "model/estimator/predictor.h"
#include "solver/latent_processes.h"

namespace mercer::model {

/// log p, no less than the log of a positive number; NaN stays.
inline double log_score(double p) {
  constexpr double kLeast = -700;  // exp does not underflow
  return std::max(std::log(p), std::isnan(p) ? kNaN : kLeast);
}

class LatentPredictor : public Predictor {
 public:
  int64_t features() const override { return processes_.features(); }
  double share_of_prior(MatrixView<const double> Z) const override {
    return processes_.share_of_prior(Z);
  }
  std::vector<std::span<const double>> numbers() const override { return {numbers_}; }
  void check() const override {
    require(std::ranges::all_of(numbers_, [](double x) { return std::isfinite(x); }),
            MERCER_INVALID_ARGUMENT,
            "posteriors of classes are not finite, expected a larger lambda");
  }

 protected:
  explicit LatentPredictor(solver::LatentProcesses processes)
      : processes_(std::move(processes)), numbers_(processes_.numbers()) {}
  const solver::LatentProcesses& processes() const noexcept { return processes_; }

 private:
  solver::LatentProcesses processes_;
  std::vector<double> numbers_;
};

}  // namespace mercer::model
