// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The sizes of a search's trials. Features and rows are halved together: few features, or few rows,
// alone favour longer lengthscales; with their ratio kept the ranking of lengthscales is nearly
// that of the full problem.
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

/// Up to this many rows candidates are judged by leave-one-out, above on held-out rows.
inline constexpr int64_t kMostLeftOut = 3000;
/// The limit for grouped rows, judged by folds: the groups in a tenth of the rows would be too few.
inline constexpr int64_t kMostFolded = 30000;

/// Leave-one-out: each lengthscale costs an eigendecomposition of size min(n, D), about 600 in
/// coarse trials and 1,300 in fine ones.
TrialSizes left_out_sizes(int64_t rows, int64_t features);
/// Held-out rows: a quarter of rows and features, then half; fewer rows if products would take more
/// than 1e11 multiply-adds.
TrialSizes held_out_sizes(int64_t rows, int64_t features);

}  // namespace mercer::model
