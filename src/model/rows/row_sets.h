// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Seeded choices of rows: a held-out part, folds, a subsample.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mercer::model {

struct Split {
  std::vector<int64_t> train;     // ascending
  std::vector<int64_t> held_out;  // ascending
};

/// About fraction * n rows held out, by a seeded permutation; at least one row on either side, at
/// most `most` held out.
Split split_rows(int64_t n, double fraction, int64_t most, uint64_t seed);

/// What splits keep to; each list is of every row that may be numbered, or empty.
struct SplitRule {
  std::vector<double> classes = {};  // each gives its share; passed over where there are groups
  std::vector<double> groups = {};   // rows of one number are never on both sides
  bool ordered = false;              // in time: what is held out is later than what is learnt from
  bool exchangeable() const { return groups.empty() && !ordered; }
};

/// What a split is for: splits of the same seed for different purposes are independent.
enum class Purpose : uint64_t { choice = 0, unseen = 1 };
/// The same of `rows`, ascending. Each class gives its share of the rows held out, to within one
/// row. Of groups as many as come near the fraction, and of many groups no fewer than five where
/// these are at most a third of the rows; ordered: the last rows. Rows of a single group are split
/// as if there were none.
Split split_rows(const std::vector<int64_t>& rows, double fraction, int64_t most, uint64_t seed,
                 Purpose purpose = Purpose::choice, const SplitRule& rule = {});

/// Every row in one of `folds` sets, whose sizes differ by one at most. classes: of each row, or
/// none; with them each class's rows are spread as evenly, so that one of few rows is in most
/// training parts.
std::vector<std::vector<int64_t>> fold_rows(int64_t n, int64_t folds, uint64_t seed,
                                            std::span<const double> classes = {});

/// The same of `rows`: each set held out of the others. Fewer rows than folds leave some empty. A
/// fold of groups has all of their rows, and there are no more folds than groups. Ordered: the
/// first half is only learnt from, the second cut into folds, each held out of all rows before it.
std::vector<Split> fold_splits(const std::vector<int64_t>& rows, int64_t folds, uint64_t seed,
                               const SplitRule& rule = {});

/// The rows held out of all splits, split after split.
std::vector<int64_t> held_out_of(const std::vector<Split>& splits);

/// Which of rows held out stand and fall together, numbered from 0: those of a group; ordered: each
/// tenth of them, which are neighbours in time. None of exchangeable rows.
std::vector<int64_t> clusters_of(const std::vector<int64_t>& rows, const SplitRule& rule);
int64_t group_count(const std::vector<int64_t>& rows, const std::vector<double>& groups);

/// 0, 1, ..., n - 1.
std::vector<int64_t> all_rows(int64_t n);

/// Rows of `rows` that are not in `removed`; both ascending.
std::vector<int64_t> rows_without(int64_t n, const std::vector<int64_t>& removed);

/// `count` of `rows`, chosen by seed, ascending; all of them if there are no more.
std::vector<int64_t> sample_rows(const std::vector<int64_t>& rows, int64_t count, uint64_t seed);

}  // namespace mercer::model
