// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Forward: one part after the other, its blocks of derivatives are multiplied into those of the
// product by Leibniz' rule. Backward, with Z = s^{P-1} z_1 ... z_P and s = sqrt(N): a cotangent g
// of the product of the first i parts gives s g conj(product before z_i) for z_i and s g conj(z_i)
// for the product before it (Griewank, Walther 2008, chapter 3).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/composed_map.h"
#include "feature/derivatives.h"
#include "kernel/jet.h"

namespace mercer::feature {
namespace {

// The product rule for columns that are multiplied: which derivatives of each factor are needed,
// block by block, and how they make the blocks of the product.

// Block 0 are the features; blocks from `inner` on are the derivatives asked for.
struct LeibnizRule {
  // Block `to` of the product starts as block `to` of the first factor times the features of the
  // second; a term adds block a of the first times block b > 0 of the second.
  struct Term {
    int64_t to;
    int64_t a;
    int64_t b;
    double times;
  };
  std::vector<Term> terms;  // last block first, so that blocks still to be read are unchanged
  int64_t inner;
  int64_t blocks;
  // The calls that make blocks [1, inner) of a factor, if any, then the others; none: the
  // differential along a direction for each row.
  std::vector<Derivative> calls;

  // The product rule for a kind other than partials.
  static LeibnizRule of_kind(Derivative::Kind kind, int64_t d);
  static LeibnizRule of_direction() { return {{{1, 0, 1, 1}}, 1, 2, {}}; }
  // The product rule for d^p, p not empty, which takes every d^q, q <= p. UNSUPPORTED: more than
  // Jet::kMost of them.
  static LeibnizRule of_partial(const MultiIndex& p);
};

LeibnizRule LeibnizRule::of_kind(Derivative::Kind kind, int64_t d) {
  const bool second = kind != Derivative::Kind::gradient;
  const int64_t inner = second ? 1 + d : 1;
  LeibnizRule rule{{}, inner, inner + Derivative{kind}.blocks(d), {}};
  for (int64_t b = rule.blocks - 1; b > 0; --b) {
    rule.terms.push_back({b, 0, b, 1});
    const bool sum = kind == Derivative::Kind::laplacian;
    for (int64_t k = 1; second && b >= inner && k <= d; ++k)
      if (sum || k == b - d) rule.terms.push_back({b, k, k, 2});
  }
  if (second) rule.calls.push_back({Derivative::Kind::gradient});
  rule.calls.push_back({kind});
  return rule;
}

LeibnizRule LeibnizRule::of_partial(const MultiIndex& p) {
  const kernel::Jet jet(p);
  const int64_t last = jet.count - 1;
  LeibnizRule rule{{}, last, jet.count, {}};
  for (int64_t c = last; c > 0; --c) {
    for (int64_t b = 1; b <= c; ++b)
      if (jet.divides(b, c)) rule.terms.push_back({c, c - b, b, jet.binomial(c, b)});
  }
  Derivative lower{Derivative::Kind::partials};
  for (int64_t c = 1; c < last; ++c) lower.partials.push_back(jet.order(c));
  if (last > 1) rule.calls.push_back(std::move(lower));
  rule.calls.push_back({Derivative::Kind::partials, {p}});
  return rule;
}

// Bytes of blocks of the product and of one part. Parts are differentiated for many rows at once,
// since making their frequencies is expensive.
constexpr int64_t kDerivativeBytes = int64_t{1} << 26;
constexpr int64_t kLeastTile = 4;

int64_t rows_of_tile(int64_t rows, int64_t row_numbers, int64_t number_bytes) {
  const int64_t bytes = checked_multiply(std::max<int64_t>(row_numbers, 1), number_bytes, "tiles");
  return std::clamp(kDerivativeBytes / bytes, kLeastTile, std::max(rows, kLeastTile));
}

template <class T>
Factor<T> factor_of(ColumnForm form, MatrixView<T> all) {
  if (form != ColumnForm::halves) return {form, all};
  return {form, all.block_cols(0, all.cols / 2), all.block_cols(all.cols / 2, all.cols)};
}

/// OwnBlocks of one map's columns, the last ones in a place of their own.
template <class T>
struct OwnBlocks {
  ColumnForm form;
  int64_t width;  // of a block
  MatrixView<T> inner;
  MatrixView<T> wanted;

  Factor<T> block(int64_t b) const {
    const int64_t split = inner.cols / width;
    const MatrixView<T>& all = b < split ? inner : wanted;
    const int64_t at = (b < split ? b : b - split) * width;
    return factor_of(form, all.block_cols(at, at + width));
  }
};

template <class T>
class Forward {
 public:
  /// V: directions, for LeibnizRule::of_direction.
  Forward(const ColumnProduct& product, const LeibnizRule& rule, MatrixView<const T> V)
      : product_(product), rule_(rule), V_(V) {}

  void run(MatrixView<const T> X, Context& context, MatrixView<T> out) const {
    const int64_t inner = checked_multiply(rule_.inner, product_.row_length, "derivatives");
    const int64_t all = checked_multiply(rule_.blocks, product_.row_length, "derivatives");
    const int64_t rows = rows_of_tile(X.rows, checked_add(inner, all, "tiles"), sizeof(T));
    const Matrix<T> own(std::min(rows, X.rows), all, context, "the derivatives of one part");
    const Matrix<T> lower(std::min(rows, X.rows), inner, context, "those of lower order");
    Stage stage(context, checked_multiply(X.rows, std::ssize(product_.parts), "rows"));
    for (int64_t i0 = 0; i0 < X.rows; i0 += rows) {
      const int64_t i1 = std::min(X.rows, i0 + rows);
      const OwnBlocks<T> whole{product_.form, product_.row_length,
                               lower.view().block_rows(0, i1 - i0), out.block_rows(i0, i1)};
      for (const FeatureMap* part : product_.parts) {
        const bool first = part == product_.parts.front();
        stage.share(i1 - i0);
        const OwnBlocks<T> blocks = first ? whole : room(*part, own.view().block_rows(0, i1 - i0));
        fill(*part, X.block_rows(i0, i1), i0, context, blocks);
        if (!first) multiply_blocks(whole, blocks, context);
        stage.advance(i1 - i0);
        context.checkpoint();
      }
    }
  }

 private:
  OwnBlocks<T> room(const FeatureMap& part, MatrixView<T> all) const {
    const int64_t width = part.row_length(), inner = rule_.inner * width;
    return {part.column_form(), width, all.block_cols(0, inner),
            all.block_cols(inner, rule_.blocks * width)};
  }

  void fill(const FeatureMap& part, MatrixView<const T> X, int64_t i0, Context& context,
            const OwnBlocks<T>& blocks) const {
    const int64_t width = blocks.width;
    part.apply(Rows(X), {0, part.features()}, context,
               ResultView(blocks.inner.block_cols(0, width)));
    if (rule_.calls.empty())
      return part.derivatives()->push_forward(X, V_.block_rows(i0, i0 + X.rows), context,
                                              blocks.wanted);
    if (rule_.inner > 1)
      part.derivatives()->differentiate(rule_.calls.front(), X, context,
                                        blocks.inner.block_cols(width, blocks.inner.cols));
    part.derivatives()->differentiate(rule_.calls.back(), X, context, blocks.wanted);
  }

  void multiply_blocks(const OwnBlocks<T>& whole, const OwnBlocks<T>& by, Context& context) const {
    const double scale = std::sqrt(static_cast<double>(product_.columns));
    const int64_t n = product_.columns;
    const Factor<T> features = by.block(0);
    parallel_for(context, whole.inner.rows, [&](int64_t i, int) noexcept {
      int64_t begun = rule_.blocks;
      for (const LeibnizRule::Term& term : rule_.terms) {
        const Factor<T> to = whole.block(term.to);
        if (term.to < begun) multiply_row(to, features, static_cast<T>(scale), n, i);
        begun = term.to;
        add_product_row(to, whole.block(term.a), by.block(term.b),
                        static_cast<T>(scale * term.times), n, i);
      }
      multiply_row(whole.block(0), features, static_cast<T>(scale), n, i);
    });
  }

  const ColumnProduct& product_;
  const LeibnizRule& rule_;
  MatrixView<const T> V_;
};

template <class T>
class Backward {
 public:
  Backward(const ColumnProduct& product, MatrixView<const T> X, MatrixView<const T> G,
           Context& context, MatrixView<T> out)
      : product_(product),
        X_(X),
        G_(G),
        context_(context),
        out_(out),
        scale_(static_cast<T>(std::sqrt(static_cast<double>(product.columns)))) {
    const int64_t count = std::ssize(product.parts);
    const int64_t numbers = checked_multiply(
        2 * (count + 1), checked_add(product.row_length, X.cols, "tiles"), "tiles");
    rows_ = std::min(rows_of_tile(X.rows, numbers, sizeof(T)), X.rows);
    for (const FeatureMap* part : product.parts) {
      values_.push_back(room(part->row_length()));
      before_.push_back(room(product.row_length));
    }
    cotangent_ = room(product.row_length);
    own_ = room(product.row_length);
    back_ = room(X.cols);
  }

  void run() {
    Stage stage(context_, checked_multiply(X_.rows, 2 * std::ssize(product_.parts), "rows"));
    for (int64_t i0 = 0; i0 < X_.rows; i0 += rows_) {
      const int64_t count = std::min(rows_, X_.rows - i0);
      const MatrixView<const T> X = X_.block_rows(i0, i0 + count);
      for (int64_t p = 0; p < std::ssize(product_.parts); ++p) {
        stage.share(count);
        forward(static_cast<size_t>(p), X);
        stage.advance(count);
      }
      for (int64_t i = 0; i < count; ++i)
        std::copy_n(G_.row(i0 + i), G_.cols, cotangent_.view().row(i));
      for (int64_t p = std::ssize(product_.parts); p-- > 0;) {
        stage.share(count);
        backward(static_cast<size_t>(p), X, out_.block_rows(i0, i0 + count));
        stage.advance(count);
        context_.checkpoint();
      }
    }
  }

 private:
  Matrix<T> room(int64_t cols) const {
    return Matrix<T>(rows_, cols, context_, "the features of all parts");
  }
  Factor<T> factor(size_t p, const Matrix<T>& numbers) const {
    const FeatureMap& part = *product_.parts[p];
    return factor_of(part.column_form(), numbers.view().block_cols(0, part.row_length()));
  }
  Factor<T> whole(const Matrix<T>& numbers) const {
    return factor_of(product_.form, numbers.view());
  }

  // before_[p]: the product of the parts before p.
  void forward(size_t p, MatrixView<const T> X) {
    const FeatureMap& part = *product_.parts[p];
    part.apply(Rows(X), {0, part.features()}, context_,
               ResultView(values_[p].view().block_rows(0, X.rows)));
    if (p + 1 == product_.parts.size()) return;
    const Factor<T> next = whole(before_[p + 1]);
    parallel_for(context_, X.rows, [&](int64_t i, int) noexcept {
      const T* const old = (p == 0 ? values_[0] : before_[p]).view().row(i);
      std::copy_n(old, product_.row_length, before_[p + 1].view().row(i));
      if (p > 0) multiply_row(next, factor(p, values_[p]), scale_, product_.columns, i);
    });
  }

  void backward(size_t p, MatrixView<const T> X, MatrixView<T> out) {
    const FeatureMap& part = *product_.parts[p];
    const Factor<T> g = whole(cotangent_);
    if (p > 0)
      parallel_for(context_, X.rows, [&](int64_t i, int) noexcept {
        multiply_conjugate_row(factor(p, own_), g, whole(before_[p]), scale_, product_.columns, i);
      });
    const Matrix<T>& own = p > 0 ? own_ : cotangent_;
    const MatrixView<const T> G = own.view().block_rows(0, X.rows).block_cols(0, part.row_length());
    if (p + 1 == product_.parts.size()) {
      part.derivatives()->pull_back(X, G, context_, out);
    } else {
      const MatrixView<T> back = back_.view().block_rows(0, X.rows);
      part.derivatives()->pull_back(X, G, context_, back);
      for (int64_t i = 0; i < out.rows; ++i)
        for (int64_t k = 0; k < out.cols; ++k) out(i, k) += back(i, k);
    }
    if (p == 0) return;
    parallel_for(context_, X.rows, [&](int64_t i, int) noexcept {
      multiply_conjugate_row(g, g, factor(p, values_[p]), scale_, product_.columns, i);
    });
  }

  const ColumnProduct& product_;
  MatrixView<const T> X_;
  MatrixView<const T> G_;
  Context& context_;
  MatrixView<T> out_;
  T scale_;
  int64_t rows_;
  std::vector<Matrix<T>> values_;  // of each part
  std::vector<Matrix<T>> before_;
  Matrix<T> cotangent_;
  Matrix<T> own_;  // of one part
  Matrix<T> back_;
};

}  // namespace

template <class T>
void differentiate_rows(const ColumnProduct& product, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  const LeibnizRule rule = what.kind == Derivative::Kind::partials
                               ? LeibnizRule::of_partial(what.partials.front())
                               : LeibnizRule::of_kind(what.kind, X.cols);
  Forward<T>(product, rule, {}).run(X, context, out);
}

template <class T>
void push_rows_forward(const ColumnProduct& product, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  Forward<T>(product, LeibnizRule::of_direction(), V).run(X, context, out);
}

template <class T>
void pull_rows_back(const ColumnProduct& product, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  if (X.rows > 0) Backward<T>(product, X, G, context, out).run();
}

MERCER_INSTANTIATE_DERIVATIVES(ColumnProduct)

}  // namespace mercer::feature
