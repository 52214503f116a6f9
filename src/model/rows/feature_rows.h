// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The rows of a data set as blocks of features, or of inputs; scores.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "feature/feature_map.h"
#include "model/prepare/preparation.h"
#include "model/prepare/row_coding.h"
#include "model/rows/direct_sums.h"
#include "model/rows/row_sets.h"
#include "solver/block_source.h"
#include "solver/ridge_system.h"
#include "solver/row_statistics.h"

namespace mercer::model {

// The rows of a data set as blocks of features: standardises, maps and codes the targets, a bounded
// number of rows at a time. Fits of rows in memory read data through it, so that n x D numbers
// never exist at once.

using solver::RowSet;
/// Rows per block: depends on d (0 for rows that stay sparse) and D alone, not on the machine.
int64_t block_rows(int64_t inputs, int64_t features);

/// Rows in memory. Targets are coded: one-hot for classification.
class FeatureRows final : public solver::BlockSource {
 public:
  /// References are kept. A map with several outputs gives its scalar features, which
  /// coupled_system.h joins, or, if it is made of none, those of each output side by side. made_of:
  /// for kernel values (in double) the row of each column, ascending.
  FeatureRows(const feature::FeatureMap& map, const Preparation& preparation,
              const TargetOptions& coding, feature::Precision precision, const TargetedRows& rows,
              std::vector<int64_t> made_of = {});

  int64_t features() const override { return map_.outputs() * map_.row_length(); }
  bool has_features_by_output() const override { return map_.outputs() > 1; }
  int64_t outputs() const override {
    return coding_.targets == Targets::inputs ? inputs() : coded_outputs(coding_, data_.Y.cols);
  }
  int64_t rows() const override { return set_.count; }
  int64_t block_rows() const override;
  std::vector<double> classes() const override;
  std::vector<double> groups() const override;
  bool is_complete() const override;
  bool is_complex() const override { return !real_parts_ && map_.is_complex(); }
  /// Re and im of complex features count as features of their own, whose inner products are the real
  /// parts of the estimates of k.
  void take_real_parts() { real_parts_ = true; }
  std::optional<std::vector<int64_t>> kernel_columns() const override;
  void for_each(Context& context, const Body& body) const override;
  void for_each_target(Context& context, const TargetBody& body) const override;
  std::unique_ptr<solver::BlockSource> subset(RowSet rows) const override {
    return std::make_unique<FeatureRows>(chosen(rows));
  }
  std::unique_ptr<solver::BlockSource> input_rows() const override;
  FeatureRows chosen(RowSet rows) const;
  /// The same rows with the features of another map of as many inputs, which is referred to.
  FeatureRows under(const feature::FeatureMap& map) const;
  std::optional<solver::FactoredRows> factored() const override;
  std::optional<solver::FeatureEntries> entries(Context& context) const override;
  bool add_to(solver::RowStatistics& statistics, Context& context, const solver::RowsDone& done,
              const Weigh& weigh) const override;
  std::unique_ptr<solver::NormalSums> normal_sums(Context& context,
                                                  const solver::RowsDone& done) const override;
  /// Where these pay.
  void add_to(DirectSums& sums, Context& context, const solver::RowsDone& done,
              const Weigh& weigh) const;
  void add_to(NormalGrid& sums, Context& context, const solver::RowsDone& done) const;
  bool for_each_product(MatrixView<const double> W, Context& context,
                        const ProductBody& body) const override;
  /// Blocks count from row `begin`.
  void for_each_product(const DirectProducts& products, int64_t begin, Context& context,
                        const ProductBody& body) const;

 private:
  template <class U>
  class Inputs;  // a block of prepared inputs in the precision of the features
  template <class U>
  void stream(Context& context, const Body& body) const;
  void load_targets(int64_t first, MatrixView<double> codes) const;
  void load_inputs(int64_t first, MatrixView<double> prepared) const;
  void load_exact_inputs(int64_t first, MatrixView<double> X) const;
  /// use(X, Y, weights) for blocks of rows.
  template <class Use>
  void for_each_inputs(Context& context, const solver::RowsDone& done, const Use& use) const;
  std::span<const double> load_weights(int64_t first, int64_t count,
                                       std::vector<double>& storage) const;
  int64_t inputs() const { return map_.inputs(); }  // prepared

  const feature::FeatureMap& map_;
  const Preparation& preparation_;
  TargetOptions coding_;
  feature::Precision precision_;
  TargetedRows data_;
  std::vector<int64_t> made_of_;
  bool stays_sparse_;
  bool real_parts_ = false;
  solver::ChosenRows set_;
};

// Standardised inputs as features: ridge on them is the linear model.

class InputRows final : public solver::BlockSource {
 public:
  /// References are kept.
  InputRows(const Preparation& preparation, const TargetOptions& coding, const TargetedRows& rows);
  int64_t features() const override { return preparation_.prepared(data_.X.cols()); }
  int64_t outputs() const override;
  int64_t rows() const override { return set_.count; }
  int64_t block_rows() const override;
  bool is_complete() const override;
  void for_each(Context& context, const Body& body) const override;
  std::unique_ptr<solver::BlockSource> subset(solver::RowSet rows) const override;

 private:
  const Preparation& preparation_;
  TargetOptions coding_;
  TargetedRows data_;
  solver::ChosenRows set_;
};

// Linear scores of a source, row after row.

/// A row, its coded target, its weight and its scores, one set of coefficients after the other.
using ScoredRow =
    std::function<void(int64_t row, const double* code, double weight, const double* scores)>;

/// One pass over the rows for all sets of coefficients: features are computed once. weights must
/// not be empty.
void for_each_scored(const solver::BlockSource& rows, std::span<const solver::Weights> weights,
                     Context& context, const ScoredRow& body);

}  // namespace mercer::model
