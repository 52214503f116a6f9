// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tokens for tests of attention, and its definition by plain sums.
#pragma once

#include <memory>

#include "attention/attention.h"
#include "support/dense.h"
#include "support/made_map.h"
#include "support/map_calls.h"

namespace mercer::test {

using attention::AttentionShape, attention::Tokens;
using SharedMap = std::shared_ptr<const feature::FeatureMap>;

inline SharedMap softmax_map(int64_t d, int64_t D, const Parameters& options = {},
                             uint64_t seed = 5, double lengthscale = 1) {
  return made_map("positive", {{"kernel", "exponential"}, {"lengthscale", lengthscale}}, d, D, seed,
                  options);
}

/// Random tokens; rows lie `gap` numbers apart.
template <class T>
struct TokenRows {
  Matrix<T> Q, K, V;
  AttentionShape shape;
  int64_t d, gap;
  Matrix<double> weights = {};

  TokenRows(const AttentionShape& s, int64_t inputs, int64_t gap_in = 0, double scale = 1)
      : Q(random_matrix<T>(s.batch * s.queries, s.heads * inputs + gap_in, 1)),
        K(random_matrix<T>(s.batch * s.keys, s.heads * inputs + gap_in, 2)),
        V(random_matrix<T>(s.batch * s.keys, s.heads * s.values + gap_in, 3)),
        shape(s),
        d(inputs),
        gap(gap_in) {
    for (const Matrix<T>* X : {&Q, &K})
      for (int64_t i = 0; i < X->rows() * X->cols(); ++i) X->data()[i] *= static_cast<T>(scale);
  }
  Tokens<T> view() const {
    const auto all = [&](const Matrix<T>& X) {
      return MatrixView<const T>(X.view().block_cols(0, X.cols() - gap));
    };
    return {all(Q), all(K), all(V), weights.view()};
  }
  int64_t width() const { return shape.heads * shape.values; }

  /// Keys count 0, 0.5 or 2; of every other sequence the first 70 nothing.
  void weigh() {
    weights = Matrix<double>(K.rows(), 1);
    for (int64_t i = 0; i < K.rows(); ++i) {
      const bool padding = i / shape.keys % 2 == 1 && i % shape.keys < 70;
      weights(i, 0) = padding || i % 3 == 0 ? 0 : i % 3 == 1 ? 0.5 : 2;
    }
  }
  /// What keys of weight 0 hold.
  void fill_masked(T key, T value) const {
    for (int64_t i = 0; i < K.rows(); ++i) {
      if (weights(i, 0) != 0) continue;
      std::fill_n(K.view().row(i), K.cols(), key);
      std::fill_n(V.view().row(i), V.cols(), value);
    }
  }
};

template <class T>
Matrix<T> attended(const SharedMap& map, const TokenRows<T>& tokens, bool causal, int threads = 1) {
  Matrix<T> out(tokens.Q.rows(), tokens.width());
  Context context;
  context.threads = threads;
  attention::attend(map, tokens.shape, causal, tokens.view(), context, out.view());
  return out;
}

/// By the definition, from weight(row of Q, row of K, head).
template <class T, class Weight>
Matrix<double> attended_plainly(const TokenRows<T>& t, bool causal, const Weight& weight) {
  const AttentionShape& s = t.shape;
  Matrix<double> out(t.Q.rows(), t.width());
  for (int64_t row = 0; row < t.Q.rows(); ++row) {
    const int64_t first = row / s.queries * s.keys;
    const int64_t count = causal ? row % s.queries + 1 : s.keys;
    for (int64_t h = 0; h < s.heads; ++h) {
      std::vector<long double> sums(s.values + 1, 0);
      for (int64_t j = first; j < first + count; ++j) {
        const double own = t.weights.rows() == 0 ? 1 : t.weights(j, 0);
        if (own == 0) continue;
        const long double w = own * weight(row, j, h);
        for (int64_t o = 0; o < s.values; ++o) sums[o] += w * t.V(j, h * s.values + o);
        sums[s.values] += w;
      }
      for (int64_t o = 0; o < s.values; ++o)
        out(row, h * s.values + o) = static_cast<double>(sums[o] / sums[s.values]);
    }
  }
  return out;
}

/// With the map's own features.
template <class T>
Matrix<double> attended_by_features(const feature::FeatureMap& map, const TokenRows<T>& t,
                                    bool causal) {
  std::vector<Matrix<T>> Zq, Zk;
  for (int64_t h = 0; h < t.shape.heads; ++h) {
    const auto features = [&](const Matrix<T>& X) {
      const auto head = X.view().block_cols(h * t.d, (h + 1) * t.d);
      return features_of(map, Input<T>(MatrixView<const T>(head)));
    };
    Zq.push_back(features(t.Q));
    Zk.push_back(features(t.K));
  }
  return attended_plainly(t, causal, [&](int64_t i, int64_t j, int64_t h) {
    long double sum = 0;
    for (int64_t k = 0; k < map.row_length(); ++k)
      sum += static_cast<long double>(Zq[h](i, k)) * Zk[h](j, k);
    return sum;
  });
}

}  // namespace mercer::test
