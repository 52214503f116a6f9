// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The rows of a data set as blocks of features: standardise, map, and code the targets, a bounded
// number of rows at a time. Everything that is learnt reads data through this one door, so that n x
// D numbers never exist at once.
#pragma once

#include <cstdint>
#include <functional>

#include "model/model.h"
#include "model/row_coding.h"
#include "model/row_sets.h"
#include "solver/row_statistics.h"

namespace mercer::model {

/// Consecutive rows [first, first + Z.rows) of a row set. One of Z32 and Z64 is empty, by the
/// precision asked for.
struct FeatureBlock {
  int64_t first = 0;
  MatrixView<const float> Z32;
  MatrixView<const double> Z64;
  MatrixView<const double> Y;  // coded targets: one-hot for classification
};

/// The same with features widened to double.
struct WideBlock {
  int64_t first = 0;
  MatrixView<const double> Z;
  MatrixView<const double> Y;
};

/// Called after every block with its number of rows: for progress. May be empty.
using RowsDone = std::function<void(int64_t rows)>;

/// Message of the INVALID_ARGUMENT for a map that returns NaN, Inf or numbers whose squares
/// overflow, such as the skewed chi^2 below its shift, or high powers of large rows.
inline constexpr const char kFeaturesNotFinite[] =
    "the map's features of X are not finite, or their squares overflow: X is outside the kernel's "
    "domain or too large";

/// Rows per block: a function of d (0 for rows that stay sparse) and D alone, so that it never
/// depends on the machine.
int64_t block_rows(int64_t inputs, int64_t features);
/// Bytes that a pass over the rows allocates.
int64_t block_bytes(int64_t inputs, int64_t features, int64_t outputs);

class FeatureRows {
 public:
  /// References are kept. Y may have no columns (prediction).
  FeatureRows(const feature::FeatureMap& map, const Standardizer& standardizer,
              const FitOptions& options, const Rows& X, MatrixView<const double> Y)
      : map_(map),
        standardizer_(standardizer),
        options_(options),
        X_(X),
        Y_(Y),
        stays_sparse_(X.sparse() && !standardizer.centres()) {}

  int64_t rows() const { return X_.rows(); }
  int64_t inputs() const { return X_.cols(); }
  int64_t features() const { return map_.features(); }
  int64_t outputs() const { return coded_outputs(options_, Y_.cols); }
  const FitOptions& options() const { return options_; }
  /// Rows per block of a pass.
  int64_t block_size() const { return block_rows(stays_sparse_ ? 0 : inputs(), features()); }

  /// Calls the body for every block in order, on the calling thread; a cancelled context stops
  /// between blocks.
  void for_each(RowSet rows, Context& context,
                const std::function<void(const FeatureBlock&)>& body) const;
  void for_each_wide(RowSet rows, Context& context,
                     const std::function<void(const WideBlock&)>& body) const;

  void add_to(solver::RowStatistics& statistics, RowSet rows, Context& context,
              const RowsDone& done = {}) const;
  void remove_from(solver::RowStatistics& statistics, RowSet rows, Context& context,
                   const RowsDone& done = {}) const;

 private:
  template <class U>
  class Inputs;  // a block of standardised inputs in the precision of the features
  template <class U>
  void stream(RowSet rows, Context& context,
              const std::function<void(const FeatureBlock&)>& body) const;
  void load_targets(RowSet rows, int64_t first, MatrixView<double> codes) const;

  const feature::FeatureMap& map_;
  const Standardizer& standardizer_;
  const FitOptions& options_;
  Rows X_;
  MatrixView<const double> Y_;
  bool stays_sparse_;
};

}  // namespace mercer::model
