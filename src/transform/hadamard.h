// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fast Walsh-Hadamard transform, unnormalised, Sylvester (natural) order: y = H x with H(i, j) =
// (-1)^popcount(i & j). n is a power of two. Every output is the same tree of additions (stages h =
// 1, 2, 4, ...) on every target, hence the same bits.
#pragma once

#include <cstdint>

#include "base/context.h"
#include "base/views.h"

namespace mercer::transform {

/// x := H x for `count` transforms of length n that follow each other without gaps. 64-byte
/// alignment is faster but not required.
void fwht(float* x, int64_t n, int64_t count) noexcept;
void fwht(double* x, int64_t n, int64_t count) noexcept;

/// out = H (signs o in): transform c reads in + c * in_step (in_step = 0: the same input for all)
/// and n signs (0 allowed, for parts of complex signs) at signs + c * n, and writes out + c * n. in
/// == out is allowed with in_step == n.
void signed_fwht(const float* in, int64_t in_step, const float* signs, float* out, int64_t n,
                 int64_t count) noexcept;
void signed_fwht(const double* in, int64_t in_step, const double* signs, double* out, int64_t n,
                 int64_t count) noexcept;

/// Diagonals of +-1 are cheaper than others.
enum class DiagonalKind { signs, any };

/// out = scale o (H D_s ... H D_1 in) for each transform: the bits of `stages` >= 1 calls of
/// signed_fwht and a product, but short transforms never leave the registers. D_1 of all transforms
/// comes first (count * n numbers), then D_2; scale holds count * n numbers, or is null: 1 each. in
/// as in signed_fwht.
void fwht_chain(const float* in, int64_t in_step, const float* diagonals, DiagonalKind kind,
                int stages, const float* scale, float* out, int64_t n, int64_t count) noexcept;
void fwht_chain(const double* in, int64_t in_step, const double* diagonals, DiagonalKind kind,
                int stages, const double* scale, double* out, int64_t n, int64_t count) noexcept;

/// x := (H kron I) x for n elements of `width` numbers each, width a multiple of 32 bytes: the
/// transform of `width` interleaved vectors, each with the bits of fwht. x is 64-byte aligned. One
/// sweep over all elements per three stages: n * width should fit the L1 cache.
void fwht_interleaved(float* x, int64_t n, int64_t width) noexcept;
void fwht_interleaved(double* x, int64_t n, int64_t width) noexcept;
/// The last three stages of such a transform, after its eight parts: n is a multiple of 8.
void fwht_interleaved_eight(float* x, int64_t n, int64_t width) noexcept;
void fwht_interleaved_eight(double* x, int64_t n, int64_t width) noexcept;

// The Walsh-Hadamard transform of every row of a matrix, in parallel.

/// X(i, :) := H X(i, :); X.cols is a power of two. After cancellation every row is transformed or
/// untouched; bits do not depend on the number of threads.
void fwht_rows(MatrixView<float> X, Context& context);
void fwht_rows(MatrixView<double> X, Context& context);

}  // namespace mercer::transform
