// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A block of tokens has its features computed, then every head of every sequence is a piece of
// work. Where heads are few, their tokens are cut into segments, by a rule that sees sizes alone:
// the sums of each segment first, then those before it, then its answers.
#include "attention/attention.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/feature_map.h"
#include "statistic/kernel_error.h"
#include "transform/narrow_gemm.h"
#include "transform/panel.h"

namespace mercer::attention {
namespace {

// exp(-40) of a float still has all its digits.
constexpr double kMostRise = 40;
// Queries whose own keys are multiplied together: fewer products above the diagonal.
constexpr int64_t kStrip = 16;

template <class T>
bool all_finite(MatrixView<const T> A) noexcept {
  int unbounded = 0;
  for (int64_t i = 0; i < A.rows; ++i) {
    const T* const row = A.row(i);
    for (int64_t j = 0; j < A.cols; ++j)
      unbounded |= static_cast<int>(!(std::fabs(row[j]) <= std::numeric_limits<T>::max()));
  }
  return unbounded == 0;
}

/// Raises sums.most, to which all are relative.
void raise_to(double most, const HeadSums& sums) noexcept {
  if (!(most > *sums.most)) return;
  const double factor = std::exp(*sums.most - most);
  for (int64_t i = 0; std::isfinite(*sums.most) && i < sums.size(); ++i) sums.data[i] *= factor;
  *sums.most = most;
}

void raise(MatrixView<const double> logs, const HeadSums& sums) noexcept {
  double most = *sums.most;
  for (int64_t i = 0; logs.data != nullptr && i < logs.rows; ++i)
    if (logs(i, 0) > most) most = logs(i, 0);
  raise_to(most, sums);
}

/// How many of the keys from `first` on, at most kTokens, may be added together: no log is so much
/// larger than those before that these would vanish.
int64_t joint_keys(MatrixView<const double> logs, int64_t first, int64_t count,
                   double most) noexcept {
  const int64_t end = std::min(first + kTokens, count);
  if (logs.data == nullptr) return end - first;
  for (int64_t i = first; i < end; ++i) {
    if (i > first && logs(i, 0) > most + kMostRise) return i - first;
    if (logs(i, 0) > most) most = logs(i, 0);
  }
  return end - first;
}

/// products(:, columns of panel p) (+)= X W, W that panel.
template <class T>
void multiply_panel(MatrixView<const T> X, const T* W, int64_t p, bool adds,
                    const HeadScratch<T>& scratch, MatrixView<T> products) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  transform::project_panel(X, W, scratch.panel.data);
  const int64_t first = p * kWidth, width = std::min(kWidth, products.cols - 1 - first);
  for (int64_t i = 0; i < X.rows; ++i) {
    const T* const from = scratch.panel.row(i);
    T* const to = products.row(i) + first;
    for (int64_t c = 0; c < width; ++c) to[c] = adds ? to[c] + from[c] : from[c];
  }
}

/// Queries [i0, i1) over the keys before them and their own.
template <class T>
void add_own_keys(MatrixView<const T> queries, MatrixView<const T> keys, int64_t i0, int64_t i1,
                  const HeadScratch<T>& scratch) noexcept {
  const MatrixView<T> A = scratch.pairs.block_rows(i0, i1).block_cols(0, i1);
  transform::row_products(
      transform::RowProducts<T>{queries.block_rows(i0, i1), keys.block_rows(0, i1), A});
  for (int64_t i = i0; i < i1; ++i) std::fill(A.row(i - i0) + i + 1, A.row(i - i0) + i1, T{0});
  const MatrixView<T> products = scratch.products.block_rows(i0, i1);
  for (int64_t p = 0; p < scratch.panels(); ++p)
    multiply_panel<T>(A, scratch.value_panels.row(p * kTokens), p, true, scratch, products);
  T below[kStrip];
  transform::row_products(transform::RowProducts<T>{A, scratch.value_weights.block_cols(0, i1),
                                                    MatrixView<T>(below, i1 - i0, 1)});
  for (int64_t i = i0; i < i1; ++i) products(i - i0, products.cols - 1) += below[i - i0];
}

/// out = numerators over denominators; NaN where the denominator is 0.
template <class T>
void divide(MatrixView<const T> products, MatrixView<T> out) noexcept {
  const int64_t last = products.cols - 1;
  for (int64_t i = 0; i < products.rows; ++i) {
    const T* const product = products.row(i);
    const T below = product[last] == T{0} ? std::numeric_limits<T>::quiet_NaN() : product[last];
    T* const to = out.row(i);
    for (int64_t o = 0; o < last; ++o) to[o] = product[o] / below;
  }
}

void round_row(const double* from, int64_t count, float* to) noexcept {
  transform::round_row(from, count, 1, to);
}
void round_row(const double* from, int64_t count, double* to) noexcept {
  std::copy_n(from, count, to);
}

/// One query in double, which reads the sums once.
template <class T>
void answer_one(const T* query, const HeadSums& sums, const HeadScratch<T>& scratch,
                T* out) noexcept {
  const MatrixView<double> q(scratch.wide.data, sums.D, 1);
  const MatrixView<double> products(q.data + sums.D, 1, sums.width + 1);
  std::copy_n(query, sums.D, q.data);
  std::fill_n(products.data, products.cols, 0.0);
  using Products = transform::ColumnProducts<double>;
  transform::add_column_products(Products{sums.values(), q, products.block_cols(0, sums.width)});
  transform::add_column_products(Products{MatrixView<const double>(sums.ones().data, sums.D, 1), q,
                                          products.block_cols(sums.width, sums.width + 1)});
  const double below = products(0, sums.width);
  for (int64_t o = 0; o < sums.width; ++o)
    out[o] =
        below == 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(products(0, o) / below);
}

/// The same as answer_in_turn for at most kTokens keys that may be added together. False, and
/// nothing is changed but sums.most, if a number is not finite.
template <class T>
bool answer_together(MatrixView<const T> queries, const HeadKeys<T>& keys, const HeadSums& sums,
                     const HeadScratch<T>& scratch, MatrixView<T> out) noexcept {
  if (queries.rows == 1) {
    absorb(keys, scratch, sums);
    answer_one(queries.data, sums, scratch, out.data);
    return true;
  }
  raise(keys.logs, sums);
  load_values(keys, *sums.most, scratch);
  round_sums(sums, scratch);
  numerators(queries, &keys, scratch);
  const MatrixView<const T> products = scratch.products.block_rows(0, queries.rows);
  if (!all_finite(products)) return false;
  divide(products, out);
  add_products<T>(keys.Z, scratch.values.block_rows(0, keys.count()), sums);
  return true;
}

}  // namespace

void clear(const HeadSums& sums, bool scaled) noexcept {
  std::fill_n(sums.data, sums.size(), 0.0);
  *sums.most = scaled ? -std::numeric_limits<double>::infinity() : 0;
}

void merge(const HeadSums& from, const HeadSums& to) noexcept {
  raise_to(*from.most, to);
  const double factor = *from.most == *to.most ? 1 : std::exp(*from.most - *to.most);
  for (int64_t i = 0; i < to.size(); ++i) to.data[i] += factor * from.data[i];
}

template <class T>
int64_t HeadScratch<T>::numbers(int64_t D, int64_t width) {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  const int64_t padded = round_up(width, kWidth);
  // Sums, and `wide`, whose numbers are those of at most two of T.
  const int64_t of_sums = checked_multiply(padded + 3, round_up(D), "sums of keys");
  const int64_t of_tokens = checked_multiply(3 * padded + 5 * kWidth, kTokens, "tokens");
  return checked_add(of_sums, checked_add(of_tokens, (kTokens + 2) * kTokens, "tokens"), "tokens");
}

template <class T>
HeadScratch<T>::HeadScratch(T* begin, int64_t D, int64_t width) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  const int64_t count = ceil_divide(width, kWidth);
  const auto take = [&](int64_t rows, int64_t cols) {
    const MatrixView<T> part(begin, rows, cols);
    begin += round_up(rows * cols);
    return part;
  };
  sums = take(count * D, kWidth);
  value_panels = take(count * kTokens, kWidth);
  panel = take(kTokens, kWidth);
  ones = take(1, D);
  values = take(kTokens, width + 1);
  value_weights = take(1, kTokens);
  pairs = take(kTokens, kTokens);
  products = take(kTokens, width + 1);
  wide = {reinterpret_cast<double*>(begin), 1, D + width + 1};
}

template <class T>
void add_products(MatrixView<const T> Z, MatrixView<const T> values,
                  const HeadSums& sums) noexcept {
  const int64_t last = values.cols - 1;
  transform::add_column_products(
      transform::ColumnProducts<T>{values.block_cols(0, last), Z, sums.values()});
  transform::add_column_products(
      transform::ColumnProducts<T>{Z, values.block_cols(last, last + 1), sums.ones()});
}

template <class T>
void load_values(const HeadKeys<T>& keys, double most, const HeadScratch<T>& scratch) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  const int64_t last = keys.V.cols;
  for (int64_t i = 0; i < keys.count(); ++i) {
    const double own = keys.weight(i);
    const bool scaled = keys.logs.data != nullptr && own != 0;
    const T weight = static_cast<T>(scaled ? own * std::exp(keys.logs(i, 0) - most) : own);
    T* const row = scratch.values.row(i);
    for (int64_t o = 0; o < last; ++o) row[o] = own == 0 ? T{0} : weight * keys.V(i, o);
    row[last] = scratch.value_weights(0, i) = weight;
    for (int64_t p = 0; p < scratch.panels(); ++p) {
      T* const panel = scratch.value_panels.row(p * kTokens + i);
      const int64_t width = std::min(kWidth, last - p * kWidth);
      std::fill(std::copy_n(row + p * kWidth, width, panel), panel + kWidth, T{0});
    }
  }
}

template <class T>
void round_sums(const HeadSums& sums, const HeadScratch<T>& scratch) noexcept {
  constexpr int64_t kWidth = transform::kPanelColumns<T>;
  for (int64_t p = 0; p < scratch.panels(); ++p) {
    const int64_t width = std::min(kWidth, sums.width - p * kWidth);
    for (int64_t m = 0; m < sums.D; ++m) {
      T* const to = scratch.sums.row(p * sums.D + m);
      round_row(sums.values().row(m) + p * kWidth, width, to);
      std::fill(to + width, to + kWidth, T{0});
    }
  }
  round_row(sums.ones().data, sums.D, scratch.ones.data);
}

template <class T>
void numerators(MatrixView<const T> queries, const HeadKeys<T>* causal,
                const HeadScratch<T>& scratch) noexcept {
  const int64_t n = queries.rows, D = scratch.ones.cols;
  const MatrixView<T> products = scratch.products.block_rows(0, n);
  for (int64_t p = 0; p < scratch.panels(); ++p)
    multiply_panel<T>(queries, scratch.sums.row(p * D), p, false, scratch, products);
  T below[kTokens];
  transform::row_products(
      transform::RowProducts<T>{queries, scratch.ones, MatrixView<T>(below, n, 1)});
  for (int64_t i = 0; i < n; ++i) products(i, products.cols - 1) = below[i];
  for (int64_t i = 0; causal != nullptr && i < n; i += kStrip)
    add_own_keys(queries, causal->Z, i, std::min(i + kStrip, n), scratch);
}

template <class T>
void absorb(const HeadKeys<T>& keys, const HeadScratch<T>& scratch, const HeadSums& sums) noexcept {
  for (int64_t first = 0; first < keys.count(); first += kTokens) {
    const auto some = keys.rows(first, std::min(first + kTokens, keys.count()));
    raise(some.logs, sums);
    load_values(some, *sums.most, scratch);
    add_products<T>(some.Z, scratch.values.block_rows(0, some.count()), sums);
  }
}

template <class T>
void answer(MatrixView<const T> queries, const HeadSums& sums, const HeadScratch<T>& scratch,
            MatrixView<T> out) noexcept {
  if (queries.rows == 1) return answer_one(queries.data, sums, scratch, out.data);
  round_sums(sums, scratch);
  for (int64_t first = 0; first < queries.rows; first += kTokens) {
    const int64_t end = std::min(first + kTokens, queries.rows);
    numerators<T>(queries.block_rows(first, end), nullptr, scratch);
    divide<T>(scratch.products.block_rows(0, end - first), out.block_rows(first, end));
  }
}

template <class T>
void answer_in_turn(MatrixView<const T> queries, const HeadKeys<T>& keys, const HeadSums& sums,
                    const HeadScratch<T>& scratch, MatrixView<T> out) noexcept {
  int64_t alone = 0;  // keys before it are added one by one
  for (int64_t first = 0; first < queries.rows;) {
    const int64_t joint =
        first < alone ? 1 : joint_keys(keys.logs, first, queries.rows, *sums.most);
    const int64_t end = first + joint;
    if (answer_together(queries.block_rows(first, end), keys.rows(first, end), sums, scratch,
                        out.block_rows(first, end))) {
      first = end;
    } else {
      alone = end;
    }
  }
}

#define MERCER_HEAD(T)                                                                            \
  template class HeadScratch<T>;                                                                  \
  template void load_values(const HeadKeys<T>&, double, const HeadScratch<T>&) noexcept;          \
  template void round_sums(const HeadSums&, const HeadScratch<T>&) noexcept;                      \
  template void numerators(MatrixView<const T>, const HeadKeys<T>*,                               \
                           const HeadScratch<T>&) noexcept;                                       \
  template void add_products(MatrixView<const T>, MatrixView<const T>, const HeadSums&) noexcept; \
  template void absorb(const HeadKeys<T>&, const HeadScratch<T>&, const HeadSums&) noexcept;      \
  template void answer(MatrixView<const T>, const HeadSums&, const HeadScratch<T>&,               \
                       MatrixView<T>) noexcept;                                                   \
  template void answer_in_turn(MatrixView<const T>, const HeadKeys<T>&, const HeadSums&,          \
                               const HeadScratch<T>&, MatrixView<T>) noexcept;
MERCER_HEAD(float)
MERCER_HEAD(double)
#undef MERCER_HEAD

namespace {

// Pieces of work that keep threads busy, and the fewest tokens that pay for a segment.
constexpr int64_t kPieces = 8, kLeastTokens = 256;

/// The segments of each head, multiples of kTokens but for the last.
struct Segments {
  int64_t tokens, each, count;

  Segments(int64_t tokens_in, int64_t heads) : tokens(tokens_in) {
    const int64_t wanted = std::min(ceil_divide(kPieces, heads), ceil_divide(tokens, kLeastTokens));
    each = round_up(ceil_divide(tokens, wanted), kTokens);
    count = ceil_divide(tokens, each);
  }
  int64_t begin(int64_t s) const { return s * each; }
  int64_t end(int64_t s) const { return std::min(tokens, (s + 1) * each); }
};

/// Sums of every segment of every head; none for one segment.
class SegmentSums {
 public:
  SegmentSums(int64_t heads, const Segments& segments, int64_t e, int64_t D, Context& context)
      : count_(segments.count),
        e_(e),
        D_(D),
        sums_(count_ == 1 ? 0 : heads * count_, checked_multiply(e, D, "sums"), context,
              "the sums of keys"),
        most_(count_ == 1 ? 0 : heads * count_, 1) {}
  HeadSums at(int64_t head, int64_t segment) const noexcept {
    const int64_t i = head * count_ + segment;
    return {sums_.view().row(i), D_, e_ - 1, most_.view().row(i)};
  }

 private:
  int64_t count_, e_, D_;
  Matrix<double> sums_, most_;
};

/// The scratch of every worker of a parallel loop of that many chunks.
template <class T>
class Workers {
 public:
  Workers(int64_t chunks, int64_t D, int64_t width, Context& context)
      : D_(D),
        width_(width),
        numbers_(worker_count(context, chunks), HeadScratch<T>::numbers(D, width), context,
                 "sums of keys") {}
  HeadScratch<T> of(int worker) const noexcept { return {numbers_.view().row(worker), D_, width_}; }

 private:
  int64_t D_, width_;
  Matrix<T> numbers_;
};

/// One block of tokens of some sequences.
template <class T>
class Block {
 public:
  /// weights: of the block's keys.
  Block(const Attention& state, const TokenBlock& block, Context& context,
        MatrixView<const double> weights = {})
      : state_(state),
        block_(block),
        weights_(weights),
        heads_(block.sequences() * state.heads()),
        D_(state.map().row_length()),
        e_(state.values() + 1),
        segments_(block.tokens(), heads_),
        context_(context),
        workers_(heads_ * segments_.count, D_, state.values(), context) {}

  void absorb(const HeadFeatures<T>& K, MatrixView<const T> V) const {
    const SegmentSums sums(heads_, segments_, e_, D_, context_);
    add_segments(K, V, segments_.count, sums);
    if (segments_.count == 1) return;
    parallel_for(context_, heads_, [&](int64_t item, int) noexcept {
      for (int64_t s = 0; s < segments_.count; ++s) merge(sums.at(item, s), head(item));
    });
  }

  void answer(const HeadFeatures<T>& Q, MatrixView<T> out) const {
    parallel_for(context_, heads_ * segments_.count, [&](int64_t chunk, int worker) noexcept {
      const int64_t item = chunk / segments_.count, s = chunk % segments_.count;
      attention::answer<T>(segment(queries(Q, item), s), head(item), workers_.of(worker),
                           segment(values(out, item), s));
    });
  }

  void answer_in_turn(const HeadFeatures<T>& Q, const HeadFeatures<T>& K, MatrixView<const T> V,
                      MatrixView<T> out) const {
    const SegmentSums sums(heads_, segments_, e_, D_, context_);
    const int64_t last = segments_.count - 1;
    if (last > 0) {
      add_segments(K, V, last, sums);
      parallel_for(context_, heads_, [&](int64_t item, int) noexcept { accumulate(sums, item); });
    }
    parallel_for(context_, heads_ * segments_.count, [&](int64_t chunk, int worker) noexcept {
      const int64_t item = chunk / segments_.count, s = chunk % segments_.count;
      const HeadKeys<T> all = keys(K, V, item);
      attention::answer_in_turn<T>(segment(queries(Q, item), s),
                                   all.rows(segments_.begin(s), segments_.end(s)),
                                   s == last ? head(item) : sums.at(item, s), workers_.of(worker),
                                   segment(values(out, item), s));
    });
  }

 private:
  int64_t sequence(int64_t item) const noexcept { return item / state_.heads(); }
  HeadSums head(int64_t item) const noexcept {
    return state_.head(block_.begin + sequence(item), item % state_.heads());
  }
  MatrixView<const T> queries(const HeadFeatures<T>& Q, int64_t item) const noexcept {
    return Q.head(block_, sequence(item), item % state_.heads());
  }
  template <class U>
  MatrixView<U> values(MatrixView<U> rows, int64_t item) const noexcept {
    return head_of(rows, block_, sequence(item), item % state_.heads(), state_.values());
  }
  HeadKeys<T> keys(const HeadFeatures<T>& K, MatrixView<const T> V, int64_t item) const noexcept {
    return {queries(K, item), K.head_logs(block_, sequence(item), item % state_.heads()),
            values(V, item), weights_of_sequence(weights_, block_, sequence(item))};
  }
  template <class U>
  MatrixView<U> segment(MatrixView<U> rows, int64_t s) const noexcept {
    return rows.block_rows(segments_.begin(s), segments_.end(s));
  }

  /// The first `count` segments of each head.
  void add_segments(const HeadFeatures<T>& K, MatrixView<const T> V, int64_t count,
                    const SegmentSums& sums) const {
    const bool scaled = state_.map().row_scales() != nullptr;
    parallel_for(context_, heads_ * count, [&](int64_t chunk, int worker) noexcept {
      const int64_t item = chunk / count, s = chunk % count;
      const HeadSums to = segments_.count == 1 ? head(item) : sums.at(item, s);
      if (segments_.count > 1) clear(to, scaled);
      attention::absorb<T>(keys(K, V, item).rows(segments_.begin(s), segments_.end(s)),
                           workers_.of(worker), to);
    });
  }

  /// What lies before each segment; the head's own sums become those before the last.
  void accumulate(const SegmentSums& sums, int64_t item) const noexcept {
    const HeadSums own = head(item);
    for (int64_t s = 0; s + 1 < segments_.count; ++s) {
      const HeadSums one = sums.at(item, s);
      std::swap_ranges(one.data, one.data + one.size(), own.data);
      std::swap(*one.most, *own.most);
      merge(one, own);
    }
  }

  const Attention& state_;
  TokenBlock block_;
  MatrixView<const double> weights_;
  int64_t heads_, D_, e_;
  Segments segments_;
  Context& context_;
  Workers<T> workers_;
};

/// body(block) for every block of tokens, with its share of the progress.
template <class Body>
void blocks_of(const Attention& state, int64_t rows, Context& context, const Body& body) {
  const int64_t length = rows / std::max<int64_t>(state.batch(), 1);
  Stage stage(context, rows);
  for_each_token_block(state.batch(), length, block_tokens(state.heads(), state.map().row_length()),
                       [&](const TokenBlock& block) {
                         stage.share(block.rows());
                         body(block, length);
                         stage.advance(block.rows());
                         context.checkpoint();
                       });
}

template <class T>
HeadFeatures<T> features_for(const Attention& state, int64_t rows, Context& context) {
  const int64_t tokens = block_tokens(state.heads(), state.map().row_length());
  return {state.map(), state.heads(), std::min(rows, tokens), context};
}

}  // namespace

int64_t AttentionShape::items() const { return checked_multiply(batch, heads, "heads"); }

void require_attention(const feature::FeatureMap& map) {
  map.require_one_output();
  require(!map.has_kernel_columns(), MERCER_UNSUPPORTED,
          "map %s, expected a map whose features have inner products that estimate the kernel",
          std::string(map.name()).c_str());
}

Attention::Attention(std::shared_ptr<const feature::FeatureMap> map, int64_t batch, int64_t heads,
                     int64_t values, Context* context)
    : map_(std::move(map)), batch_(batch), heads_(heads), values_(values) {
  require_attention(*map_);
  Context none;
  const int64_t items = checked_multiply(batch, heads, "heads");
  const int64_t each =
      checked_multiply(checked_add(values, 1, "values"), map_->row_length(), "the sums of a head");
  sums_ = Matrix<double>(items, each, context == nullptr ? none : *context, "the sums of keys");
  most_ = Matrix<double>(items, 1);
  for (int64_t i = 0; i < items; ++i)
    clear(head(i / heads, i % heads), map_->row_scales() != nullptr);
}

HeadSums Attention::head(int64_t s, int64_t h) const noexcept {
  const int64_t i = s * heads_ + h;
  return {sums_.view().row(i), map_->row_length(), values_, most_.view().row(i)};
}

template <class T>
void Attention::absorb(const Tokens<T>& tokens, Context& context) {
  auto features = features_for<T>(*this, tokens.K.rows, context);
  blocks_of(*this, tokens.K.rows, context, [&](const TokenBlock& block, int64_t length) {
    const auto weights = weights_of_block(tokens.weights, block, length);
    features.fill(rows_of_block(tokens.K, block, length), context, weights);
    Block<T>(*this, block, context, weights)
        .absorb(features, rows_of_block(tokens.V, block, length));
  });
  keys_ += tokens.K.rows / batch_;
}

template <class T>
void Attention::answer(MatrixView<const T> Q, Context& context, MatrixView<T> out) const {
  auto features = features_for<T>(*this, Q.rows, context);
  blocks_of(*this, Q.rows, context, [&](const TokenBlock& block, int64_t length) {
    features.fill(rows_of_block(Q, block, length), context);
    Block<T>(*this, block, context).answer(features, rows_of_block(out, block, length));
  });
}

template <class T>
void Attention::answer_in_turn(const Tokens<T>& tokens, Context& context, MatrixView<T> out) {
  auto q = features_for<T>(*this, tokens.Q.rows, context);
  auto k = features_for<T>(*this, tokens.K.rows, context);
  blocks_of(*this, tokens.K.rows, context, [&](const TokenBlock& block, int64_t length) {
    const auto weights = weights_of_block(tokens.weights, block, length);
    q.fill(rows_of_block(tokens.Q, block, length), context);
    k.fill(rows_of_block(tokens.K, block, length), context, weights);
    Block<T>(*this, block, context, weights)
        .answer_in_turn(q, k, rows_of_block(tokens.V, block, length),
                        rows_of_block(out, block, length));
  });
  keys_ += tokens.K.rows / batch_;
}

template <class T>
void attend(std::shared_ptr<const feature::FeatureMap> map, const AttentionShape& shape,
            bool causal, const Tokens<T>& tokens, Context& context, MatrixView<T> out) {
  Attention state(std::move(map), shape.batch, shape.heads, shape.values, &context);
  if (causal) return state.answer_in_turn(tokens, context, out);
  const int64_t rows = checked_add(tokens.K.rows, tokens.Q.rows, "tokens");
  Stage stage(context, rows);
  stage.part(tokens.K.rows, [&] { state.absorb(tokens, context); });
  stage.part(tokens.Q.rows, [&] { state.answer(tokens.Q, context, out); });
}

#define MERCER_ATTENTION(T)                                                                     \
  template void Attention::absorb(const Tokens<T>&, Context&);                                  \
  template void Attention::answer(MatrixView<const T>, Context&, MatrixView<T>) const;          \
  template void Attention::answer_in_turn(const Tokens<T>&, Context&, MatrixView<T>);           \
  template void attend(std::shared_ptr<const feature::FeatureMap>, const AttentionShape&, bool, \
                       const Tokens<T>&, Context&, MatrixView<T>);
MERCER_ATTENTION(float)
MERCER_ATTENTION(double)
#undef MERCER_ATTENTION

// With exact answers o and weights w_j = k(q, k_j)/s, s their sum, an answer errs, to first order
// in the errors e_j of the estimates of k(q, k_j) (the delta method for a quotient), by
//   sum_j e_j (v_j - o) / s,   of mean square   sum_jl E e_j e_l (v_j - o)'(v_l - o) / s^2,
// E e_j e_l the covariance of the estimates, in closed form, and the product of their biases.

namespace {

/// One query and its keys.
struct Pair {
  const double* q;
  MatrixView<const double> K, V, weights;

  double weight(int64_t j) const { return weights.data == nullptr ? 1 : weights(j, 0); }
};

/// Calls body(pair, answer of the query, worker) for every query of every head.
template <class Body>
void for_each_query(const AttentionShape& shape, bool causal, int64_t d,
                    const Tokens<double>& tokens, Context& context, MatrixView<double> out,
                    const Body& body) {
  parallel_for(context, checked_multiply(tokens.Q.rows, shape.heads, "queries"),
               [&](int64_t chunk, int worker) noexcept {
                 const int64_t row = chunk / shape.heads, h = chunk % shape.heads;
                 const int64_t first = row / shape.queries * shape.keys;
                 const int64_t count = causal ? row % shape.queries + 1 : shape.keys;
                 const auto keys = [&](MatrixView<const double> X, int64_t width) {
                   return X.block_rows(first, first + count).block_cols(h * width, (h + 1) * width);
                 };
                 const auto weights = tokens.weights.data == nullptr
                                          ? tokens.weights
                                          : tokens.weights.block_rows(first, first + count);
                 body(Pair{tokens.Q.row(row) + h * d, keys(tokens.K, d),
                           keys(tokens.V, shape.values), weights},
                      out.row(row) + h * shape.values, worker);
               });
}

/// weights, and the answer: its numbers are count x 1, its denominator is returned.
double attend_once(const kernel::Kernel& kernel, const Pair& pair, double* weights,
                   double* answer) noexcept {
  double below = 0;
  std::fill_n(answer, pair.V.cols, 0.0);
  for (int64_t j = 0; j < pair.K.rows; ++j) {
    if (pair.weight(j) == 0) continue;
    weights[j] = pair.weight(j) * kernel.value(pair.K.cols, pair.q, pair.K.row(j));
    below += weights[j];
    for (int64_t o = 0; o < pair.V.cols; ++o) answer[o] += weights[j] * pair.V(j, o);
  }
  for (int64_t o = 0; o < pair.V.cols; ++o) answer[o] = below == 0 ? kNaN : answer[o] / below;
  return below;
}

double dot(const double* x, const double* y, int64_t n) noexcept {
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += x[j] * y[j];
  return sum;
}

/// The mean square of the error of one answer.
double mean_square(const feature::Moments& moments, const Pair& pair, double below,
                   const double* answer, MatrixView<double> deviations) {
  const int64_t n = pair.K.rows, width = pair.V.cols;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t o = 0; o < width; ++o) deviations(j, o) = pair.V(j, o) - answer[o];
  double sum = 0;
  std::vector<double> biases(n, 0.0);
  for (int64_t j = 0; j < n; ++j) {
    if (pair.weight(j) != 0) biases[j] = moments.bias_at(pair.q, pair.K.row(j));
    for (int64_t l = 0; l <= j; ++l) {
      const double both = pair.weight(j) * pair.weight(l);
      if (both == 0) continue;
      const double product = both * (*moments.covariance_at(pair.q, pair.K.row(j), pair.K.row(l)) +
                                     biases[j] * biases[l]);
      sum += (l < j ? 2 : 1) * product * dot(deviations.row(j), deviations.row(l), width);
    }
  }
  return sum / (below * below);
}

const feature::Moments& moments_of(const feature::FeatureMap& map) {
  const feature::RowScales* const scales = map.row_scales();
  const feature::Moments& own = scales != nullptr ? scales->scaled_moments() : map.moments();
  const std::vector<double> zero(map.inputs(), 0.0);
  require(
      own.covariance_at(zero.data(), zero.data(), zero.data()).has_value(), MERCER_UNSUPPORTED,
      "the error of attention by map %s has no closed form, expected positive, fourier, a sketch, "
      "or maclaurin whose columns are not drawn",
      std::string(map.name()).c_str());
  return own;
}

double checked_error(double error) {
  require(std::isfinite(error), MERCER_INVALID_ARGUMENT,
          "the error of attention is %g, expected finite tokens, keys for every query and a kernel "
          "that does not overflow",
          error);
  return error;
}

}  // namespace

void attend_exactly(const kernel::Kernel& kernel, const AttentionShape& shape, bool causal,
                    const Tokens<double>& tokens, Context& context, MatrixView<double> out) {
  const int64_t queries = checked_multiply(tokens.Q.rows, shape.heads, "queries");
  const Matrix<double> weights(worker_count(context, queries), shape.keys, context, "weights");
  for_each_query(shape, causal, tokens.Q.cols / shape.heads, tokens, context, out,
                 [&](const Pair& pair, double* answer, int worker) {
                   attend_once(kernel, pair, weights.view().row(worker), answer);
                 });
}

double measured_attention_error(const std::shared_ptr<const feature::FeatureMap>& map,
                                const AttentionShape& shape, bool causal,
                                const Tokens<double>& tokens, Context& context) {
  const Matrix<double> exact(tokens.Q.rows, tokens.V.cols, context, "the answers");
  const Matrix<double> found(tokens.Q.rows, tokens.V.cols, context, "the answers");
  Stage stage(context, 2);
  stage.part(1,
             [&] { attend_exactly(map->kernel(), shape, causal, tokens, context, exact.view()); });
  stage.part(1, [&] { attend(map, shape, causal, tokens, context, found.view()); });
  return checked_error(statistic::kernel_error(found.view(), exact.view()).relative_frobenius);
}

double predicted_attention_error(const feature::FeatureMap& map, const AttentionShape& shape,
                                 bool causal, const Tokens<double>& tokens, Context& context) {
  require_attention(map);
  const feature::Moments& moments = moments_of(map);
  const int64_t queries = checked_multiply(tokens.Q.rows, shape.heads, "queries");
  const int workers = worker_count(context, queries);
  const Matrix<double> weights(workers, shape.keys, context, "weights");
  const Matrix<double> deviations(workers, checked_multiply(shape.keys, shape.values, "values"),
                                  context, "values");
  const Matrix<double> answers(tokens.Q.rows, tokens.V.cols, context, "the answers");
  const Matrix<double> squares(tokens.Q.rows, shape.heads, context, "errors of the answers");
  std::atomic<bool> failed{false};
  for_each_query(shape, causal, map.inputs(), tokens, context, answers.view(),
                 [&](const Pair& pair, double* answer, int worker) {
                   const double below =
                       attend_once(map.kernel(), pair, weights.view().row(worker), answer);
                   const int64_t at = answer - answers.data();
                   try {
                     squares.data()[at / shape.values] =
                         mean_square(moments, pair, below, answer,
                                     {deviations.view().row(worker), pair.K.rows, shape.values});
                   } catch (...) {  // nothing but memory can fail: the first call did not
                     failed.store(true, std::memory_order_relaxed);
                   }
                 });
  require(!failed, MERCER_OUT_OF_MEMORY, "no memory for covariances");
  double error = 0, norm = 0;
  for (int64_t i = 0; i < squares.rows() * squares.cols(); ++i) error += squares.data()[i];
  for (int64_t i = 0; i < answers.rows() * answers.cols(); ++i)
    norm += answers.data()[i] * answers.data()[i];
  return checked_error(std::sqrt(error / norm));
}

}  // namespace mercer::attention
