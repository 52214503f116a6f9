// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Linear attention of batches of sequences, heads side by side in the rows of tokens: the sums over
// keys, which grow with neither queries nor keys (Choromanski et al., ICLR 2021; Wacker 2022, eq.
// 1.7).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "base/aligned.h"
#include "base/views.h"
#include "feature/feature_map.h"

namespace mercer::attention {

// Linear attention of one head, 64 tokens at a time (Katharopoulos et al. 2020, in blocks): with
// keys j and the features phi of queries and keys,
//   o_i = sum_j phi(q_i)'phi(k_j) v_j / sum_j phi(q_i)'phi(k_j)
// is a quotient of products with the sums of phi(k_j) v_j', D x d_v, and of phi(k_j). Nothing here
// allocates or throws: it runs on the threads of a parallel loop.

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

/// What one worker writes on. Panels are those of transform/panel.h.
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

// Heads side by side in the rows of tokens: their features, a block of tokens at a time.

/// Tokens [first, end) of each of the sequences [begin, stop), which lie one after the other.
struct TokenBlock {
  int64_t begin, stop, first, end;

  int64_t tokens() const { return end - first; }
  int64_t sequences() const { return stop - begin; }
  int64_t rows() const { return sequences() * tokens(); }
};

/// Numbers of features at a time: they stay in the caches where heads are few.
inline constexpr int64_t kBlockNumbers = int64_t{1} << 20;

/// The tokens of a block for features of `width` numbers a head: a multiple of 64.
inline int64_t block_tokens(int64_t heads, int64_t width) {
  const int64_t numbers = checked_multiply(heads, width, "the features of a token");
  return std::max<int64_t>(64, kBlockNumbers / std::max<int64_t>(numbers, 1) / 64 * 64);
}

/// body(block), in order of the tokens of a sequence: some of one sequence, or all of several.
/// reverse: last tokens first.
template <class Body>
void for_each_token_block(int64_t batch, int64_t length, int64_t most, const Body& body,
                          bool reverse = false) {
  if (length == 0) return;
  const int64_t together = std::max<int64_t>(1, most / length), parts = ceil_divide(length, most);
  for (int64_t begin = 0; begin < batch; begin += together) {
    const int64_t stop = std::min(begin + together, batch);
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t first = (reverse ? parts - 1 - part : part) * most;
      body(TokenBlock{begin, stop, first, std::min(first + most, length)});
    }
  }
}

/// The rows of a block, of sequences of `length` tokens.
template <class T>
MatrixView<T> rows_of_block(MatrixView<T> X, const TokenBlock& block, int64_t length) {
  const int64_t begin = block.begin * length + block.first;
  return X.block_rows(begin, begin + block.rows());
}

/// The same of weights of tokens, n x 1, which may have no data.
inline MatrixView<const double> weights_of_block(MatrixView<const double> weights,
                                                 const TokenBlock& block, int64_t length) {
  return weights.data == nullptr ? weights : rows_of_block(weights, block, length);
}
/// Of sequence s of a block, from the block's.
inline MatrixView<const double> weights_of_sequence(MatrixView<const double> weights,
                                                    const TokenBlock& block, int64_t s) {
  if (weights.data == nullptr) return weights;
  return weights.block_rows(s * block.tokens(), (s + 1) * block.tokens());
}

/// Columns of head h of sequence s of a block, where each head has `width`.
template <class T>
MatrixView<T> head_of(MatrixView<T> rows, const TokenBlock& block, int64_t s, int64_t h,
                      int64_t width) {
  return rows.block_rows(s * block.tokens(), (s + 1) * block.tokens())
      .block_cols(h * width, (h + 1) * width);
}

/// rows (n x heads w) as n heads x w: the caller's, or copied to `copy`.
template <class T>
MatrixView<const T> split_heads(MatrixView<const T> rows, int64_t heads, const Matrix<T>& copy) {
  const int64_t width = rows.cols / heads;
  if (heads == 1) return rows;
  if (rows.ld == rows.cols) return {rows.data, rows.rows * heads, width};
  for (int64_t i = 0; i < rows.rows; ++i) std::copy_n(rows.row(i), rows.cols, copy.view().row(i));
  return {copy.data(), rows.rows * heads, width};
}

template <class T>
class HeadFeatures {
 public:
  /// Charged to the context; for blocks of at most that many rows.
  HeadFeatures(const feature::FeatureMap& map, int64_t heads, int64_t most_rows, Context& context)
      : map_(map),
        heads_(heads),
        Z_(most_rows, checked_multiply(heads, map.row_length(), "features"), context,
           "the features of some tokens"),
        logs_(map.row_scales() == nullptr ? 0 : most_rows, heads),
        copy_(heads == 1 ? 0 : most_rows, checked_multiply(heads, map.inputs(), "inputs"), context,
              "some tokens") {}

  /// rows: a block of tokens x heads d. weights: n x 1, or no data; tokens of weight 0, which may
  /// hold anything, have features 0.
  void fill(MatrixView<const T> rows, Context& context, MatrixView<const double> weights = {}) {
    rows_ = split_heads(counting_rows(rows, weights, context), heads_, copy_);
    const MatrixView<T> Z(Z_.data(), rows_.rows, map_.row_length());
    if (const feature::RowScales* const scales = map_.row_scales()) {
      scales->apply_scaled(rows_, context, Z,
                           std::span(logs_.data(), static_cast<size_t>(rows_.rows)));
    } else {
      map_.apply(rows_, {0, map_.features()}, context, Z);
    }
    for (int64_t i = 0; i < weights.rows; ++i) {
      if (weights(i, 0) != 0) continue;
      std::fill_n(Z_.view().row(i), Z_.cols(), T{0});
      if (logs_.rows() > 0)
        std::fill_n(logs_.view().row(i), heads_, -std::numeric_limits<double>::infinity());
    }
  }
  /// The rows of which the features are, one head after the other; none if no token counts.
  MatrixView<const T> rows() const { return rows_; }
  /// Of all tokens of a block, heads side by side.
  MatrixView<const T> view() const { return Z_.view(); }
  /// The same of n heads, one after the other.
  MatrixView<const T> split(int64_t n) const { return {Z_.data(), n, map_.row_length()}; }
  MatrixView<const double> logs() const { return logs_.view(); }

  MatrixView<const T> head(const TokenBlock& block, int64_t s, int64_t h) const {
    return head_of(view(), block, s, h, map_.row_length());
  }
  /// n x 1, or no data.
  MatrixView<const double> head_logs(const TokenBlock& block, int64_t s, int64_t h) const {
    return logs_.rows() == 0 ? MatrixView<const double>{} : head_of(logs(), block, s, h, 1);
  }

 private:
  /// In place of tokens of weight 0 the first that counts, which every map serves that serves it.
  MatrixView<const T> counting_rows(MatrixView<const T> rows, MatrixView<const double> weights,
                                    Context& context) {
    int64_t first = 0, none = 0;
    while (first < weights.rows && weights(first, 0) == 0) ++first;
    for (int64_t i = 0; i < weights.rows; ++i) none += weights(i, 0) == 0 ? 1 : 0;
    if (none == 0) return rows;
    if (none == rows.rows) return rows.block_rows(0, 0);
    if (counting_.rows() == 0) counting_ = Matrix<T>(Z_.rows(), rows.cols, context, "some tokens");
    for (int64_t i = 0; i < rows.rows; ++i)
      std::copy_n(rows.row(weights(i, 0) == 0 ? first : i), rows.cols, counting_.view().row(i));
    return counting_.view().block_rows(0, rows.rows);
  }

  const feature::FeatureMap& map_;
  int64_t heads_;
  Matrix<T> Z_;
  Matrix<double> logs_;
  Matrix<T> copy_, counting_;
  MatrixView<const T> rows_{};
};

/// Q has `queries` rows for each of `batch` sequences, K and V `keys`; their columns are those of
/// `heads` heads, d for Q and K, `values` for V.
struct AttentionShape {
  int64_t batch = 1, heads = 1, queries = 0, keys = 0, values = 0;

  int64_t items() const;
};

/// weights: how much each key counts, n x 1, or no data: 1; a key of weight 0 may hold anything.
template <class T>
struct Tokens {
  MatrixView<const T> Q, K, V;
  MatrixView<const double> weights = {};
};

/// UNSUPPORTED unless inner products of the map's features estimate a kernel of one output.
void require_attention(const feature::FeatureMap& map);

class Attention {
 public:
  /// No keys. Charged to the context, which may be null.
  Attention(std::shared_ptr<const feature::FeatureMap> map, int64_t batch, int64_t heads,
            int64_t values, Context* context = nullptr);

  const feature::FeatureMap& map() const noexcept { return *map_; }
  int64_t batch() const noexcept { return batch_; }
  int64_t heads() const noexcept { return heads_; }
  int64_t values() const noexcept { return values_; }
  int64_t keys() const noexcept { return keys_; }  // of each sequence

  /// Adds keys.
  template <class T>
  void absorb(const Tokens<T>& tokens, Context& context);
  /// Row i of out: query i over all keys.
  template <class T>
  void answer(MatrixView<const T> Q, Context& context, MatrixView<T> out) const;
  /// Token by token: adds key i, then answers query i.
  template <class T>
  void answer_in_turn(const Tokens<T>& tokens, Context& context, MatrixView<T> out);

  // What files keep: e D sums of each head, and the largest log of each.
  MatrixView<double> sums() const noexcept { return sums_.view(); }
  MatrixView<double> most() const noexcept { return most_.view(); }
  void set_keys(int64_t keys) noexcept { keys_ = keys; }
  /// Of head h of sequence s.
  HeadSums head(int64_t s, int64_t h) const noexcept;

 private:
  std::shared_ptr<const feature::FeatureMap> map_;
  int64_t batch_, heads_, values_, keys_ = 0;
  Matrix<double> sums_;  // batch heads x e D
  Matrix<double> most_;  // batch heads x 1
};

/// Without a state: full, or causal, where queries = keys.
template <class T>
void attend(std::shared_ptr<const feature::FeatureMap> map, const AttentionShape& shape,
            bool causal, const Tokens<T>& tokens, Context& context, MatrixView<T> out);

// Vector-Jacobian products of linear attention.

template <class T>
struct TokenGradients {
  MatrixView<T> Q, K, V;
};

/// With G = dL/dout of a real loss L of the answers of attend: dL/dQ, dL/dK, dL/dV. Errors:
/// UNSUPPORTED for a map without derivatives.
template <class T>
void pull_attention_back(const feature::FeatureMap& map, const AttentionShape& shape, bool causal,
                         const Tokens<T>& tokens, MatrixView<const T> G, Context& context,
                         const TokenGradients<T>& out);

// Attention by a kernel itself, and what linear attention misses of it: measured, and predicted
// from the covariances of the kernel's estimates.

/// o_i = sum_j k(q_i, k_j) v_j / sum_j k(q_i, k_j); causal: j <= i. NaN where the denominator is 0.
void attend_exactly(const kernel::Kernel& kernel, const AttentionShape& shape, bool causal,
                    const Tokens<double>& tokens, Context& context, MatrixView<double> out);

/// ||attend - attend_exactly||_F / ||attend_exactly||_F of the map as drawn.
double measured_attention_error(const std::shared_ptr<const feature::FeatureMap>& map,
                                const AttentionShape& shape, bool causal,
                                const Tokens<double>& tokens, Context& context);

/// Its root mean square over seeds, to first order in 1/D. Errors: UNSUPPORTED for a map without
/// covariance_at; INVALID_ARGUMENT (an error that is not finite).
double predicted_attention_error(const feature::FeatureMap& map, const AttentionShape& shape,
                                 bool causal, const Tokens<double>& tokens, Context& context);

}  // namespace mercer::attention
