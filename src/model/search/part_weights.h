// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The weights of a sum's parts by the marginal likelihood: multiple kernel learning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "kernel/kernel.h"
#include "model/search/ard.h"

namespace mercer::model {

/// The Gram matrix sum_i exp(theta_i) K_i of the parts of a sum; memory n^2 numbers for each part.
class WeightedGram final : public AdjustableFeatures {
 public:
  /// `sum`: a kernel of one output whose composition is a sum. Errors: those of kernel::gram.
  WeightedGram(const kernel::Kernel& sum, MatrixView<const double> X, Context& context);
  int64_t features() const override { return 0; }
  int64_t parts() const noexcept { return std::ssize(grams_); }
  /// The mean of k(x, x) over the rows, of one part.
  double mean_diagonal(int64_t part) const;
  void apply(std::span<const double> theta, Context& context, MatrixView<double> K) override;
  void pull_back(MatrixView<const double> G, Context& context, std::span<double> slope) override;

 private:
  std::vector<Matrix<double>> grams_;
  std::vector<double> weights_;
};

/// The factors of the parts' variances of the largest marginal likelihood, from 1, none below 1e-8
/// of the largest; the mean of k(x, x) stays as it was. lambda: of the start, in units of k(x, x). X: rows as the kernel sees them; Y: n x outputs; weights:
/// of the rows, or none. Without a target that varies they stay 1. Cost: n^3/3 + n^2 parts for each
/// of some 60 evaluations. Errors: OUT_OF_MEMORY, CANCELLED.
std::vector<double> learn_part_weights(const kernel::Kernel& sum, MatrixView<const double> X,
                                       MatrixView<const double> Y, double lambda, double noise,
                                       Context& context, std::span<const double> weights = {});

}  // namespace mercer::model
