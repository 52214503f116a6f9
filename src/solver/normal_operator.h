// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z'Z of a source as a linear operator: every product streams the blocks once, so that neither Z
// nor Z'Z is ever in memory, or goes through the entries of features that have few.
#pragma once

#include <optional>
#include <vector>

#include "linalg/conjugate_gradient.h"
#include "solver/block_source.h"

namespace mercer::solver {

/// H = (Z - 1 mean')'W(Z - 1 mean'), D x D, symmetric, with n = sum of the weights W; mean is 0
/// without centring. Means are subtracted from products, not from rows: an error of eps n |mean|
/// |Z - mean|, small beside n lambda for features of a bounded map.
class NormalOperator final : public linalg::LinearOperator {
 public:
  /// One pass over the source for n and the means.
  NormalOperator(const BlockSource& source, bool center, Context& context,
                 std::optional<FeatureEntries> entries = std::nullopt);
  /// With n and the means of all processes.
  NormalOperator(const BlockSource& source, double weight, std::vector<double> mean,
                 std::optional<FeatureEntries> entries)
      : source_(source), mean_(std::move(mean)), weight_(weight), entries_(std::move(entries)) {}
  int64_t rows() const override { return source_.features(); }
  int64_t cols() const override { return source_.features(); }
  double weight() const { return weight_; }  // n
  bool has_entries() const { return entries_.has_value(); }
  const std::vector<double>& mean() const { return mean_; }

 private:
  void multiply(linalg::Transpose transpose, MatrixView<const double> X, Context& context,
                MatrixView<double> Y) const override;
  void multiply_few(MatrixView<const double> X, const double* of_mean, Context& context,
                    MatrixView<double> Y, double* sums) const;
  void multiply_many(MatrixView<const double> X, const double* of_mean, Context& context,
                     MatrixView<double> Y, double* sums) const;
  void multiply_entries(MatrixView<const double> X, const double* of_mean, Context& context,
                        MatrixView<double> Y, double* sums) const;
  const BlockSource& source_;
  std::vector<double> mean_;  // zeros without centring
  double weight_ = 0;
  std::optional<FeatureEntries> entries_;
};

}  // namespace mercer::solver
