// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Linear attention of batches of sequences, heads side by side in the rows of tokens: the sums over
// keys, which grow with neither queries nor keys (Choromanski et al., ICLR 2021; Wacker 2022, eq.
// 1.7).
#pragma once

#include <cstdint>
#include <memory>

#include "attention/attention_head.h"
#include "base/aligned.h"
#include "feature/feature_map.h"

namespace mercer::attention {

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
