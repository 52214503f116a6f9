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

/// What a split is for: splits of the same seed for different purposes are independent.
enum class Purpose : uint64_t { choice = 0, unseen = 1 };
/// The same of `rows`, ascending. classes: of every row that `rows` may number, or none; with them
/// each class gives its share of the rows held out, to within one row.
Split split_rows(const std::vector<int64_t>& rows, double fraction, int64_t most, uint64_t seed,
                 Purpose purpose = Purpose::choice, std::span<const double> classes = {});

/// Every row in one of `folds` sets, whose sizes differ by one at most. classes: of each row, or
/// none; with them each class's rows are spread as evenly, so that one of few rows is in most
/// training parts.
std::vector<std::vector<int64_t>> fold_rows(int64_t n, int64_t folds, uint64_t seed,
                                            std::span<const double> classes = {});

/// The same of `rows`: each set held out of the others. Fewer rows than folds leave some empty.
/// classes: of every row that `rows` may number.
std::vector<Split> fold_splits(const std::vector<int64_t>& rows, int64_t folds, uint64_t seed,
                               std::span<const double> classes = {});

/// 0, 1, ..., n - 1.
std::vector<int64_t> all_rows(int64_t n);

/// Rows of `rows` that are not in `removed`; both ascending.
std::vector<int64_t> rows_without(int64_t n, const std::vector<int64_t>& removed);

/// `count` of `rows`, chosen by seed, ascending; all of them if there are no more.
std::vector<int64_t> sample_rows(const std::vector<int64_t>& rows, int64_t count, uint64_t seed);

}  // namespace mercer::model
