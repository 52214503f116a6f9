// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Linear attention of one head, 64 tokens at a time (Katharopoulos et al. 2020, in blocks): with
// keys j and the features phi of queries and keys,
//   o_i = sum_j phi(q_i)'phi(k_j) v_j / sum_j phi(q_i)'phi(k_j)
// is a quotient of products with the sums of (v_j, 1) phi(k_j)', e x D numbers, e = d_v + 1. Nothing
// here allocates or throws: it runs on the threads of a parallel loop.
#pragma once

#include <cstdint>

#include "base/matrix_view.h"

namespace mercer::statistic {

/// The tokens of a head that are multiplied together.
inline constexpr int64_t kTokens = 64;

/// The sums over keys of a head. Keys count exp(log - most) where a map divides the rows of its
/// features by exp(log): `most` is the largest log so far, 0 if it does not.
struct HeadSums {
  MatrixView<double> sums;  // e x D
  double* most;
};
/// No keys. scaled: rows of features have logs.
void clear(const HeadSums& sums, bool scaled) noexcept;
/// to += from.
void merge(const HeadSums& from, const HeadSums& to) noexcept;

/// Keys of a head: features, the logs of their factors (n x 1, or no data), and values.
template <class T>
struct HeadKeys {
  MatrixView<const T> Z;
  MatrixView<const double> logs;
  MatrixView<const T> V;

  int64_t count() const { return Z.rows; }
  HeadKeys rows(int64_t i0, int64_t i1) const {
    return {Z.block_rows(i0, i1), logs.data == nullptr ? logs : logs.block_rows(i0, i1),
            V.block_rows(i0, i1)};
  }
};

/// What one worker writes on, for D features and e = d_v + 1.
template <class T>
class HeadScratch {
 public:
  static int64_t numbers(int64_t D, int64_t e);
  HeadScratch(T* begin, int64_t D, int64_t e) noexcept;

  MatrixView<T> sums;      // e x D: rounded
  MatrixView<T> values;    // kTokens x e: weight (v, 1)
  MatrixView<T> turned;    // e x kTokens: its transpose
  MatrixView<T> weights;   // kTokens x kTokens
  MatrixView<T> products;  // kTokens x e
  MatrixView<T> within;    // kTokens x e
};

/// Adds keys.
template <class T>
void absorb(const HeadKeys<T>& keys, const HeadScratch<T>& scratch, const HeadSums& sums) noexcept;

/// Row i of out: o_i over all keys of the sums.
template <class T>
void answer(MatrixView<const T> queries, const HeadSums& sums, const HeadScratch<T>& scratch,
            MatrixView<T> out) noexcept;

/// Key i is added, then row i of out is o_i over all keys so far; as many keys as queries. Queries
/// do not depend on later keys, even if these are not finite.
template <class T>
void answer_in_turn(MatrixView<const T> queries, const HeadKeys<T>& keys, const HeadSums& sums,
                    const HeadScratch<T>& scratch, MatrixView<T> out) noexcept;

// Parts, also of the gradient.

/// How many of the keys from `first` on, at most kTokens, may be added together: no log is so much
/// larger than those before that these would vanish.
int64_t joint_keys(MatrixView<const double> logs, int64_t first, int64_t count,
                   double most) noexcept;
/// Raises sums.most to the largest of the logs.
void raise(MatrixView<const double> logs, const HeadSums& sums) noexcept;
/// scratch.values and scratch.turned of at most kTokens keys.
template <class T>
void load_values(const HeadKeys<T>& keys, double most, const HeadScratch<T>& scratch) noexcept;
/// scratch.sums.
template <class T>
void round_sums(const HeadSums& sums, const HeadScratch<T>& scratch) noexcept;
/// Row i of scratch.products: numerators and the denominator of query i; `causal`: keys 0 to i, which
/// are loaded, count besides the sums.
template <class T>
void numerators(MatrixView<const T> queries, const HeadKeys<T>* causal,
                const HeadScratch<T>& scratch) noexcept;
/// out = numerators over denominators; NaN where the denominator is 0.
template <class T>
void divide(MatrixView<const T> products, MatrixView<T> out) noexcept;
/// Entries (i, j) with j > i become 0.
template <class T>
void clear_above_diagonal(MatrixView<T> A) noexcept;

}  // namespace mercer::statistic
