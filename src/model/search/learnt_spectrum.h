// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Frequencies and weights of Fourier features learnt by the marginal likelihood.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "model/search/ard.h"

namespace mercer::model {

/// Prepared rows, coded targets and weights (or none); the first `first` rows are learnt from, the
/// others judge.
struct SpectrumRows {
  MatrixView<const double> X;
  MatrixView<const double> Y;
  std::span<const double> weights;
  int64_t first;
};

struct SpectrumOptions {
  double unit = 1;                // of lambda, k(x, x)
  double lambda = 1e-4;           // where it starts, in that unit, > kLeastArdLambda
  double noise = 0;               // variance for a row of mean weight; 0: unknown
  int64_t most_iterations = 200;  // of L-BFGS
};

struct LearntSpectrum {
  std::shared_ptr<const feature::FeatureMap> map;  // of all rows; null: none was better
  double gain = 0;         // nats by which rows held out were likelier than as drawn
  int64_t iterations = 0;  // of the descent that was best
};

/// Fourier features of frequencies and weights: theta holds F x d frequencies, then the logarithms of
/// F weights.
class TrainedFrequencies final : public AdjustableFeatures {
 public:
  /// References are kept. The kernel says k(0), and names the map's kernel.
  TrainedFrequencies(const kernel::Kernel& kernel, int64_t F, MatrixView<const double> X,
                     Context& context);
  int64_t features() const override { return 2 * F_; }
  std::unique_ptr<feature::FeatureMap> map_at(std::span<const double> theta) const;
  void apply(std::span<const double> theta, Context& context, MatrixView<double> Z) override;
  void pull_back(MatrixView<const double> G, Context& context, std::span<double> slope) override;

 private:
  const kernel::Kernel& kernel_;
  int64_t F_;
  MatrixView<const double> X_;
  Matrix<double> Z_;
  Matrix<double> turned_;  // dL / d angles
};

/// theta of a map that has_spectrum().
std::vector<double> spectrum_of(const feature::FeatureMap& map, Context& context);

/// Whether the map is [cos | sin] of frequencies in the rows as they are, which learn_spectrum
/// takes.
bool has_spectrum(const feature::FeatureMap& map);

/// From the frequencies and weights of `drawn` descends the negative log marginal likelihood of the
/// first rows, stops where the others given them are likeliest, and goes as far on all rows. Kept if
/// the others are likelier than by `drawn` by three nats, and likelier than by `rival`, the map that
/// would be used instead, at the given lambda. Memory: 5 n D + D^2 numbers, twice while others
/// judge. Cost: O(n D^2 + D^3 + n D d) for each iteration and judgement. Errors: OUT_OF_MEMORY,
/// CANCELLED.
LearntSpectrum learn_spectrum(const feature::FeatureMap& drawn, const feature::FeatureMap& rival,
                              const SpectrumRows& rows, const SpectrumOptions& options,
                              Context& context);

}  // namespace mercer::model
