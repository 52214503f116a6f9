// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows in memory with targets, seeded choices of them, and copies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "model/prepare/row_coding.h"
#include "solver/row_weights.h"

namespace mercer::model {

// Seeded choices of rows: held-out parts, folds, subsamples.

struct Split {
  std::vector<int64_t> train;     // ascending
  std::vector<int64_t> held_out;  // ascending
};

/// Constraints on splits; each list has an entry for every row, or is empty.
struct SplitRule {
  std::vector<double> classes = {};  // stratified; ignored if there are groups
  std::vector<double> groups = {};   // a group is never on both sides
  bool ordered = false;              // in time: rows held out are later than training rows
  bool exchangeable() const { return groups.empty() && !ordered; }
};

/// Splits of the same seed for different purposes are independent.
enum class Purpose : uint64_t { choice = 0, unseen = 1 };
/// Holds out about that fraction of `rows` (ascending) by a seeded permutation: at most `most`, at
/// least one row on either side. Classes are stratified to within one row. Groups: whole groups
/// near the fraction, at least five of them if these are at most a third of the rows; a single
/// group is split as if there were none. Ordered: the last rows are held out.
Split split_rows(const std::vector<int64_t>& rows, double fraction, int64_t most, uint64_t seed,
                 Purpose purpose = Purpose::choice, const SplitRule& rule = {});

/// Assigns every row to one of `folds` sets, whose sizes differ by one at most. classes: of each
/// row, or empty; each class is spread as evenly.
std::vector<std::vector<int64_t>> fold_rows(int64_t n, int64_t folds, uint64_t seed,
                                            std::span<const double> classes = {});

/// Cross-validation splits of `rows`; with fewer rows than folds some are empty. Groups stay whole,
/// and there are no more folds than groups. Ordered: the second half is cut into folds, each held
/// out of all rows before it.
std::vector<Split> fold_splits(const std::vector<int64_t>& rows, int64_t folds, uint64_t seed,
                               const SplitRule& rule = {});

/// The held-out rows, split after split.
std::vector<int64_t> held_out_of(const std::vector<Split>& splits);

/// The cluster of each held-out row, numbered from 0, for standard errors: its group, or if ordered
/// its tenth of the rows. Empty for exchangeable rows.
std::vector<int64_t> clusters_of(const std::vector<int64_t>& rows, const SplitRule& rule);
int64_t group_count(const std::vector<int64_t>& rows, const std::vector<double>& groups);

/// 0, 1, ..., n - 1.
std::vector<int64_t> all_rows(int64_t n);
/// Those of positive weight; all without weights.
std::vector<int64_t> rows_that_count(std::span<const double> weights, int64_t n);

/// Rows 0 to n - 1 that are not in `removed`, ascending.
std::vector<int64_t> rows_without(int64_t n, const std::vector<int64_t>& removed);

/// A seeded sample of `count` rows, ascending; all of them if there are no more.
std::vector<int64_t> sample_rows(const std::vector<int64_t>& rows, int64_t count, uint64_t seed);
/// The same of rows 0 to n - 1, in memory of `count` numbers.
std::vector<int64_t> sample_rows(int64_t n, int64_t count, uint64_t seed);

// A copy of some rows of a data set: dense as dense, sparse as sparse.

class CopiedRows {
 public:
  CopiedRows(const Rows& of, solver::RowSet rows, Context& context);
  Rows rows() const;

 private:
  template <class T>
  struct Sparse {
    int64_t cols = 0;
    AlignedBuffer<int64_t> offsets, indices;
    AlignedBuffer<T> values;
  };
  template <class T>
  void copy(const MatrixView<const T>& X, solver::RowSet rows, Context& context);
  template <class T>
  void copy(const CsrView<T>& X, solver::RowSet rows, Context& context);

  std::variant<Matrix<double>, Matrix<float>, Sparse<double>, Sparse<float>> storage_;
};

/// A copy of some rows of targets.
Matrix<double> copied_targets(MatrixView<const double> Y, solver::RowSet rows, Context& context);

// Training rows in memory.

/// Y may have no columns (prediction), and NaN for missing targets. weights may be empty: 1 each.
struct TargetedRows {
  Rows X;
  MatrixView<const double> Y;
  std::span<const double> weights = {};
  std::span<const double> groups = {};  // a number for each row, or none: splits keep them together
};

/// The rows that a map is made from: all of `from`, or a seeded sample of max(10,000, sample).
struct RowsForMap {
  PreparedRows X;
  Matrix<double> Y;  // coded
};
RowsForMap rows_for_map(const TargetedRows& rows, const Preparation& preparation,
                        const TargetOptions& coding, const std::vector<int64_t>& from,
                        int64_t sample, uint64_t seed, Context& context);

/// Whether no target of these rows is NaN.
inline bool is_complete(MatrixView<const double> Y, solver::RowSet rows) {
  for (int64_t i = 0; i < rows.count; ++i) {
    const double* const y = Y.row(rows[i]);
    if (std::any_of(y, y + Y.cols, [](double x) { return std::isnan(x); })) return false;
  }
  return true;
}

}  // namespace mercer::model
