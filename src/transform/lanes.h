// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Batches with rows as lanes: element k of a batch holds number k of kLanes<T> rows, 32 bytes, so
// that the transforms of several factors of a thousand dimensions stay in the L2 cache. A gather
// within a row becomes a load, a shuffle disappears.
// Every lane has the bits that transform/hadamard.h and elements.h give the row alone.
#pragma once

#include <cstdint>

namespace mercer::transform {

// static: gcc exports the inline ones of code that is not optimised, hidden or not.
template <class T>
static constexpr int64_t kLanes = 32 / static_cast<int64_t>(sizeof(T));

/// out(j, i) = in(i, j); the two do not overlap.
void transpose(const float* in, int64_t rows, int64_t cols, int64_t ld_in, float* out,
               int64_t ld_out) noexcept;
void transpose(const double* in, int64_t rows, int64_t cols, int64_t ld_in, double* out,
               int64_t ld_out) noexcept;

/// A complex diagonal, real and imaginary parts apart; im is null for a real one.
template <class T>
struct Diagonal {
  const T* re;
  const T* im;
};

/// Element k of `out` = diagonal[k] times element k of u, k in [0, n): kLanes numbers, or, for a
/// complex diagonal, kLanes real parts and kLanes imaginary ones. u_im is null for real u; complex
/// u needs a complex diagonal. 64-byte aligned.
void multiply_lanes(const float* u_re, const float* u_im, const Diagonal<float>& diagonal,
                    int64_t n, float* out) noexcept;
void multiply_lanes(const double* u_re, const double* u_im, const Diagonal<double>& diagonal,
                    int64_t n, double* out) noexcept;

/// Element j of re (and im, if parts = 2) = scale prod_i table_i[index_i[j]], i in [0, factors), j
/// in [0, n). table_i is at tables + i * table_step, elements of parts * kLanes numbers; index_i at
/// index + i * index_step.
struct LaneGather {
  int64_t factors;
  int64_t table_step;
  int64_t index_step;
  int parts;
};
void gather_lanes(const LaneGather& gather, const float* tables, const int32_t* index, float scale,
                  int64_t n, float* re, float* im) noexcept;
void gather_lanes(const LaneGather& gather, const double* tables, const int32_t* index,
                  double scale, int64_t n, double* re, double* im) noexcept;

// One permutation of the columns of several rows. Within a row every number needs a load and a
// store; interleaved, kPermutedRows rows move together, 16 bytes at a time.

/// Rows permuted together.
template <class T>
inline constexpr int64_t kPermutedRows = 16 / static_cast<int64_t>(sizeof(T));

/// out[kPermutedRows k + r] = in[r ld + k], k in [0, n), n a multiple of 16. out is 16-byte aligned
/// and does not overlap in.
void interleave_rows(const float* in, int64_t ld, int64_t n, float* out) noexcept;
void interleave_rows(const double* in, int64_t ld, int64_t n, double* out) noexcept;

/// Permutes and inverts: out[r ld + i] = in[kPermutedRows index[i] + r], i in [0, n).
void permute_rows(const float* in, const int32_t* index, int64_t n, float* out,
                  int64_t ld) noexcept;
void permute_rows(const double* in, const int64_t* index, int64_t n, double* out,
                  int64_t ld) noexcept;

// Permutations of single numbers, compiled for the baseline only: number by number they reach two
// stores a cycle, while gather instructions of current processors need at least a cycle per lane.

/// out[i] = in[index[i]] for i in [0, n), indices in [0, n); out must not overlap in.
void gather(const float* in, const int32_t* index, int64_t n, float* out) noexcept;
void gather(const double* in, const int64_t* index, int64_t n, double* out) noexcept;

}  // namespace mercer::transform
