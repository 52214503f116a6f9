/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MAP_H
#define MERCER_MAP_H

/* Random feature maps: Z(i,:) = phi(X_i) with E[phi(x)'phi(y)] = k(x, y), all scale factors inside.
 * d counts inputs, D output columns (complex columns for complex maps). */

#include "mercer/base.h"
#include "mercer/kernel.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mercer_map mercer_map;

/** How random Fourier features are finished (F frequencies). */
typedef enum mercer_form {
  MERCER_FORM_PAIR =
      0, /**< F^{-1/2} [cos(XW) | sin(XW)], D = 2F. Variance (1 + k(2t) - 2k(t)^2)/D. */
  MERCER_FORM_PHASE = 1,  /**< sqrt(2/D) cos(XW + b), D = F. Variance (1 + k(2t)/2 - k(t)^2)/D. */
  MERCER_FORM_COMPLEX = 2 /**< D^{-1/2} exp(iXW), D = F complex columns, interleaved re, im. */
} mercer_form;

/** How frequencies are drawn and rows are projected. F frequencies of d inputs; d' is d
 * padded to the next power of two, at least 16. Structured ones (orthogonal, sorf, fastfood,
 * circulant) come in blocks of columns that depend on each other. Orthogonal, Sobol' and Halton
 * columns cost d*F multiply-adds per row, like dense ones. Drawing them on one core of a 2020s
 * server takes: orthogonal, 4/3 d^3 operations per block of d columns, the last one too: 0.2 s at d
 * = 784, F = 2048; 1 s at d = F = 2048; 2 s at d = 1024, F = 16384. Sobol' and Halton 0.1 to 0.2 us
 * per number: 0.2 s at d = 784, F = 2048. Besides the packed columns orthogonal ones hold 8 d^2
 * bytes while a block is drawn, and for as long as only a part of its columns has been asked for.
 *  Orthogonal, SORF and Fastfood need an isotropic kernel (gaussian, matern, rational_quadratic,
 * generalized_gaussian_spectrum of order 1); else MERCER_UNSUPPORTED. Sobol' and Halton take every
 * kernel, matern and rational_quadratic by one more coordinate of their points. Circulant takes
 * every kernel, too, and is always unbiased. Isotropic kernels: about the variance of independent
 * columns (measured 0.16 to 1.1 times for whole blocks, up to 1.15 for
 * half ones). Others: more, since the columns of a block share its draws: at d' = 16 up to 3.5
 * times for cauchy and generalized_gaussian_spectrum, 6 to 8 times for laplacian, and there it
 * grows in proportion to d' (about 100 times at d' = 256): prefer dense for those. It is faster
 * than dense from d of about 150 on. Circulant needs FFTW, else MERCER_UNSUPPORTED. FFTW's planner
 * is one per process: ours is called under a lock of our own, with FFTW_ESTIMATE, when a map is
 * first used and when it is freed. A host that plans with FFTW itself on other threads must call
 *  fftw_make_planner_thread_safe and fftwf_make_planner_thread_safe first, and must not leave
 * fftw_plan_with_nthreads above 1: plans made after it, ours too, take it over. Bits of a circulant
 * map depend on FFTW, its wisdom and the processor; the frequencies are the seed's everywhere, and
 * angles agree within rounding. */
typedef enum mercer_projection {
  MERCER_PROJECTION_DENSE =
      0, /**< i.i.d. columns from the spectral law; d*F multiply-adds per row. */
  MERCER_PROJECTION_ORTHOGONAL =
      1, /**< Blocks of d orthogonal columns, norms from the radial law (Yu et al. 2016). */
  MERCER_PROJECTION_SORF =
      2, /**< Blocks H D1 H D2 H D3 (Yu et al. 2016); F log d' per row. Bias shrinks with d'. */
  MERCER_PROJECTION_FASTFOOD = 3, /**< Blocks S H G P H B (Le et al. 2013); F log d' per row. */
  MERCER_PROJECTION_CIRCULANT =
      4,                       /**< Signed circulant blocks through the FFT; F log d' per row. */
  MERCER_PROJECTION_SOBOL = 5, /**< Columns from scrambled Sobol' points through the inverse
                                  distribution function; d <= 1024. */
  MERCER_PROJECTION_HALTON = 6 /**< The same from scrambled Halton points; d <= 6542. */
} mercer_projection;

/** Norms of the columns of SORF and Fastfood. */
typedef enum mercer_radius {
  MERCER_RADIUS_DRAWN = 0, /**< From the kernel's radial law in dimension d'. */
  MERCER_RADIUS_FIXED = 1  /**< All the root of the mean square; normal spectral laws only. */
} mercer_radius;

/** Randomisation of low-discrepancy points. */
typedef enum mercer_scramble {
  MERCER_SCRAMBLE_OWEN = 0,         /**< Nested uniform scrambling (Owen 1995). */
  MERCER_SCRAMBLE_DIGITAL_SHIFT = 1 /**< One random shift per coordinate and digit. */
} mercer_scramble;

typedef struct mercer_fourier_options {
  uint32_t struct_size;
  int32_t form;         /**< mercer_form; default MERCER_FORM_PAIR. */
  int32_t projection;   /**< mercer_projection; default MERCER_PROJECTION_DENSE. */
  int32_t radius;       /**< mercer_radius, for SORF and FASTFOOD; default MERCER_RADIUS_DRAWN. */
  uint64_t seed;        /**< Fixes every random number of the map; default 0. */
  int32_t scramble;     /**< mercer_scramble, for SOBOL and HALTON; default MERCER_SCRAMBLE_OWEN. */
  int32_t whole_blocks; /**< 1: D is rounded down to whole blocks, but to one at least: D may grow,
                           ask mercer_map_shape; default 0. Structured projections only. */
} mercer_fourier_options;

MERCER_API mercer_status mercer_fourier_options_init(mercer_fourier_options* options);

/** Random Fourier features of a shift-invariant kernel (Rahimi, Recht 2007). The kernel is copied.
 *  d inputs and D features, each in 1..2^31-1, D even for the pair form. options may be NULL.
 * Nothing is drawn until the map is first used or prepared, and then only the columns asked for. A
 * column of W (a block, for structured projections) is a function of seed and number alone: a map
 * with more features keeps the first ones. Further limits: d <= 2^28 for sorf, fastfood and
 * circulant; d <= 1024 (sobol), 6542 (halton), one less for matern and
 * rational_quadratic, and F <= 2^28 for both. Errors:
 * MERCER_INVALID_ARGUMENT, MERCER_DIMENSION_MISMATCH (ARD count), MERCER_UNSUPPORTED (kernel
 * without a spectral law, or with one that the projection does not permit; an option that does not
 * apply), MERCER_OUT_OF_MEMORY. Since 0.1. */
MERCER_API mercer_status mercer_fourier_create(const mercer_kernel* kernel, int64_t d, int64_t D,
                                               const mercer_fourier_options* options,
                                               mercer_map** out);

/** Fourier features with the caller's frequencies: frequencies is F x d, row-major, ldw >= d;
 * weights: F numbers >= 0, or NULL for 1/F each. Estimates variance * sum_j w_j cos(omega_j'(x -
 * y)); the kernel's lengthscale is not applied. options->projection is not used and
 * must be DENSE. Errors as above; MERCER_INVALID_ARGUMENT for a weight or frequency that is not finite. */
MERCER_API mercer_status mercer_fourier_create_supplied(const mercer_kernel* kernel, int64_t d,
                                                        int64_t F, const double* frequencies,
                                                        int64_t ldw, const double* weights,
                                                        const mercer_fourier_options* options,
                                                        mercer_map** out);

/** Any map of `mercer specs`, from and to JSON:
 *   {"map":"fourier","kernel":{...},"inputs":d,"features":D,"seed":s}, canonical when printed. Linear
 * maps, which keep inner products (E Z Z' = a XX', a = variance * gamma of a polynomial kernel of
 * degree 1 and offset 0), and sketches of polynomial and bilinear kernels are made here:
 *   {"map":"linear","projection":"srht","inputs":d,"features":D}; see mercer/sketch.h for sketches.
 * Linear projections, with N = ||x||^2 ||y||^2, s = x'y, Q = sum_k x_k^2 y_k^2 and d' the next power
 * of two: gaussian, d*D per row, variance (N + s^2)/D; rademacher, d*D, (N + s^2 - 2Q)/D; srht, D log
 * d', (N + s^2 - 2Q) r (d' - r)/((d' - 1) D^2) with r = D mod d'; countsketch, one addition per
 * non-zero, (N + s^2 - 2Q)/D; of the estimate of x'y, times a^2 for that of the kernel. Limits: D and
 * d at most 2^31 - 1, d at most 2^28 for srht. Making a map costs under 10 ms and 1 MB whatever D;
 * numbers are drawn when first used, or prepared. */
MERCER_API mercer_status mercer_map_from_spec(const char* json, mercer_map** out);

/** A map made from data, from a spec and the rows of X (n x d, dense or CSR):
 *   {"map":"nystroem","kernel":{...},"inputs":d,"features":D,"seed":s,"cutoff":1e-12}
 * takes D of the rows as landmarks L, uniformly and without replacement, and gives
 *   Z = K(X, L) K(L, L)^(+1/2),
 * so that Z Z' is the kernel itself on the landmarks, for every kernel; eigenvalues of K(L, L) up to
 * cutoff times the largest count as 0, and "rank" of the map's spec says how many are left. It does
 * not change with the thread count. A map that needs no rows is that of mercer_map_from_spec. Y: the
 * targets of a map that learns from them, else NULL. What a map has learnt is kept in files; its spec
 * says "needs":"data". context may be NULL. Errors: those of mercer_map_from_spec;
 * MERCER_INVALID_ARGUMENT (fewer rows than features, landmarks that are not finite, a kernel that is 0
 * on all of them), MERCER_DIMENSION_MISMATCH (X->d is not "inputs", rows of Y), MERCER_UNSUPPORTED (Y
 * of a map that does not learn from it), MERCER_OUT_OF_MEMORY, MERCER_CANCELLED, MERCER_NOT_CONVERGED.
 * Cost: D^2 (d + D) and 24 D^2 bytes; a row of Z then takes D (d + D). Any number of threads at once. */
MERCER_API mercer_status mercer_map_fit_spec(const char* json, const mercer_rows* X,
                                             const mercer_rows* Y, mercer_context* context,
                                             mercer_map** out);

MERCER_API mercer_status mercer_map_spec(const mercer_map* map, char* buffer, int64_t capacity,
                                         int64_t* needed);

/** What a map reads and writes; any pointer may be NULL.
 *  d: inputs. D: features, complex ones of a complex map. is_complex: 0 or 1. right_inputs: of the d
 * inputs those of the second of two matrices (mercer_transform_options.right), 0 for a map of one.
 *  incomplete_block: frequencies in a last, incomplete block of a structured projection, columns
 * (complex ones, where a sketch has them) in that of STACKED blocks and of CRAFT's SRHT; 0 if there is
 * none. Such a block of frequencies can make the estimate worse than leaving it out, for short ||tau||
 * and up to about half a block: see mercer_fourier_options.whole_blocks. */
MERCER_API mercer_status mercer_map_shape(const mercer_map* map, int64_t* d, int64_t* D,
                                          int32_t* is_complex, int64_t* right_inputs,
                                          int64_t* incomplete_block);

/* ---- Features of rows ---- */

/** Which features, of which rows. */
typedef struct mercer_transform_options {
  uint32_t struct_size;
  int32_t reserved;         /**< 0. */
  int64_t begin;            /**< First column; default 0. */
  int64_t end;              /**< One past the last column; -1 (default): D. */
  const mercer_rows* right; /**< NULL (default), or the second of two matrices, for a map with
                               right_inputs > 0 (a sketch of the kernel bilinear). */
  int64_t locations;        /**< With `right`: rows that are summed into one; default 1. */
} mercer_transform_options;

MERCER_API mercer_status mercer_transform_options_init(mercer_transform_options* options);

/** Z(i, :) = columns [begin, end) of phi(X_i), for any kind of rows.
 *
 *  X: n x d rows, dense or CSR. Z: n x (end - begin) of X's precision: F32 or F64 for a real map, C32
 * or C64 for a complex one; it must not overlap X. n = 0 writes nothing. options and context may be
 * NULL.
 *  With `right`, rows are [x | y], x from X (d - right_inputs columns) and y from `right`
 * (right_inputs columns), both dense and of one precision, and Z(i, :) is the sum over l < locations
 * of the features of [x_r | y_r], r = i*locations + l: compact bilinear pooling (mercer/sketch.h).
 *
 *  A row of Z is a function of its row of X as stored and the map, bit for bit on one SIMD target,
 * whatever the number of threads and the split of rows and columns. NaN and Inf stay in their row.
 *  Sparse rows give the features of the dense rows they stand for up to the rounding of sums in
 * another order: P = XW differs by at most (m + d + 2) u sum_k |x_k w_kj|, m numbers listed in the
 * row, u = 2^-24 or 2^-53. Cost: nnz*F (Fourier maps with DENSE, ORTHOGONAL, SOBOL, HALTON or supplied
 * frequencies; linear gaussian, rademacher), nnz (countsketch), n D log d + nnz (srht); sketches of
 * polynomial kernels as mercer/sketch.h says; any other map, and a kernel that warps its inputs, works
 * on tiles of rows made dense. The first pays up to about a quarter of non-zeros.
 *  Errors: MERCER_INVALID_ARGUMENT (what mercer/rows.h does not allow, naming row, position and value;
 * columns out of range; overlap), MERCER_DIMENSION_MISMATCH (columns of X, shape of Z),
 * MERCER_UNSUPPORTED (a type of Z that the map does not write; `right` for a map of one matrix, or
 * sparse), MERCER_OUT_OF_MEMORY, MERCER_CANCELLED. Any number of threads at once. Dense cost: O(n d F)
 * at most; structured projections and sketches as said where they are made. */
MERCER_API mercer_status mercer_map_transform(const mercer_map* map, const mercer_rows* X,
                                              const mercer_transform_options* options,
                                              mercer_context* context, const mercer_matrix* Z);

/** All columns of dense rows, without views: for foreign-function interfaces. X is n x d, ldx >= d; Z
 * is n x D, ldz >= D. _f32/_f64 for real maps; _c32/_c64 for complex ones: Z holds interleaved re, im,
 * ldz counts complex elements. Otherwise mercer_map_transform; a wrong letter is MERCER_UNSUPPORTED,
 * naming the right one. */
MERCER_API mercer_status mercer_map_apply_f32(const mercer_map* map, int64_t n, const float* X,
                                              int64_t ldx, mercer_context* context, float* Z,
                                              int64_t ldz);
MERCER_API mercer_status mercer_map_apply_f64(const mercer_map* map, int64_t n, const double* X,
                                              int64_t ldx, mercer_context* context, double* Z,
                                              int64_t ldz);
MERCER_API mercer_status mercer_map_apply_c32(const mercer_map* map, int64_t n, const float* X,
                                              int64_t ldx, mercer_context* context, float* Z,
                                              int64_t ldz);
MERCER_API mercer_status mercer_map_apply_c64(const mercer_map* map, int64_t n, const double* X,
                                              int64_t ldx, mercer_context* context, double* Z,
                                              int64_t ldz);

/** Precisions a map can be packed for. */
typedef enum mercer_precision {
  MERCER_PRECISION_F32 = 0,
  MERCER_PRECISION_F64 = 1
} mercer_precision;

/** Draws and packs the projection for one precision (mercer_precision) ahead of the first apply.
 * Idempotent, thread-safe; a call that failed or was cancelled may be repeated. context may be
 * NULL. Cost and memory: d*F numbers for the dense projection. */
MERCER_API mercer_status mercer_map_prepare(const mercer_map* map, int32_t precision,
                                            mercer_context* context);

/** Which variance. */
typedef enum mercer_variance {
  MERCER_VARIANCE_ESTIMATE = 0, /**< Of the real estimate: (V + PV)/2 for complex maps. */
  MERCER_VARIANCE_PSEUDO = 1    /**< PV = E(k^ - k)^2 of the complex estimate (real maps: the variance). */
} mercer_variance;

/** variance[i], i = 0..n-1, of the estimate of k(x_i, y_i), for i.i.d. columns. X and Y: n x d, dense
 * or CSR (made dense). which: mercer_variance. context may be NULL. Structured and low-discrepancy
 * frequencies are not independent: the value is then a yardstick, not the variance. Of linear maps and
 * sketches it is the variance itself. Measured ratios to it: orthogonal, sorf, sobol and halton (d <=
 * 8) at or below 1 (sorf up to 1.2 at d = 1), fastfood up to 2, circulant up to 1.15. Errors:
 * MERCER_INVALID_ARGUMENT, MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (no closed form: supplied
 * frequencies, circulant with a kernel that is not isotropic). */
MERCER_API mercer_status mercer_map_variance(const mercer_map* map, const mercer_rows* X,
                                             const mercer_rows* Y, int32_t which,
                                             mercer_context* context, double* variance);

/** Which error of a kernel. */
typedef enum mercer_kernel_error {
  MERCER_KERNEL_ERROR_MEASURED = 0, /**< Of this map: ||Re ZZ^H - K||_F / ||K||_F. */
  MERCER_KERNEL_ERROR_PREDICTED = 1 /**< The root mean square of that over the seeds, by the variance:
                                         sqrt(sum_ij variance(x_i, x_j) / sum_ij k(x_i, x_j)^2). */
} mercer_kernel_error;

/** What the map misses of its kernel on the rows of X (n x d, dense or CSR, made dense; n >= 1), relative
 * to the kernel, over all pairs of rows. which: mercer_kernel_error. Predicted, no feature is computed;
 * it needs a variance in closed form, and where that is a yardstick it is one. error is written on
 * success alone. context may be NULL. Errors: MERCER_INVALID_ARGUMENT (n < 1, a kernel that is 0 on all
 * pairs, rows that are not finite or whose kernel overflows), MERCER_DIMENSION_MISMATCH,
 * MERCER_UNSUPPORTED (predicted without a closed form), MERCER_OUT_OF_MEMORY, MERCER_CANCELLED. Any
 * number of threads at once. Cost: n^2 values of the kernel and, measured, n features, n^2 D
 * multiply-adds and 8 n (2 n + 4,096) bytes; predicted, n^2/2 variances of d operations each: some
 * hundred rows tell as much as all. */
MERCER_API mercer_status mercer_map_kernel_error(const mercer_map* map, const mercer_rows* X,
                                                 int32_t which, mercer_context* context,
                                                 double* error);

/** A new handle on the kernel that the map's features estimate, lengthscale and variance as the map has
 * them; it may outlive the map. */
MERCER_API mercer_status mercer_map_kernel(const mercer_map* map, mercer_kernel** out);

MERCER_API void mercer_map_free(mercer_map* map);

/** Everything that exists (kernels, maps, models: names, parameters, types, ranges, one line of
 * help) as JSON:
 *  {"kernels":[{"name","help","parameters":[{"key","type","required","default","least","least_open","most","choices",
 *  "expected","help"}]}],"maps":[...],"models":[...]}; null: no default, no limit; "expected" says
 * in words what is allowed; a map has "default_kernel" too, the spec of the kernel that searches
 * take if their map spec has none, such as {"kernel":"gaussian"}. name NULL or "" for all, else the same lists with that entry
 * alone (a kernel and a map may share a name). Errors: MERCER_INVALID_ARGUMENT (no such name; short
 * buffer).
 */
MERCER_API mercer_status mercer_specs(const char* name, char* buffer, int64_t capacity,
                                      int64_t* needed);

#ifdef __cplusplus
}
#endif
#endif
