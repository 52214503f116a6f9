// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of which few are not 0, one in each block of columns: a capability
// (FeatureMap::sparse_features()). Products with them cost what the others do not.
#pragma once

#include <cstdint>
#include <span>

#include "base/context.h"
#include "base/matrix_view.h"
#include "base/rows.h"

namespace mercer::feature {

class SparseFeatures {
 public:
  virtual ~SparseFeatures() = default;
  /// Entries of a row, one in each block of features() / entries() columns.
  virtual int64_t entries() const noexcept = 0;
  /// columns(i, e) and values(i, e): entry e of the features of X_i, X dense. All values of a row
  /// that is not finite are NaN.
  virtual void find_entries(MatrixView<const double> X, Context& context,
                            MatrixView<int64_t> columns, MatrixView<double> values) const = 0;
};

class FeatureMap;

/// multiply_features and add_feature_sums of feature_products.h for such a map, from its entries
/// alone: O(n entries() c) beside finding them.
void multiply_entries(const FeatureMap& map, const Rows& X, MatrixView<const double> W,
                      Context& context, const ResultView& out);
void add_entry_sums(const FeatureMap& map, const Rows& X, const Rows& Y, Context& context,
                    MatrixView<double> sums);

/// find_entries of any rows; columns and values are n x entries().
void list_entries(const FeatureMap& map, const Rows& X, Context& context,
                  MatrixView<int64_t> columns, MatrixView<double> values);

/// What ridge needs of the features of rows, Z'WZ, Z'WY and Z'W1.
struct EntryTotals {
  MatrixView<double> gram, cross;
  std::span<double> sums;
};
/// Whether a map has such features, and pairs of a row's entries cost less than products of Z.
bool entry_pairs_pay(const FeatureMap& map);
/// Adds those of dense rows to the totals, of gram to the lower triangle: n entries()^2 / 2 sums in
/// place of n D^2 / 2. weights: one for each row, or none.
void add_entry_totals(const FeatureMap& map, MatrixView<const double> X, MatrixView<const double> Y,
                      std::span<const double> weights, Context& context, const EntryTotals& to);

}  // namespace mercer::feature
