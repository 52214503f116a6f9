// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Copies that write around the caches: for results larger than the last-level cache, where an
// ordinary store would first read the line it overwrites.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// Results larger than this do not stay in a last-level cache anyway: write around it.
inline constexpr int64_t kStreamBytes = int64_t{32} << 20;

/// Numbers of a cache line.
template <class T>
inline constexpr int64_t kLineNumbers = 64 / static_cast<int64_t>(sizeof(T));

/// Numbers from the start of a cache line to `to`.
template <class T>
int64_t into_line(const T* to) noexcept {
  return static_cast<int64_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T)) % kLineNumbers<T>;
}

/// to[0..count) = from[0..count); whole cache lines of `to` are streamed, the rest is stored.
/// Follow the last call on a thread by finish_streaming.
void stream_copy(const float* from, int64_t count, float* to) noexcept;
void stream_copy(const double* from, int64_t count, double* to) noexcept;

/// Some columns of rows that are written from left to right, a piece at a time.
template <class T>
struct StreamPiece {
  const T* from;  // row i: count numbers at from + i ld_from
  int64_t ld_from;
  T* to;  // row i goes to to + i ld_to, at any alignment
  int64_t ld_to;
  int64_t rows;
  int64_t count;
  int64_t before;  // numbers of the row in earlier pieces; the last of them, at most
                   // kLineNumbers, are stored before from
  bool last;       // piece of the row
};

/// Like stream_copy of whole rows, except that a cache line shared by two pieces is streamed by the
/// later one. So no line is written twice, wherever rows begin.
void stream_piece(const StreamPiece<float>& piece) noexcept;
void stream_piece(const StreamPiece<double>& piece) noexcept;

/// Makes what this thread has streamed visible to others.
void finish_streaming() noexcept;

// Many rows from two, each a weighted sum of them: derivatives of features are features and slopes
// times powers of the frequencies.

/// A row of weights, and whether it multiplies `slope` or `value`.
template <class T>
struct ScaledTerm {
  const T* weights;
  bool takes_slope;
};

/// Copy b, count numbers from to + b to_step on, is the sum over first[b] <= t < first[b + 1], t
/// ascending, of from[j] weights[j] factors[t], with from and weights of terms[t]. Inputs that no
/// term uses may be null.
template <class T>
struct ScaledSums {
  const T* value;
  const T* slope;
  const ScaledTerm<T>* terms;
  int64_t offset;    // added to every term's weights
  const T* factors;  // one per term
  const int64_t* first;
  int64_t count;
  int64_t copies;
  T* to;
  int64_t to_step;
  bool stream;  // around the caches; the caller then calls finish_streaming
};

/// Any alignment; whole cache lines of a copy are streamed.
void scaled_sums(const ScaledSums<float>& call) noexcept;
void scaled_sums(const ScaledSums<double>& call) noexcept;

}  // namespace mercer::transform
