/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_SKETCH_H
#define MERCER_SKETCH_H

/* Sketches of the polynomial kernel variance (gamma x'y + offset)^p and of the bilinear kernel
 * variance (x1'y1)(x2'y2): maps of D columns with E[phi(x)'phi(y)] = k(x, y), at a cost far below
 * that of the d^p products they stand for. What a map can do (mercer/map.h) a sketch can. */

#include "mercer/base.h"
#include "mercer/kernel.h"
#include "mercer/map.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the p factors of a column are drawn. The factors of a polynomial kernel read u =
 * [sqrt(gamma) x, sqrt(offset)], those of a bilinear one (p = 2) read x1 and x2; d is the length of
 * u, d' the next power of two, H the Hadamard matrix of d' rows. */
typedef enum mercer_sketch_kind {
  MERCER_SKETCH_RADEMACHER = 0, /**< D^{-1/2} prod_i w_i'u with entries +-1 (complex: 1, -1, i, -i);
                                   p d D per row, p nnz D per CSR row. */
  MERCER_SKETCH_GAUSSIAN =
      1, /**< The same with normal entries: for REAL, a variance at least that of RADEMACHER. */
  MERCER_SKETCH_TENSOR_SKETCH =
      2, /**< Circular convolution of p CountSketches to D buckets, by FFT (Pham, Pagh 2013):
              p (nnz + D log D) per row of nnz non-zeros. Needs FFTW. */
  MERCER_SKETCH_TENSOR_SRHT_UPSAMPLED =
      3, /**< D^{-1/2} prod_i (H diag(s_i) u)[h_i], random signs s_i, each h_i the first D of
              ceil(D/d') copies of 1..d', shuffled: p (d' log d' + D) per row (Wacker, Kanagawa,
              Filippone 2022). */
  MERCER_SKETCH_TENSOR_SRHT_STACKED =
      4, /**< The same with each h_i made of ceil(D/d') permutations of 1..d'. */
  MERCER_SKETCH_TENSOR_SRHT_TUPLE =
      5 /**< The same with D distinct tuples (h_1, ..., h_p) (Hamid et al. 2014); D <= d'^p. */
} mercer_sketch_kind;

/** The numbers that weights and columns are. */
typedef enum mercer_field {
  MERCER_FIELD_REAL = 0,
  MERCER_FIELD_COMPLEX = 1,        /**< D complex columns, interleaved re, im. */
  MERCER_FIELD_COMPLEX_TO_REAL = 2 /**< D/2 complex columns as D real ones [Re | Im], D even
                                      (Wacker, Ohana, Filippone 2023): on non-negative rows the
                                      variance is at most that of REAL for RADEMACHER, GAUSSIAN and
                                      TENSOR_SKETCH, mostly below it for TENSOR_SRHT (not for p = 1
                                      and D a multiple of d', where REAL is exact). */
} mercer_field;

/** What is made of sketches of one kind. */
typedef enum mercer_composition {
  MERCER_COMPOSITION_PLAIN = 0, /**< The sketch itself. */
  MERCER_COMPOSITION_HIERARCHICAL =
      1, /**< A binary tree: p leaves of degree 1, padded with constants to a power of two, and in
              every inner node a sketch of the products of its two children (Ahle et al. 2020). Wide
              inner sketches keep the variance from growing exponentially with p. */
  MERCER_COMPOSITION_CRAFT = 2 /**< A sketch of `intermediate` columns projected down to D (Hamid,
                                  Xiao, Gittens, DeCoste 2014). */
} mercer_composition;

/** How CRAFT projects down. */
typedef enum mercer_down_projection {
  MERCER_DOWN_SRHT = 0,       /**< Blocks of a randomised Hadamard transform. */
  MERCER_DOWN_RADEMACHER = 1, /**< Dense, entries +-1. */
  MERCER_DOWN_GAUSSIAN = 2    /**< Dense, normal entries. */
} mercer_down_projection;

typedef struct mercer_sketch_options {
  uint32_t struct_size;
  int32_t kind;         /**< mercer_sketch_kind; default MERCER_SKETCH_TENSOR_SRHT_UPSAMPLED. */
  int32_t field;        /**< mercer_field; default MERCER_FIELD_COMPLEX_TO_REAL. */
  int32_t composition;  /**< mercer_composition; default MERCER_COMPOSITION_PLAIN. */
  int32_t projection;   /**< mercer_down_projection, for CRAFT; default MERCER_DOWN_SRHT. */
  int32_t reserved;     /**< 0. */
  int64_t intermediate; /**< HIERARCHICAL, CRAFT: columns of the inner sketches, counted like D; 0
                           (default): D for HIERARCHICAL, 4 D for CRAFT. */
  uint64_t seed;        /**< Fixes every random number of the map; default 0. */
} mercer_sketch_options;

MERCER_API mercer_status mercer_sketch_options_init(mercer_sketch_options* options);

/** A sketch of `kernel`, polynomial or bilinear, which is copied: d inputs (bilinear: of both
 * parts, [x1 | x2]), D features (complex columns for COMPLEX), each at least 1, D at most 2^31 - 1.
 * options may be NULL. Random numbers are drawn when the map is first used or prepared, and are the
 * same on every machine.
 *
 * Variance of the estimate for u, v as above, s = u'v, N = ||u||^2 ||v||^2, Q = sum_k u_k^2 v_k^2,
 * q = 2 (REAL) or 1 (COMPLEX, of the complex number), times the square of the kernel's variance:
 *   GAUSSIAN       [(N + q s^2)^p - s^{2p}]/D,
 *   RADEMACHER     [(N + q (s^2 - Q))^p - s^{2p}]/D = v_p/D,
 *   TENSOR_SKETCH  COMPLEX: v_p/D; REAL: [(D - e) ((N + s^2 - Q)^p + (2 s^2 - Q)^p - 2 s^{2p}) +
 *                  e ((N + 2 s^2 - 2 Q)^p - s^{2p})]/D^2, e = 2 for even D, 1 for odd D: close to
 *                  RADEMACHER's with COMPLEX_TO_REAL,
 *   UPSAMPLED      v_p/D - (1 - 1/D) (s^{2p} - (s^2 - v_1/(ceil(D/d') d' - 1))^p).
 * mercer_map_variance_f64 knows it for every kind, field and composition;
 * mercer_map_predicted_error_f64 sums it up.
 *
 * Errors: MERCER_INVALID_ARGUMENT (NULL, d or D < 1, D or intermediate > 2^31 - 1, or odd for
 * COMPLEX_TO_REAL (for CRAFT intermediate alone), columns of the inner sketches of HIERARCHICAL
 * > 2^31 - 1 all together, more columns than tuples for TUPLE (D, COMPLEX_TO_REAL D/2, > d'^p), d >
 * 2^28 for TENSOR_SRHT, an option out of range), MERCER_DIMENSION_MISMATCH (bilinear: d <= left),
 * MERCER_UNSUPPORTED (another kernel; TENSOR_SKETCH in a build without FFTW; projection without
 * CRAFT, intermediate for PLAIN), MERCER_OUT_OF_MEMORY. Any number of threads at once. Since 0.1.
 */
MERCER_API mercer_status mercer_sketch_create(const mercer_kernel* kernel, int64_t d, int64_t D,
                                              const mercer_sketch_options* options,
                                              mercer_map** out);

/** Compact bilinear pooling (Gao, Beijbom, Zhang, Darrell 2016; two inputs: Fukui et al. 2016) by a
 * sketch of the bilinear kernel with left = d1 and d = d1 + d2 inputs: row i of Z is
 *   sum over l < locations of phi([x_r | y_r]), r = i locations + l,
 * so that E <Z(i, :), Z(j, :)> is the sum of (x_r'x_t)(y_r'y_t) over the locations r of i and t of
 * j: the inner product of the sums of the outer products x_r y_r', times the kernel's variance.
 *
 * X: (n*locations) x d1, ldx >= d1; Y: (n*locations) x d2, ldy >= d2; Z: n x D, ldz >= D
 * (_c32/_c64: complex columns, interleaved re, im); n >= 0, locations >= 1. Z must not overlap X or
 * Y, which may be the same. context may be NULL. With locations = 1 it is mercer_map_apply of the
 * rows [x | y], which need not be put together. A row of Z is a function of its rows of X and Y and
 * the map, bit for bit, whatever the number of threads; NaN and Inf stay in their row. Errors:
 * MERCER_INVALID_ARGUMENT (NULL, n < 0, locations < 1, short leading dimension, overlap),
 * MERCER_UNSUPPORTED (a map of another kernel; real function on a complex map or the reverse),
 * MERCER_OUT_OF_MEMORY, MERCER_CANCELLED. Any number of threads at once. Cost: n*locations rows of
 * the sketch. Since 0.1. */
MERCER_API mercer_status mercer_map_apply_pair_f32(const mercer_map* map, int64_t n,
                                                   int64_t locations, const float* X, int64_t ldx,
                                                   const float* Y, int64_t ldy,
                                                   mercer_context* context, float* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_pair_f64(const mercer_map* map, int64_t n,
                                                   int64_t locations, const double* X, int64_t ldx,
                                                   const double* Y, int64_t ldy,
                                                   mercer_context* context, double* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_pair_c32(const mercer_map* map, int64_t n,
                                                   int64_t locations, const float* X, int64_t ldx,
                                                   const float* Y, int64_t ldy,
                                                   mercer_context* context, float* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_pair_c64(const mercer_map* map, int64_t n,
                                                   int64_t locations, const double* X, int64_t ldx,
                                                   const double* Y, int64_t ldy,
                                                   mercer_context* context, double* Z, int64_t ldz);

/** d2, the columns of Y above: 0 for a map that takes one matrix, of any kernel but bilinear. Those
 * of X are mercer_map_inputs - d2. Errors: MERCER_INVALID_ARGUMENT (NULL). Since 0.1. */
MERCER_API mercer_status mercer_map_second_inputs(const mercer_map* map, int64_t* d2);

/** What the map is expected to miss on the rows of X (n x d, ldx >= d, n >= 1), before any feature
 * is computed:
 *   error = sqrt(sum_ij variance(x_i, x_j) / sum_ij k(x_i, x_j)^2),
 * the root mean square of ||ZZ' - K||_F / ||K||_F over the seeds, for any map whose variance
 * (mercer_map_variance_f64) has a closed form, and where that is a yardstick a yardstick. error is
 * written on success alone. context may be NULL. Errors: MERCER_INVALID_ARGUMENT (NULL, n < 1,
 * short leading dimension, a kernel that is 0 on all pairs, rows that are not finite or whose
 * kernel overflows), MERCER_UNSUPPORTED (no closed form),
 * MERCER_OUT_OF_MEMORY, MERCER_CANCELLED. Any number of threads at once. Cost: n^2/2 values and
 * variances, d operations each: some hundred rows tell as much as all. Since 0.1. */
MERCER_API mercer_status mercer_map_predicted_error_f64(const mercer_map* map, int64_t n,
                                                        const double* X, int64_t ldx,
                                                        mercer_context* context, double* error);

/** The plain sketch of D real columns with the lowest predicted error on the rows of X (n x d, ldx
 * >= d, n >= 1): every kind with fields COMPLEX_TO_REAL (D even) and REAL; of equals the cheapest.
 * mercer_map_spec says which it is. predicted_error may be NULL; it is written on success alone.
 * context may be NULL. Errors: those of mercer_sketch_create and mercer_map_predicted_error_f64;
 * MERCER_INVALID_ARGUMENT for rows that are not finite. Any number of threads at once. Cost: up to
 * 12 times that of mercer_map_predicted_error_f64; nothing is drawn. Since 0.1. */
MERCER_API mercer_status mercer_sketch_recommend(const mercer_kernel* kernel, int64_t D,
                                                 uint64_t seed, int64_t n, int64_t d,
                                                 const double* X, int64_t ldx,
                                                 mercer_context* context, double* predicted_error,
                                                 mercer_map** out);

#ifdef __cplusplus
}
#endif
#endif
