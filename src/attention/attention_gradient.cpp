// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With N_i and s_i numerator and denominator of o_i, a_ij = phi(q_i)'phi(k_j), v~_j = (v_j, 1) and
//   g~_i = (G_i, -G_i'o_i) / s_i,   dL/da_ij = g~_i'v~_j:
//   dL/dphi(q_i) = sum_j (g~_i'v~_j) phi(k_j) = S_i g~_i,   S_i = sum_j phi(k_j) v~_j',
//   dL/dphi(k_j) = sum_i (g~_i'v~_j) phi(q_i) = R_j v~_j,   R_j = sum_i phi(q_i) g~_i',
//   dL/dv_j = the first d_v numbers of R_j'phi(k_j),
// sums over the pairs that attend. So the tokens are passed twice: queries with S growing, then
// keys with R growing, causal from the last token on; then the map's own derivative takes over.
// Within 64 tokens pairs are multiplied out.
#include <algorithm>
#include <limits>

#include "attention/attention.h"
#include "base/parallel.h"
#include "feature/derivatives.h"
#include "transform/narrow_gemm.h"
#include "transform/panel.h"

namespace mercer::attention {
namespace {

using transform::RowProducts, transform::row_products;

/// Room for what one worker makes of 64 tokens.
template <class T>
class GradientScratch {
 public:
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;
  static int64_t numbers(int64_t D, int64_t width) {
    constexpr int64_t kOwn =
        3 * kTokens * kWidth + kTokens * kTokens + transform::kPanelTransposeScratch<T>;
    return checked_add(HeadScratch<T>::numbers(D, width), kOwn, "a block of tokens");
  }
  GradientScratch(T* begin, int64_t D, int64_t width) noexcept : head(begin, D, width) {
    T* next = begin + HeadScratch<T>::numbers(D, width);
    const auto take = [&](int64_t rows, int64_t cols) {
      const MatrixView<T> part(next, rows, cols);
      next += rows * cols;
      return part;
    };
    panel_ = take(kTokens, kWidth);
    product_ = take(kTokens, kWidth);
    turned_ = take(1, transform::kPanelTransposeScratch<T>);
    pairs = take(kTokens, kTokens);
  }

  /// out += A W, A at most kTokens rows of at most kTokens numbers.
  void add_product(MatrixView<const T> A, MatrixView<const T> W, MatrixView<T> out) const noexcept {
    for (int64_t j = 0; j < W.cols; j += kWidth) {
      const int64_t width = std::min(kWidth, W.cols - j);
      for (int64_t k = 0; k < W.rows; ++k)
        std::fill(std::copy_n(W.row(k) + j, width, panel_.row(k)), panel_.row(k) + kWidth, T{0});
      transform::project_panel(A, panel_.data, product_.data);
      for (int64_t i = 0; i < A.rows; ++i)
        for (int64_t c = 0; c < width; ++c) out(i, j + c) += product_(i, c);
    }
  }

  /// out(i, m) = sum_o B(i, o) times the sums of feature m and value o, rounded in head; B has at
  /// most kTokens rows.
  void multiply_sums(MatrixView<const T> B, MatrixView<T> out) const noexcept {
    const int64_t D = head.ones.cols, last = B.cols - 1;
    for (int64_t i = 0; i < B.rows; ++i)
      for (int64_t m = 0; m < D; ++m) out(i, m) = B(i, last) * head.ones(0, m);
    for (int64_t p = 0; p < head.panels(); ++p) {
      const int64_t width = std::min(kWidth, last - p * kWidth);
      for (int64_t i = 0; i < B.rows; ++i)
        std::fill(std::copy_n(B.row(i) + p * kWidth, width, product_.row(i)),
                  product_.row(i) + kWidth, T{0});
      transform::project_panel_transpose(product_.data, head.sums.row(p * D), out, turned_.data);
    }
  }

  HeadScratch<T> head;
  MatrixView<T> pairs;

 private:
  MatrixView<T> panel_, product_, turned_;
};

/// Entries (i, j) with j > i become 0; below: those with j < i.
template <class T>
void clear_triangle(MatrixView<T> A, bool below) noexcept {
  for (int64_t i = 0; i < A.rows; ++i)
    std::fill(A.row(i) + (below ? 0 : i + 1), A.row(i) + (below ? i : A.cols), T{0});
}

/// g~ from the numerators and denominators in scratch.head.products; 0 where G is, since an answer
/// without keys, which is NaN, need not be in the loss.
template <class T>
void slopes_of(MatrixView<const T> G, const GradientScratch<T>& scratch,
               MatrixView<T> slopes) noexcept {
  for (int64_t i = 0; i < G.rows; ++i) {
    const T* const product = scratch.head.products.row(i);
    const T below = product[G.cols] == T{0} ? std::numeric_limits<T>::quiet_NaN() : product[G.cols];
    T inner = 0;
    for (int64_t o = 0; o < G.cols; ++o) {
      slopes(i, o) = G(i, o) / below;
      inner += slopes(i, o) * product[o];
    }
    slopes(i, G.cols) = -inner / below;
    if (std::all_of(G.row(i), G.row(i) + G.cols, [](T g) { return g == T{0}; }))
      std::fill_n(slopes.row(i), slopes.cols, T{0});
  }
}

/// At most kTokens queries, whose keys, if causal, are loaded: slopes and dL/dphi(q).
template <class T>
void pull_queries_back(MatrixView<const T> Zq, const HeadKeys<T>* causal, MatrixView<const T> G,
                       const GradientScratch<T>& scratch, MatrixView<T> slopes,
                       MatrixView<T> out) noexcept {
  numerators(Zq, causal, scratch.head);
  slopes_of(G, scratch, slopes);
  scratch.multiply_sums(slopes, out);
  if (causal == nullptr) return;
  const MatrixView<T> pairs = scratch.pairs.block_rows(0, Zq.rows).block_cols(0, Zq.rows);
  row_products(RowProducts<T>{slopes, scratch.head.values.block_rows(0, Zq.rows), pairs});
  clear_triangle(pairs, false);
  scratch.add_product(pairs, causal->Z, out);
}

/// At most kTokens keys, loaded, R rounded in scratch.head.sums: dL/dphi(k) and dL/dv. causal: the
/// queries of the same tokens, whose slopes R does not hold yet.
template <class T>
void pull_keys_back(const HeadKeys<T>& keys, const MatrixView<const T>* causal,
                    MatrixView<const T> slopes, const GradientScratch<T>& scratch,
                    MatrixView<T> out, MatrixView<T> dV) noexcept {
  const int64_t n = keys.count();
  const MatrixView<const T> loaded = scratch.head.values.block_rows(0, n);
  scratch.multiply_sums(loaded, out);
  numerators<T>(keys.Z, nullptr, scratch.head);
  for (int64_t i = 0; i < n; ++i) std::copy_n(scratch.head.products.row(i), dV.cols, dV.row(i));
  if (causal != nullptr) {
    const MatrixView<T> pairs = scratch.pairs.block_rows(0, n).block_cols(0, n);
    row_products(RowProducts<T>{loaded, slopes, pairs});
    clear_triangle(pairs, true);
    scratch.add_product(pairs, *causal, out);
    row_products(RowProducts<T>{keys.Z, *causal, pairs});
    clear_triangle(pairs, true);
    scratch.add_product(pairs, slopes.block_cols(0, dV.cols), dV);
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t o = 0; o < dV.cols; ++o)
      dV(i, o) = keys.weight(i) == 0 ? T{0} : dV(i, o) * scratch.head.value_weights(0, i);
}

template <class T>
class Gradient {
 public:
  Gradient(const feature::FeatureMap& map, const AttentionShape& shape, bool causal,
           const Tokens<T>& tokens, MatrixView<const T> G, Context& context,
           const TokenGradients<T>& out)
      : map_(map),
        shape_(shape),
        causal_(causal),
        tokens_(tokens),
        G_(G),
        context_(context),
        out_(out),
        D_(map.row_length()),
        e_(shape.values + 1),
        most_(block_tokens(shape.heads, D_)),
        rows_(std::min(std::max(tokens.Q.rows, tokens.K.rows), most_)),
        q_(map, shape.heads, rows_, context),
        k_(map, shape.heads, rows_, context),
        dZ_(rows_, checked_multiply(shape.heads, D_, "gradients"), context,
            "gradients of features"),
        dX_(rows_, checked_multiply(shape.heads, map.inputs(), "gradients"), context,
            "gradients of some tokens"),
        slopes_(tokens.Q.rows, checked_multiply(shape.heads, e_, "slopes"), context,
                "slopes of the answers"),
        scratch_(worker_count(context, std::min(shape.items(), rows_ * shape.heads)),
                 GradientScratch<T>::numbers(D_, shape.values), context, "sums of keys"),
        sums_(shape.items(), checked_multiply(e_, D_, "sums of keys"), context, "sums of keys"),
        largest_(shape.items(), 1) {}

  void run() {
    find_largest();
    sums_.fill(0);
    Stage stage(context_, 4);
    if (!causal_)
      stage.part(1, [&] { blocks(shape_.keys, [&](const TokenBlock& block) { absorb(block); }); });
    stage.part(causal_ ? 2 : 1, [&] {
      blocks(shape_.queries, [&](const TokenBlock& block) { pull_queries(block); });
    });
    sums_.fill(0);
    if (!causal_)
      stage.part(
          1, [&] { blocks(shape_.queries, [&](const TokenBlock& block) { add_slopes(block); }); });
    stage.part(causal_ ? 2 : 1, [&] {
      blocks(
          shape_.keys, [&](const TokenBlock& block) { pull_keys(block); }, causal_);
    });
  }

 private:
  template <class Body>
  void blocks(int64_t length, const Body& body, bool reverse = false) {
    Stage stage(context_, shape_.batch * length);
    for_each_token_block(
        shape_.batch, length, most_,
        [&](const TokenBlock& block) {
          body(block);
          stage.advance(block.rows());
          context_.checkpoint();
        },
        reverse);
  }

  /// Keys count relative to the largest of their head.
  void find_largest() {
    largest_.fill(0);
    if (map_.row_scales() == nullptr) return;
    largest_.fill(-std::numeric_limits<double>::infinity());
    blocks(shape_.keys, [&](const TokenBlock& block) {
      fill_keys(block);
      for (int64_t s = 0; s < block.sequences(); ++s)
        for (int64_t h = 0; h < shape_.heads; ++h)
          for (int64_t j = 0; j < block.tokens(); ++j) {
            double& most = *sums(block, s, h).most;
            most = std::max(most, k_.head_logs(block, s, h)(j, 0));  // which passes over a NaN
          }
    });
  }
  HeadSums sums(const TokenBlock& block, int64_t s, int64_t h) const noexcept {
    const int64_t i = (block.begin + s) * shape_.heads + h;
    return {sums_.view().row(i), D_, shape_.values, largest_.view().row(i)};
  }
  MatrixView<T> slopes(const TokenBlock& block, int64_t s, int64_t h) const noexcept {
    return head_of(rows_of_block(slopes_.view(), block, shape_.queries), block, s, h, e_);
  }
  template <class U>
  MatrixView<U> values(MatrixView<U> rows, const TokenBlock& block, int64_t length, int64_t s,
                       int64_t h) const noexcept {
    return head_of(rows_of_block(rows, block, length), block, s, h, shape_.values);
  }
  HeadKeys<T> keys(const TokenBlock& block, int64_t s, int64_t h) const noexcept {
    return {k_.head(block, s, h), k_.head_logs(block, s, h),
            values(tokens_.V, block, shape_.keys, s, h),
            weights_of_sequence(weights(block), block, s)};
  }
  MatrixView<T> features_gradient(const TokenBlock& block, int64_t s, int64_t h) const noexcept {
    return head_of(dZ_.view(), block, s, h, D_);
  }
  /// body(s, h, scratch) on every head of a block.
  template <class Body>
  void heads(const TokenBlock& block, const Body& body) {
    parallel_for(context_, block.sequences() * shape_.heads, [&](int64_t item, int w) noexcept {
      body(item / shape_.heads, item % shape_.heads,
           GradientScratch<T>(scratch_.view().row(w), D_, shape_.values));
    });
  }
  void fill_queries(const TokenBlock& block) {
    q_.fill(rows_of_block(tokens_.Q, block, shape_.queries), context_);
  }
  void fill_keys(const TokenBlock& block) {
    k_.fill(rows_of_block(tokens_.K, block, shape_.keys), context_, weights(block));
  }
  MatrixView<const double> weights(const TokenBlock& block) const noexcept {
    return weights_of_block(tokens_.weights, block, shape_.keys);
  }

  void absorb(const TokenBlock& block) {
    fill_keys(block);
    heads(block, [&](int64_t s, int64_t h, const GradientScratch<T>& scratch) {
      attention::absorb(keys(block, s, h), scratch.head, sums(block, s, h));
    });
  }

  void pull_queries(const TokenBlock& block) {
    fill_queries(block);
    if (causal_) fill_keys(block);
    heads(block, [&](int64_t s, int64_t h, const GradientScratch<T>& scratch) {
      const auto Zq = q_.head(block, s, h);
      const auto G = values(G_, block, shape_.queries, s, h);
      const auto to = slopes(block, s, h), dZ = features_gradient(block, s, h);
      for (int64_t i = 0; i < Zq.rows; i += kTokens) {
        const int64_t j = std::min(i + kTokens, Zq.rows);
        round_sums(sums(block, s, h), scratch.head);
        const HeadKeys<T> own = causal_ ? keys(block, s, h).rows(i, j) : HeadKeys<T>{};
        if (causal_) load_values(own, *sums(block, s, h).most, scratch.head);
        pull_queries_back<T>(Zq.block_rows(i, j), causal_ ? &own : nullptr, G.block_rows(i, j),
                             scratch, to.block_rows(i, j), dZ.block_rows(i, j));
        if (causal_) attention::absorb(own, scratch.head, sums(block, s, h));
      }
    });
    pull_back(block, q_, {}, rows_of_block(out_.Q, block, shape_.queries));
  }

  void add_slopes(const TokenBlock& block) {
    fill_queries(block);
    heads(block, [&](int64_t s, int64_t h, const GradientScratch<T>&) {
      add_products<T>(q_.head(block, s, h), slopes(block, s, h), sums(block, s, h));
    });
  }

  void pull_keys(const TokenBlock& block) {
    fill_keys(block);
    if (causal_) fill_queries(block);
    heads(block, [&](int64_t s, int64_t h, const GradientScratch<T>& scratch) {
      const HeadKeys<T> all = keys(block, s, h);
      const auto to = values(out_.V, block, shape_.keys, s, h), dZ = features_gradient(block, s, h);
      for (int64_t j = all.count(); j > 0;) {  // whole blocks of kTokens, counted from the first
        const int64_t i = (j - 1) / kTokens * kTokens;
        const HeadSums own = sums(block, s, h);
        round_sums(own, scratch.head);
        load_values(all.rows(i, j), *own.most, scratch.head);
        const auto Zq = causal_ ? q_.head(block, s, h).block_rows(i, j) : MatrixView<const T>{};
        const auto g = causal_ ? MatrixView<const T>(slopes(block, s, h).block_rows(i, j)) : Zq;
        pull_keys_back<T>(all.rows(i, j), causal_ ? &Zq : nullptr, g, scratch, dZ.block_rows(i, j),
                          to.block_rows(i, j));
        if (causal_) add_products<T>(Zq, g, own);
        j = i;
      }
    });
    pull_back(block, k_, weights(block), rows_of_block(out_.K, block, shape_.keys));
  }

  /// dL/dX of the tokens of a block from dL/dphi, or what is left of it where rows are scaled; 0
  /// for tokens of weight 0.
  void pull_back(const TokenBlock& block, const HeadFeatures<T>& features,
                 MatrixView<const double> weights, MatrixView<T> out) {
    const MatrixView<const T> rows = features.rows();
    const MatrixView<const T> dZ(dZ_.data(), rows.rows, D_);
    const MatrixView<T> to(dX_.data(), rows.rows, map_.inputs());
    if (const feature::RowScales* const scales = map_.row_scales()) {
      scales->pull_scaled_back(rows, features.split(rows.rows), dZ, context_, to);
    } else {
      feature::derivatives_of(map_).pull_back(rows, dZ, context_, to);
    }
    const int64_t width = shape_.heads * map_.inputs();
    for (int64_t i = 0; i < block.rows(); ++i) {
      if (weights.data != nullptr && weights(i, 0) == 0) {
        std::fill_n(out.row(i), width, T{0});
      } else {
        std::copy_n(dX_.data() + i * width, width, out.row(i));
      }
    }
  }

  const feature::FeatureMap& map_;
  const AttentionShape& shape_;
  bool causal_;
  const Tokens<T>& tokens_;
  MatrixView<const T> G_;
  Context& context_;
  const TokenGradients<T>& out_;
  int64_t D_, e_, most_, rows_;
  HeadFeatures<T> q_, k_;
  Matrix<T> dZ_, dX_, slopes_, scratch_;
  Matrix<double> sums_, largest_;  // of the logs of all keys of a head
};

}  // namespace

template <class T>
void pull_attention_back(const feature::FeatureMap& map, const AttentionShape& shape, bool causal,
                         const Tokens<T>& tokens, MatrixView<const T> G, Context& context,
                         const TokenGradients<T>& out) {
  require_attention(map);
  if (map.row_scales() == nullptr) feature::derivatives_of(map);  // refuses maps without
  Gradient<T>(map, shape, causal, tokens, G, context, out).run();
}

template void pull_attention_back(const feature::FeatureMap&, const AttentionShape&, bool,
                                  const Tokens<float>&, MatrixView<const float>, Context&,
                                  const TokenGradients<float>&);
template void pull_attention_back(const feature::FeatureMap&, const AttentionShape&, bool,
                                  const Tokens<double>&, MatrixView<const double>, Context&,
                                  const TokenGradients<double>&);

}  // namespace mercer::attention
