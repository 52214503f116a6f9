// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A block of tokens has its features computed, then every head of every sequence is a piece of
// work. Where heads are few, their tokens are cut into segments, by a rule that sees sizes alone:
// the sums of each segment first, then those before it, then its answers.
#include "attention/attention.h"

#include <algorithm>
#include <string>
#include <utility>

#include "attention/attention_head.h"
#include "base/error.h"
#include "base/parallel.h"

namespace mercer::attention {
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

}  // namespace mercer::attention
