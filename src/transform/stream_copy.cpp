// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/stream_copy.cpp"
#include "transform/simd.h"
//
#include <hwy/cache_control.h>

#include <algorithm>

#include "transform/stream_copy.h"

MERCER_SIMD_BEGIN();

// Whole lines; `to` is 64-byte aligned.
template <class T>
HWY_INLINE void StreamLines(const T* HWY_RESTRICT from, int64_t lines, T* HWY_RESTRICT to) {
  const hn::CappedTag<T, 64 / sizeof(T)> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t j = 0; j < lines * kLineNumbers<T>; j += lanes)
    hn::Stream(hn::LoadU(tag, from + j), tag, to + j);
}

template <class T>
HWY_INLINE void StreamRow(const T* from, int64_t count, T* to, int64_t before, bool last) {
  const int64_t into = into_line(to);
  const bool shared = into <= before;  // the shared line is this piece's
  const int64_t head = shared ? 0 : std::min(count, kLineNumbers<T> - into);
  for (int64_t j = 0; j < head; ++j) to[j] = from[j];
  const int64_t start = shared ? -into : head;
  const int64_t lines = (count - start) / kLineNumbers<T>;
  StreamLines(from + start, lines, to + start);
  const int64_t end = start + lines * kLineNumbers<T>;
  for (int64_t j = last ? end : count; j < count; ++j) to[j] = from[j];
}

// Lines that a piece fills in part are read first, this many rows ahead: otherwise every row waits
// for memory.
constexpr int64_t kRowsAhead = 16;

template <class T>
HWY_INLINE void Piece(const StreamPiece<T>& piece) {
  for (int64_t i = -kRowsAhead; i < piece.rows; ++i) {
    if (i + kRowsAhead < piece.rows) {
      const T* const to = piece.to + (i + kRowsAhead) * piece.ld_to;
      hwy::Prefetch(to);
      if (piece.last) hwy::Prefetch(to + piece.count - 1);
    }
    if (i < 0) continue;
    StreamRow(piece.from + i * piece.ld_from, piece.count, piece.to + i * piece.ld_to, piece.before,
              piece.last);
  }
}

MERCER_SIMD_PAIR(Piece, StreamPiece, Piece)

// Limited by memory: few multiplications per number written.

// Terms [begin, end) of a copy.
template <class T>
struct OneSum {
  const ScaledSums<T>& call;
  int64_t begin;
  int64_t end;

  const T* From(int64_t t) const { return call.terms[t].takes_slope ? call.slope : call.value; }
  const T* Weights(int64_t t) const { return call.terms[t].weights + call.offset; }
};

// A single term without factor, as in derivatives of omega'x itself.
template <class T>
struct PlainTerm {
  const T* from;
  const T* weights;

  template <class D>
  HWY_INLINE hn::Vec<D> Of(D tag, int64_t j) const {
    return hn::Mul(hn::LoadU(tag, from + j), hn::LoadU(tag, weights + j));
  }
};

template <class T>
struct TwoTerms {
  PlainTerm<T> a;
  PlainTerm<T> b;
  T factor_a;
  T factor_b;

  template <class D>
  HWY_INLINE hn::Vec<D> Of(D tag, int64_t j) const {
    const auto first = hn::Mul(a.Of(tag, j), hn::Set(tag, factor_a));
    return hn::Add(first, hn::Mul(b.Of(tag, j), hn::Set(tag, factor_b)));
  }
};

template <class T>
struct ManyTerms {
  OneSum<T> one;

  template <class D>
  HWY_INLINE hn::Vec<D> Of(D tag, int64_t j) const {
    auto sum = hn::Zero(tag);
    for (int64_t t = one.begin; t < one.end; ++t) {
      const PlainTerm<T> term{one.From(t), one.Weights(t)};
      sum = hn::Add(sum, hn::Mul(term.Of(tag, j), hn::Set(tag, one.call.factors[t])));
    }
    return sum;
  }
};

template <class T, class Terms>
HWY_INLINE void Write(const Terms& terms, int64_t count, T* to) {
  ForEach<T>(count,
             [&](auto tag, int64_t j) HWY_ATTR { hn::StoreU(terms.Of(tag, j), tag, to + j); });
}

// Streams whole lines around the caches.
template <class T, class Terms>
HWY_INLINE void WriteAround(const Terms& terms, int64_t count, T* to) {
  const Tag<T> tag;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  const int64_t head = std::min((kLineNumbers<T> - into_line(to)) % kLineNumbers<T>, count);
  const int64_t end = head + (count - head) / kLineNumbers<T> * kLineNumbers<T>;
  for (int64_t j = 0; j < head; ++j) hn::StoreU(terms.Of(one, j), one, to + j);
  for (int64_t j = head; j < end; j += lanes) hn::Stream(terms.Of(tag, j), tag, to + j);
  for (int64_t j = end; j < count; ++j) hn::StoreU(terms.Of(one, j), one, to + j);
}

template <class T, class Terms>
HWY_INLINE void Put(const ScaledSums<T>& call, int64_t b, const Terms& terms) {
  T* const to = call.to + b * call.to_step;
  call.stream ? WriteAround(terms, call.count, to) : Write(terms, call.count, to);
}

template <class T>
HWY_INLINE void Sums(const ScaledSums<T>& call) {
  for (int64_t b = 0; b < call.copies; ++b) {
    const OneSum<T> one{call, call.first[b], call.first[b + 1]};
    const int64_t t = one.begin;
    if (one.end == t + 1 && call.factors[t] == T{1}) {
      Put(call, b, PlainTerm<T>{one.From(t), one.Weights(t)});
    } else if (one.end == t + 2) {
      Put(call, b,
          TwoTerms<T>{{one.From(t), one.Weights(t)},
                      {one.From(t + 1), one.Weights(t + 1)},
                      call.factors[t],
                      call.factors[t + 1]});
    } else {
      Put(call, b, ManyTerms<T>{one});
    }
  }
}

MERCER_SIMD_PAIR(Sums, ScaledSums, Sums)

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(Piece);

void stream_piece(const StreamPiece<float>& piece) noexcept {
  HWY_DYNAMIC_DISPATCH(PieceF32)(piece);
}
void stream_piece(const StreamPiece<double>& piece) noexcept {
  HWY_DYNAMIC_DISPATCH(PieceF64)(piece);
}
void stream_copy(const float* from, int64_t count, float* to) noexcept {
  stream_piece({from, 0, to, 0, 1, count, 0, true});
}
void stream_copy(const double* from, int64_t count, double* to) noexcept {
  stream_piece({from, 0, to, 0, 1, count, 0, true});
}
void finish_streaming() noexcept { hwy::FlushStream(); }

}  // namespace mercer::transform
#endif

MERCER_SIMD_DOORS(scaled_sums, Sums, ScaledSums)
