// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a fit leaves to predict with: linear weights, or latent processes of classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/views.h"
#include "solver/latent_processes.h"
#include "solver/ridge_system.h"

namespace mercer::model {

// The part of a fitted model that depends on its kind; map, preparation and options are in Model.

/// Variances of principal components, and their total over all directions; empty: no components.
struct Components {
  std::vector<double> variances;
  double total = 0;
};

class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual int64_t features() const = 0;  // of the map that it was fitted on
  virtual int64_t outputs() const = 0;   // scores per row
  /// scores (rows x outputs) of a block of features. Called many times: no allocation.
  virtual void predict(MatrixView<const double> Z, MatrixView<double> scores) const = 0;
  /// The numbers stored in files, one span for each of the entry's sections.
  virtual std::vector<std::span<const double>> numbers() const = 0;
  /// INVALID_ARGUMENT for numbers that could not be read back.
  virtual void check() const = 0;
  /// The weights, if scores are Z w + intercept, else null.
  virtual const solver::Weights* linear() const { return nullptr; }
  /// The Gaussian processes behind classes; null: there are none.
  virtual const solver::LatentProcesses* latent() const { return nullptr; }
  /// As solver::Posterior::share_of_prior, of the processes behind classes; NaN: there are none.
  virtual double share_of_prior(MatrixView<const double>) const { return kNaN; }
};

/// Scores Z w + 1 intercept', for every model that is linear in the features.
std::shared_ptr<const Predictor> make_linear(solver::Weights weights);

// What predictors from latent Gaussian processes (solver/latent_processes.h) have in common. Scores
// are logs of probabilities.

/// log p, no less than the log of a positive number; NaN stays.
inline double log_score(double p) {
  constexpr double kLeast = -700;  // exp does not underflow
  return std::max(std::log(p), std::isnan(p) ? kNaN : kLeast);
}

class LatentPredictor : public Predictor {
 public:
  int64_t features() const override { return processes_.features(); }
  const solver::LatentProcesses* latent() const override { return &processes_; }
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
