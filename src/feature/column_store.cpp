// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/column_store.h"

#include <algorithm>

#include "transform/epilogue.h"

namespace mercer::feature {

using projection::Blocks;
using transform::into_line;
using transform::kLineNumbers;

template <class T>
ColumnStore<T>::ColumnStore(const ColumnSlice& slice, MatrixView<T> Z, bool carries) noexcept
    : slice_(slice),
      Z_(Z),
      streams_(goes_around_caches(Z)),
      aligned_(is_aligned()),
      carries_(carries && has_carry_room()) {}

// Blocks are whole lines, so what holds for column 0 of every part holds for all blocks.
template <class T>
bool ColumnStore<T>::is_aligned() const noexcept {
  bool ok = reinterpret_cast<uintptr_t>(Z_.data) % 64 == 0 && Z_.ld % kLineNumbers<T> == 0;
  for (int p = 0; p < slice_.parts(); ++p) ok = ok && slice_.offset(p, 0) % kLineNumbers<T> == 0;
  return ok;
}

// If vectors are whole lines, rows may begin anywhere; otherwise all at one place of a line.
template <class T>
bool ColumnStore<T>::has_carry_room() const noexcept {
  const int64_t room = transform::carry_room(T{});
  bool ok = room == kLineNumbers<T> || Z_.ld % kLineNumbers<T> == 0;
  for (int p = 0; p < slice_.parts(); ++p) ok = ok && into_line(target(p, 0, 0)) < room;
  return ok;
}

// A line or more of every part's row comes before, and its end after the columns.
template <class T>
bool ColumnStore<T>::is_inner(Blocks columns, Blocks run) const noexcept {
  bool inner = true;
  for (int p = 0; p < slice_.parts(); ++p) {
    const Blocks own = slice_.part(p);
    const int64_t before = (columns.begin - std::max(run.begin, own.begin)) * slice_.reals();
    inner = inner && before >= kLineNumbers<T> && columns.end < std::min(run.end, own.end);
  }
  return inner;
}

template <class T>
void ColumnStore<T>::resume(const BlockBuffer<T>& buffer, const T* carry) const noexcept {
  if (carried() == 0) return;
  for (int p = 0; p < slice_.parts(); ++p) {
    for (int64_t i = 0; i < buffer.rows; ++i) {
      std::copy_n(carry + i * carried() + p * kLineNumbers<T>, kLineNumbers<T>,
                  buffer.row(p, i) - kLineNumbers<T>);
    }
  }
}

template <class T>
void ColumnStore<T>::put(const BlockBuffer<T>& buffer, Blocks block, Blocks run, int64_t i0,
                         T* carry) const noexcept {
  for (int p = 0; p < slice_.parts(); ++p) put_part(p, buffer, block, run, i0, carry);
}

template <class T>
void ColumnStore<T>::put_part(int p, const BlockBuffer<T>& buffer, Blocks block, Blocks run,
                              int64_t i0, T* carry) const noexcept {
  const Blocks own = slice_.part(p);
  const int64_t begin = std::max(block.begin, own.begin), end = std::min(block.end, own.end);
  if (begin >= end) return;
  const int64_t count = (end - begin) * slice_.reals();
  const T* const from = buffer.row(p, 0) + (begin - block.begin) * slice_.reals();
  T* const to = target(p, i0, begin);
  if (!streams_) {
    for (int64_t i = 0; i < buffer.rows; ++i)
      std::copy_n(from + i * buffer.ld(), count, to + i * Z_.ld);
    return;
  }
  // Blocks that go directly into an aligned Z carry nothing: each block that is cut is a run of its
  // own.
  const int64_t before =
      carried() == 0 ? 0 : (begin - std::max(run.begin, own.begin)) * slice_.reals();
  const bool last = carried() == 0 || end == std::min(run.end, own.end);
  transform::stream_piece({from, buffer.ld(), to, Z_.ld, buffer.rows, count, before, last});
  if (last) return;
  for (int64_t i = 0; i < buffer.rows; ++i) {
    std::copy_n(buffer.row(p, i) + buffer.numbers - kLineNumbers<T>, kLineNumbers<T>,
                carry + i * carried() + p * kLineNumbers<T>);
  }
}

template class ColumnStore<float>;
template class ColumnStore<double>;

}  // namespace mercer::feature
