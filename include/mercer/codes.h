/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_CODES_H
#define MERCER_CODES_H

/* Codes: rows as bits, 1,024 of them in 128 bytes, whose Hamming distances estimate the kernel;
 * classes as vectors. */

#include "mercer/map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Binary codes ====
 *
 * One bit for each of the D columns of a Fourier map of form PHASE. The expected share of bits in
 * which two rows differ grows from 0 at x = y to 4/pi^2 = 0.405 where the kernel is 0: "Binary
 * codes" in GUIDE.md.
 *
 * A code is `words` = ceil(D/64) words of 64 bits: bit j is bit j mod 64 of word j/64, unused bits
 * are 0. Codes of several rows follow each other without gaps.
 *
 * Example: the codes of n rows, their distances, and the kernel values these estimate.
 *
 *   const int64_t bits = 1024, words = 16;
 *   mercer_map_data of = {.struct_size = sizeof of, .kernel = kernel};
 *   const char* spec = "{\"map\":\"fourier\",\"form\":\"phase\",\"inputs\":3,\"features\":1024}";
 *   mercer_map* map = NULL;
 *   mercer_status status = mercer_map_fit(spec, &of, NULL, &map);
 *   mercer_rows X = mercer_rows_f32(n, d, x);
 *   if (status == MERCER_OK) status = mercer_map_codes(map, X, words, NULL, codes);
 *   if (status == MERCER_OK)
 *     status = mercer_codes_hamming(words, n, codes, n, codes, NULL, distances);
 *   if (status == MERCER_OK)
 *     status = mercer_codes_kernel(kernel, bits, n * n, distances, values);
 */

/** The codes of the rows of X.
 *  Shapes: X n x d, dense or CSR, F32 or F64; codes n x words, words = ceil(D/64).
 *  Random: what the map draws, and thresholds t_j from the same seed; a map with more features has
 *  the same first bits (structured projections: in whole blocks). The bits of a row depend on that
 *  row alone, but F32 and F64 rows may differ in bits whose cosine is within rounding of the
 *  threshold.
 *  Errors: MERCER_UNSUPPORTED for maps other than fourier of form PHASE, and for supplied
 *  frequencies; MERCER_DIMENSION_MISMATCH (columns of X, words); MERCER_INVALID_ARGUMENT naming
 *  row, column and value of the first number that is not finite or outside the kernel's domain, as
 *  its features are NaN and have no bits. Codes are unspecified then.
 *  Cost: as mercer_map_transform of the same map, without its Z: 4 MB of features are in memory at
 *  a time. */
MERCER_API mercer_status mercer_map_codes(const mercer_map* map, mercer_rows X, int64_t words,
                                          mercer_context* context, uint64_t* codes);

/** distances[i m + j] = the number of bits in which codes i of A and j of B differ.
 *  Shapes: A n x words, B m x words, distances n x m; A and B may be one. 1 <= words < 2^25.
 *  Errors: MERCER_INVALID_ARGUMENT (sizes, NULL, overlap with the distances).
 *  Cost: n m words popcounts and additions, under a nanosecond for 16 words on CPUs with vector
 *  popcount (AVX-512 BITALG). */
MERCER_API mercer_status mercer_codes_hamming(int64_t words, int64_t n, const uint64_t* A,
                                              int64_t m, const uint64_t* B, mercer_context* context,
                                              int32_t* distances);

/** values[i] = the k(x, y) whose expected share of differing bits is distances[i]/bits: k(0) at
 *  distance 0, 0 from a share of 4/pi^2 on. For kernels that decrease strictly with a norm of x -
 *  y: gaussian, laplacian, matern, rational_quadratic, generalized_gaussian_spectrum of order 1;
 *  also sums and products of these without laplacian, each part with a single lengthscale, a
 *  product with at most one part that is not gaussian.
 *  Shapes: distances and values hold count numbers each.
 *  Errors: MERCER_UNSUPPORTED (another kernel), MERCER_INVALID_ARGUMENT (bits < 1, a distance
 *  outside 0 to bits, naming it).
 *  Cost: per distinct distance under 1 us for gaussian, 20 ms for matern whose nu is not 1/2, 3/2
 *  or 5/2, 0.2 ms for the others. */
MERCER_API mercer_status mercer_codes_kernel(const mercer_kernel* kernel, int64_t bits,
                                             int64_t count, const int32_t* distances,
                                             double* values);

/* ==== Codes of classes ====
 *
 * Example: targets of T classes that are T - 1 numbers each.
 *
 *   mercer_matrix code = mercer_matrix_f64(T - 1, T, vectors);
 *   mercer_status status = mercer_simplex_code(code);
 */

/** T vectors that stand for T classes, the columns of code: they have norm 1 and inner products
 *  -1/(T - 1) (Mroueh, Poggio, Rosasco, Slotine 2012).
 *  Shapes: code (T - 1) x T, T >= 2, F32 or F64. Errors: MERCER_DIMENSION_MISMATCH.
 *  Cost: T^2. */
MERCER_API mercer_status mercer_simplex_code(mercer_matrix code);

#ifdef __cplusplus
}
#endif
#endif
