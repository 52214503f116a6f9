// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How large the trials of a search are. Features and rows are halved together: the lengthscale that
// suits few features is too long for many, and the one that suits few rows likewise; with their
// ratio kept the order of lengthscales is nearly that of the whole.
#pragma once

#include <cstdint>

namespace mercer::model {

struct TrialSize {
  int64_t rows = 0, features = 0;
  bool operator==(const TrialSize&) const = default;
};

struct TrialSizes {
  TrialSize coarse, fine;
};

/// Up to so many rows candidates are judged by leave-one-out, above on held-out rows.
inline constexpr int64_t kMostLeftOut = 3000;
/// The same of rows in groups, by folds: the groups of a tenth of the rows are too few to choose by.
inline constexpr int64_t kMostFolded = 30000;

/// By leave-one-out: an eigendecomposition of the lesser of rows and features for each lengthscale,
/// which is kept to about 600 for coarse trials and 1,300 for fine ones.
TrialSizes left_out_sizes(int64_t rows, int64_t features);
/// On held-out rows: a quarter of both, then half, fewer rows where the products would take more
/// than 1e11 multiply-adds.
TrialSizes held_out_sizes(int64_t rows, int64_t features);

}  // namespace mercer::model
