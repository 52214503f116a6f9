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
