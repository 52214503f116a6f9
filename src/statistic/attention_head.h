// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Linear attention of one head, 64 tokens at a time (Katharopoulos et al. 2020, in blocks): with
// keys j and the features phi of queries and keys,
//   o_i = sum_j phi(q_i)'phi(k_j) v_j / sum_j phi(q_i)'phi(k_j)
// is a quotient of products with the sums of phi(k_j) v_j', D x d_v, and of phi(k_j). Nothing here
// allocates or throws: it runs on the threads of a parallel loop.
#pragma once

#include <cstdint>

#include "base/matrix_view.h"

namespace mercer::statistic {

/// The tokens of a head that are multiplied together.
inline constexpr int64_t kTokens = 64;

/// The sums over keys of a head. Keys count exp(log - most) where a map divides the rows of its
/// features by exp(log): `most` is the largest log so far, 0 if it does not.
struct HeadSums {
  double* data;      // both sums, one after the other
  int64_t D, width;  // width: d_v
  double* most;

  MatrixView<double> values() const { return {data, D, width}; }
  MatrixView<double> ones() const { return {data + D * width, 1, D}; }
  int64_t size() const { return D * (width + 1); }
};
/// No keys. scaled: rows of features have logs.
void clear(const HeadSums& sums, bool scaled) noexcept;
/// to += from.
void merge(const HeadSums& from, const HeadSums& to) noexcept;

/// Keys of a head: features, the logs of their factors (n x 1, or no data), values, and how much
/// each counts (n x 1, or no data: 1). Those of weight 0 have features 0, and values of any kind.
template <class T>
struct HeadKeys {
  MatrixView<const T> Z;
  MatrixView<const double> logs;
  MatrixView<const T> V;
  MatrixView<const double> weights = {};

  int64_t count() const { return Z.rows; }
  double weight(int64_t i) const { return weights.data == nullptr ? 1 : weights(i, 0); }
  HeadKeys rows(int64_t i0, int64_t i1) const {
    return {Z.block_rows(i0, i1), logs.data == nullptr ? logs : logs.block_rows(i0, i1),
            V.block_rows(i0, i1), weights.data == nullptr ? weights : weights.block_rows(i0, i1)};
  }
};

/// What one worker writes on. Panels are those of transform/dense_panel.h.
template <class T>
class HeadScratch {
 public:
  static int64_t numbers(int64_t D, int64_t width);
  /// begin: 64-byte aligned.
  HeadScratch(T* begin, int64_t D, int64_t width) noexcept;

  MatrixView<T> sums;           // panels of the sums, rounded: D rows each
  MatrixView<T> ones;           // 1 x D
  MatrixView<T> values;         // kTokens x (d_v + 1): weight (v, 1)
  MatrixView<T> value_panels;   // kTokens rows each
  MatrixView<T> value_weights;  // 1 x kTokens
  MatrixView<T> pairs;          // kTokens x kTokens
  MatrixView<T> products;       // kTokens x (d_v + 1)
  MatrixView<T> panel;          // kTokens rows
  MatrixView<double> wide;      // 1 x (D + d_v + 1): a query and its numerators

  int64_t panels() const { return sums.rows / ones.cols; }
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

/// sums += of at most kTokens rows Z' (values, 1), of d_v + 1 columns.
template <class T>
void add_products(MatrixView<const T> Z, MatrixView<const T> values, const HeadSums& sums) noexcept;
/// scratch.values, value_panels and value_weights of at most kTokens keys.
template <class T>
void load_values(const HeadKeys<T>& keys, double most, const HeadScratch<T>& scratch) noexcept;
/// scratch.sums and ones.
template <class T>
void round_sums(const HeadSums& sums, const HeadScratch<T>& scratch) noexcept;
/// Row i of scratch.products: numerators and denominator of query i; `causal`: keys 0 to i, which
/// are loaded, count besides the sums.
template <class T>
void numerators(MatrixView<const T> queries, const HeadKeys<T>* causal,
                const HeadScratch<T>& scratch) noexcept;

}  // namespace mercer::statistic
