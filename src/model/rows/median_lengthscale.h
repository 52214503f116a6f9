// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The median heuristic: where a search for the lengthscale starts.
#pragma once

#include <vector>

#include "model/prepare/preparation.h"

namespace mercer::model {

inline constexpr int64_t kMedianRows = 1000;  // of a sample

/// The number of pairs that median_lengthscale measures: all of a sample of 1000 rows, or as many
/// as compare 2^29 numbers (pairs times columns; reached at 1074 columns), at least 1000. One rule
/// for dense and sparse rows, so that the same rows have the same lengthscale.
int64_t median_pairs(int64_t rows, int64_t columns);

/// The median distance of up to 1000 prepared rows; sqrt(2 d), the typical distance, if most
/// pairs of rows are equal. If median_pairs are not all pairs, they are drawn by seed without
/// copying: the rank of their median then has the standard deviation 1/(2 sqrt(pairs)),
/// 0.7 % at 100,000 columns and at most 1.6 % from 46 rows on.
template <class T>
double median_lengthscale(const Preparation& preparation, MatrixView<const T> X,
                          const std::vector<int64_t>& rows, uint64_t seed, Context& context);
/// Sparse rows, scaled: the same rows and pairs.
template <class T>
double median_lengthscale(const Preparation& preparation, const CsrView<T>& X,
                          const std::vector<int64_t>& rows, uint64_t seed, Context& context);

}  // namespace mercer::model
