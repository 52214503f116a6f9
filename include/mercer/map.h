/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MAP_H
#define MERCER_MAP_H

/* Random feature maps: Z(i,:) = phi(X_i) with E[phi(x)'phi(y)] = k(x, y), all scale factors inside.
 * d counts inputs, D output columns (complex columns for complex maps). */

#include "mercer/base.h"
#include "mercer/kernel.h"

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
 *  Orthogonal needs an isotropic kernel (gaussian, matern, rational_quadratic,
 * generalized_gaussian_spectrum of order 1), Sobol' and Halton one with independent coordinates
 * (gaussian, laplacian, cauchy, generalized_gaussian_spectrum, skewed_chi2); else
 * MERCER_UNSUPPORTED. Circulant takes either kind and is always unbiased. Isotropic kernels: about
 * the variance of independent columns (measured 0.16 to 1.1 times for whole blocks, up to 1.15 for
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
  MERCER_RADIUS_FIXED = 1  /**< All sqrt(d')/lengthscale; Gaussian kernel only. */
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
  int32_t round_blocks; /**< 1: D is rounded down to whole blocks, but to one at least: D may grow,
                           ask mercer_map_features; default 0. Structured projections only. */
} mercer_fourier_options;

MERCER_API mercer_status mercer_fourier_options_init(mercer_fourier_options* options);

/** Random Fourier features of a shift-invariant kernel (Rahimi, Recht 2007). The kernel is copied.
 *  d inputs and D features, each in 1..2^31-1, D even for the pair form. options may be NULL.
 * Nothing is drawn until the map is first used or prepared, and then only the columns asked for. A
 * column of W (a block, for structured projections) is a function of seed and number alone: a map
 * with more features keeps the first ones. Further limits: d <= 2^28 for sorf, fastfood and
 * circulant; d <= 1024 (sobol), 6542 (halton) and F <= 2^28 for both. Errors:
 * MERCER_INVALID_ARGUMENT, MERCER_DIMENSION_MISMATCH (ARD count), MERCER_UNSUPPORTED (kernel
 * without a spectral law, or with one that the projection does not permit; an option that does not
 * apply), MERCER_OUT_OF_MEMORY. Since 0.1. */
MERCER_API mercer_status mercer_fourier_create(const mercer_kernel* kernel, int64_t d, int64_t D,
                                               const mercer_fourier_options* options,
                                               mercer_map** out);

/** Fills row j of W (F x d, row-major, ldw = d) with frequency omega_j, for every j in [0, F).
 * Called once, on the calling thread, when all other arguments were found right. Non-zero: creation
 * fails with MERCER_INVALID_ARGUMENT. Must not unwind. */
typedef int32_t (*mercer_frequency_callback)(void* user, int64_t F, int64_t d, double* W);

/** Fourier features with the caller's frequencies: frequencies is F x d, row-major, ldw >= d;
 * weights: F numbers >= 0, or NULL for 1/F each. Estimates variance * sum_j w_j cos(omega_j'(x -
 * y)); the kernel's lengthscale is not applied. The second variant asks a callback.
 * options->projection is not used and must be DENSE. Errors as above. */
MERCER_API mercer_status mercer_fourier_create_supplied(const mercer_kernel* kernel, int64_t d,
                                                        int64_t F, const double* frequencies,
                                                        int64_t ldw, const double* weights,
                                                        const mercer_fourier_options* options,
                                                        mercer_map** out);
MERCER_API mercer_status mercer_fourier_create_callback(const mercer_kernel* kernel, int64_t d,
                                                        int64_t F, mercer_frequency_callback fill,
                                                        void* user, const double* weights,
                                                        const mercer_fourier_options* options,
                                                        mercer_map** out);

/** How a linear map projects; d' is the next power of two >= d, N = ||x||^2 ||y||^2, s =
 * x'y, Q = sum_k x_k^2 y_k^2. */
typedef enum mercer_linear_projection {
  MERCER_LINEAR_GAUSSIAN = 0,   /**< W i.i.d. N(0,1): d*D per row, variance (N + s^2)/D. */
  MERCER_LINEAR_RADEMACHER = 1, /**< W i.i.d. +-1: d*D per row, variance (N + s^2 - 2Q)/D. */
  MERCER_LINEAR_SRHT =
      2, /**< Blocks of d' rows of H diag(signs), drawn without replacement: D log d' per row; with
              r = D mod d', variance (N + s^2 - 2Q) r (d' - r)/((d' - 1) D^2). */
  MERCER_LINEAR_COUNTSKETCH = 3 /**< Each input added to one of D buckets with a sign: one addition
                                   per non-zero, variance (N + s^2 - 2Q)/D. */
} mercer_linear_projection;

typedef struct mercer_linear_options {
  uint32_t struct_size;
  int32_t projection; /**< mercer_linear_projection; default MERCER_LINEAR_GAUSSIAN. */
  uint64_t seed;      /**< Fixes every random number of the map; default 0. */
} mercer_linear_options;

MERCER_API mercer_status mercer_linear_options_init(mercer_linear_options* options);

/** Random projection that keeps inner products: Z = sqrt(a/D) XW, or sqrt(a) times the CountSketch
 * of X, with E Z Z' = a XX', a = variance * gamma of `kernel`, which is polynomial with degree 1
 * and offset 0 and is copied. The variances above are of the estimate of x'y; times a^2 for that of
 * the kernel. d >= 1 inputs, D >= 1 features; options may be NULL. Columns (GAUSSIAN, RADEMACHER)
 * and blocks of d' columns (SRHT) are functions of seed and their number alone. Errors:
 * MERCER_INVALID_ARGUMENT (D > 2^31 - 1; d > 2^28 for SRHT, 2^31 - 1 for COUNTSKETCH),
 * MERCER_UNSUPPORTED (another kernel, degree or offset), MERCER_OUT_OF_MEMORY. Memory: d*D numbers
 * per precision in use (GAUSSIAN, RADEMACHER), 2D (SRHT), 5d bytes (COUNTSKETCH). Since 0.1. */
MERCER_API mercer_status mercer_linear_create(const mercer_kernel* kernel, int64_t d, int64_t D,
                                              const mercer_linear_options* options,
                                              mercer_map** out);

/** From and to JSON: {"map":"fourier","kernel":{...},"inputs":d,"features":D,"seed":s}. Canonical
 * when printed. */
MERCER_API mercer_status mercer_map_from_spec(const char* json, mercer_map** out);
MERCER_API mercer_status mercer_map_spec(const mercer_map* map, char* buffer, int64_t capacity,
                                         int64_t* needed);
MERCER_API mercer_status mercer_map_inputs(const mercer_map* map, int64_t* d);
MERCER_API mercer_status mercer_map_features(const mercer_map* map, int64_t* D);
MERCER_API mercer_status mercer_map_is_complex(const mercer_map* map, int32_t* yes);
/** Frequencies in a last, incomplete block of a structured projection, columns (complex ones, where
 * a sketch has them) in that of STACKED blocks and of CRAFT's SRHT; 0 if there is none. Such a
 * block of frequencies can make the estimate worse than leaving it out, for short ||tau|| and up to
 * about half a block: see mercer_fourier_options.round_blocks. */
MERCER_API mercer_status mercer_map_incomplete_block(const mercer_map* map, int64_t* frequencies);

/** Maps rows: X is n x d, ldx >= d; Z is n x D, ldz >= D, and must not overlap X. n = 0 writes
 * nothing. A row of Z is a function of its row of X and the map, bit for bit, on one SIMD target,
 * whatever the number of threads and the split of the rows. NaN and Inf stay in their row.
 * _f32/_f64 for real maps; _c32/_c64 for complex ones: Z holds interleaved re, im, ldz counts
 * complex elements. Errors: MERCER_INVALID_ARGUMENT (NULL, n < 0, short leading dimension,
 * overlap), MERCER_UNSUPPORTED (real function on a complex map or the reverse),
 * MERCER_OUT_OF_MEMORY. Any number of threads at once. O(n d F) at most; structured projections and
 * sketches as said where they are made. */
MERCER_API mercer_status mercer_map_apply_f32(const mercer_map* map, int64_t n, const float* X,
                                              int64_t ldx, float* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_f64(const mercer_map* map, int64_t n, const double* X,
                                              int64_t ldx, double* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_c32(const mercer_map* map, int64_t n, const float* X,
                                              int64_t ldx, float* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_c64(const mercer_map* map, int64_t n, const double* X,
                                              int64_t ldx, double* Z, int64_t ldz);

/** Columns [j0, j1) alone, 0 <= j0 <= j1 <= D, equal bit for bit to those of apply: Z holds j1 - j0
 * columns. context may be NULL. */
MERCER_API mercer_status mercer_map_apply_columns_f32(const mercer_map* map, int64_t j0, int64_t j1,
                                                      int64_t n, const float* X, int64_t ldx,
                                                      mercer_context* context, float* Z,
                                                      int64_t ldz);
MERCER_API mercer_status mercer_map_apply_columns_f64(const mercer_map* map, int64_t j0, int64_t j1,
                                                      int64_t n, const double* X, int64_t ldx,
                                                      mercer_context* context, double* Z,
                                                      int64_t ldz);
MERCER_API mercer_status mercer_map_apply_columns_c32(const mercer_map* map, int64_t j0, int64_t j1,
                                                      int64_t n, const float* X, int64_t ldx,
                                                      mercer_context* context, float* Z,
                                                      int64_t ldz);
MERCER_API mercer_status mercer_map_apply_columns_c64(const mercer_map* map, int64_t j0, int64_t j1,
                                                      int64_t n, const double* X, int64_t ldx,
                                                      mercer_context* context, double* Z,
                                                      int64_t ldz);

/** Sparse rows (CSR) for any map: row i of X holds values[p] in column indices[p] for p in
 * [offsets[i], offsets[i+1]), in any order; a column named twice counts as the sum, a column not
 * named is 0. offsets: n + 1 ascending numbers in [0, nnz], not necessarily from 0 to nnz, so that
 * offsets + i are the rows from i on; indices (in [0, d)) and values: nnz each. csr32 reads int32_t
 * offsets and indices, csr64 int64_t; neither is copied. Everything is checked before any work. Z,
 * ldz, the functions' letters and errors are those of mercer_map_apply; further errors:
 * MERCER_INVALID_ARGUMENT naming row, position and value (offsets that descend or leave [0, nnz],
 * indices outside [0, d)). context may be NULL. Z is that of the dense rows to rounding: sums of
 * products of an x_k and a weight w_kj in another order, so P = XW differs by at most (m + d + 2) u
 * sum_k |x_k w_kj|, m numbers listed in the row, u = 2^-24 or 2^-53. A row of Z is a function of
 * its row as listed and of the map, bit for bit, whatever the number of threads and the split of
 * the rows; NaN and Inf stay in their row. Cost: nnz*F (Fourier maps with DENSE, ORTHOGONAL, SOBOL,
 * HALTON or supplied frequencies; GAUSSIAN, RADEMACHER), nnz (COUNTSKETCH), n D log d + nnz (SRHT);
 * sketches of polynomial kernels as mercer/sketch.h says; any other map, and a kernel that warps
 * its inputs, works on tiles of rows made dense, at the cost of mercer_map_apply. The first pays up
 * to about a quarter of non-zeros: denser rows are faster as dense ones. */
MERCER_API mercer_status mercer_map_apply_csr32_f32(const mercer_map* map, int64_t n, int64_t nnz,
                                                    const int32_t* offsets, const int32_t* indices,
                                                    const float* values, mercer_context* context,
                                                    float* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_csr32_f64(const mercer_map* map, int64_t n, int64_t nnz,
                                                    const int32_t* offsets, const int32_t* indices,
                                                    const double* values, mercer_context* context,
                                                    double* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_csr64_f32(const mercer_map* map, int64_t n, int64_t nnz,
                                                    const int64_t* offsets, const int64_t* indices,
                                                    const float* values, mercer_context* context,
                                                    float* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_csr64_f64(const mercer_map* map, int64_t n, int64_t nnz,
                                                    const int64_t* offsets, const int64_t* indices,
                                                    const double* values, mercer_context* context,
                                                    double* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_csr32_c32(const mercer_map* map, int64_t n, int64_t nnz,
                                                    const int32_t* offsets, const int32_t* indices,
                                                    const float* values, mercer_context* context,
                                                    float* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_csr32_c64(const mercer_map* map, int64_t n, int64_t nnz,
                                                    const int32_t* offsets, const int32_t* indices,
                                                    const double* values, mercer_context* context,
                                                    double* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_csr64_c32(const mercer_map* map, int64_t n, int64_t nnz,
                                                    const int64_t* offsets, const int64_t* indices,
                                                    const float* values, mercer_context* context,
                                                    float* Z, int64_t ldz);
MERCER_API mercer_status mercer_map_apply_csr64_c64(const mercer_map* map, int64_t n, int64_t nnz,
                                                    const int64_t* offsets, const int64_t* indices,
                                                    const double* values, mercer_context* context,
                                                    double* Z, int64_t ldz);

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

/** variance[i] of the real estimate of k(x_i, y_i), i = 0..n-1, for i.i.d. columns: (V + PV)/2 for
 * complex maps. pseudo_variance: E(k^ - k)^2 of the complex estimate (real maps: the variance).
 * Structured and low-discrepancy frequencies are not independent: the value is then a yardstick,
 * not the variance. Of linear maps and sketches it is the variance itself. Measured ratios to it:
 * orthogonal, sorf, sobol and halton (d <= 8) at or below 1 (sorf up to 1.2 at d = 1), fastfood up
 * to 2, circulant up to 1.15. Errors: MERCER_UNSUPPORTED (no closed form: supplied frequencies,
 * circulant with a kernel that is not isotropic). */
MERCER_API mercer_status mercer_map_variance_f64(const mercer_map* map, int64_t n, const double* X,
                                                 int64_t ldx, const double* Y, int64_t ldy,
                                                 double* variance);
MERCER_API mercer_status mercer_map_pseudo_variance_f64(const mercer_map* map, int64_t n,
                                                        const double* X, int64_t ldx,
                                                        const double* Y, int64_t ldy,
                                                        double* variance);

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
