/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MAP_H
#define MERCER_MAP_H

/* Random feature maps: Z(i, :) = phi(X_i) with E[phi(x)'phi(y)] = k(x, y), all scale factors
 * included. For a kernel of p outputs rows i p, ..., i p + p - 1 of Z belong to X_i, and the
 * product of two such blocks has mean K(x, y). d counts inputs, D output columns (complex columns
 * for complex maps), F frequencies; d' is d padded to the next power of two, at least 16. Which map
 * suits which rows, with measurements: "Which map" in GUIDE.md. */

#include "mercer/base.h"
#include "mercer/kernel.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A map; it never changes, except that it draws its numbers on first use. */
typedef struct mercer_map mercer_map;

/* ==== Maps by spec ====
 *
 * Any map of `mercer specs` is made from JSON, and from rows where it is learnt from data. Fourier
 * features: {"map":"fourier","kernel":{...},"inputs":d,"features":D,"seed":s,...}. What each map
 * computes, its variance and its limits: "Maps by spec" in GUIDE.md.
 *
 * Example: 256 columns that approximate the inner products of 10,000 inputs.
 *
 *   mercer_map* map = NULL;
 *   mercer_status status = mercer_map_from_spec(
 *       "{\"map\":\"linear\",\"kernel\":{\"kernel\":\"polynomial\",\"degree\":1},"
 *       "\"projection\":\"countsketch\",\"inputs\":10000,\"features\":256,\"seed\":7}",
 *       &map);
 */

/** A map from its spec.
 *  Without "map" the kernel's "default_map" of mercer_specs is made.
 *  Random: everything the map draws; "seed" fixes it.
 *  Errors: MERCER_INVALID_ARGUMENT naming key, value and what is allowed; those of the map it
 *  makes; MERCER_NEWER_VERSION.
 *  Cost: under 10 ms and 1 MB for any D, per part of a sum or
 *  product, as numbers are drawn on first use or by mercer_map_prepare. */
MERCER_API mercer_status mercer_map_from_spec(const char* json, mercer_map** out);

/** Data of a map that JSON cannot carry; absent fields are zero. 376 bytes. */
typedef struct mercer_map_data {
  uint32_t struct_size;        /**< [0] sizeof(mercer_map_data). */
  int32_t roots_are_squares;   /**< [4] 1: roots are A_j = B_j B_j', q = p, and factored; else 0. */
  const mercer_kernel* kernel; /**< [8] In place of "kernel"; copied. */
  mercer_rows X;               /**< [16] n x d training rows for a map that learns from rows. */
  mercer_rows Y;               /**< [88] n rows of targets for a map that learns from them. */
  mercer_rows frequencies;     /**< [160] F x d for fourier, in place of drawn ones. */
  mercer_rows weights;         /**< [232] F x 1 frequency weights >= 0; absent: 1/F each. */
  mercer_rows roots;           /**< [304] (F p) x q: rows j p to j p + p - 1 are B_j. */
} mercer_map_data;

/** A map from its spec and data. Files keep landmarks and everything else learnt from rows; the
 *  spec of such a map says "needs":"data". A fit makes the map of its spec itself, from prepared
 *  rows. Frequencies give features whose inner products are k(0) sum_j w_j cos(omega_j'(x - y)),
 *  with roots each term times B_j B_j': only k(0) is used of the kernel; "map", "inputs" and
 *  "features" may be left out.
 *  Random: which rows are landmarks; fixed by "seed" for any number of threads.
 *  Errors: those of mercer_map_from_spec; MERCER_INVALID_ARGUMENT (fewer rows than features, a
 *  number that is not finite or outside the kernel's domain, by row and column),
 *  MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (Y for a map that does not learn from it, or no Y
 *  for one that does; frequencies for a map other than fourier or a projection other than dense;
 *  roots for a form other than pair), MERCER_NOT_CONVERGED, MERCER_NOT_POSITIVE_DEFINITE.
 *  Cost: for nystroem D^2 (d + D) and 24 D^2 bytes; a row of Z then takes D (d + D/2). */
MERCER_API mercer_status mercer_map_fit(const char* json, const mercer_map_data* data,
                                        mercer_context* context, mercer_map** out);

/** The spec of a map, in canonical form; it gives the same map again, to the bit, except for
 *  supplied frequencies and whatever was learnt from rows, which only files keep.
 *  Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_map_spec(const mercer_map* map, char* buffer, int64_t capacity,
                                         int64_t* needed);

/** What a map reads and writes. 64 bytes. */
typedef struct mercer_map_info {
  uint32_t struct_size;     /**< [0] sizeof(mercer_map_info). */
  int32_t is_complex;       /**< [4] 1: Z is complex. */
  int64_t inputs;           /**< [8] d. */
  int64_t outputs;          /**< [16] p, rows of Z for each row of X; 1 for most maps. */
  int64_t features;         /**< [24] D, columns of Z, complex for a complex map. */
  int64_t frequencies;      /**< [32] F of mercer_map_frequencies; 0: none. */
  int64_t right_inputs;     /**< [40] Inputs, among d, from mercer_transform_options.right. */
  int64_t incomplete_block; /**< [48] Columns in a last, incomplete block; 0: none. */
  double dropped;           /**< [56] Share of gamma's trace that "cutoff" dropped. */
} mercer_map_info;

/** Fills in *info, reading only its struct_size. An incomplete block of a structured projection can
 *  make the estimate worse than leaving that block out: "Features of rows" in GUIDE.md.
 *  Errors: info NULL, or its struct_size not set. */
MERCER_API mercer_status mercer_map_shape(const mercer_map* map, mercer_map_info* info);

/** The frequencies omega_j of Fourier features, in the order of their columns: out F x d, F32 or
 *  F64. Errors: MERCER_UNSUPPORTED for a map that has none, or whose kernel warps its inputs;
 *  MERCER_DIMENSION_MISMATCH. Cost: d rows of the projection. */
MERCER_API mercer_status mercer_map_frequencies(const mercer_map* map, mercer_context* context,
                                                mercer_matrix out);

/** A new handle on the kernel that the map's features estimate, with the map's lengthscale and
 *  variance; it may outlive the map. */
MERCER_API mercer_status mercer_map_kernel(const mercer_map* map, mercer_kernel** out);

/** Frees a map. Models made from it keep what they need. */
MERCER_API void mercer_map_free(mercer_map* map);

/** All kernels, maps, projections and models, and the keys of a fit, as JSON:
 *  {"kernels":[{"name","help","parameters":[{"key","type","required","default","least",
 *  "least_open","most","most_open","choices","expected","help"}]}],
 *  "maps","projections","models","fits","outputs","selections","bounds"}, all lists of the same
 *  form; null: no default, no limit; "expected" describes the allowed values in words. Kernels have
 *  "default_map"; maps have "default_kernel" (for searches whose spec names none), "needs_rows"
 *  (made by mercer_map_fit), "row_per_feature" (needs as many rows as features), "one_size" (inputs
 *  decide D) and "features_step" (D is a multiple of it with every other key at its default; null
 *  where inputs or parts decide); projections describe in words which spectral distributions each
 *  "serves". name NULL or "" gives everything, otherwise only entries of that name.
 *  Errors: no such name; convention 9 of mercer/base.h. Any number of threads at once. */
MERCER_API mercer_status mercer_specs(const char* name, char* buffer, int64_t capacity,
                                      int64_t* needed);

/* ==== Features of rows ====
 *
 * Example: columns 100 to 199 of the features of n rows of d floats.
 *
 *   mercer_rows X = mercer_rows_f32(n, d, x);
 *   mercer_matrix Z = mercer_matrix_f32(n, 100, z);
 *   mercer_transform_options options = {.struct_size = sizeof options};
 *   options.begin = 100;
 *   options.end = 200;
 *   mercer_status status = mercer_map_transform(map, X, &options, NULL, Z);
 */

/** Which features of which rows; zeros are the defaults, except struct_size. 104 bytes. */
typedef struct mercer_transform_options {
  uint32_t struct_size; /**< [0] sizeof(mercer_transform_options). */
  int32_t reserved;     /**< [4] 0. */
  int64_t begin;        /**< [8] First column. */
  int64_t end;          /**< [16] One past the last column; 0: D. */
  int64_t locations;    /**< [24] With `right`: rows that are summed into one; 0: 1. */
  mercer_rows right;    /**< [32] The second of two matrices, for a map with right_inputs > 0. */
} mercer_transform_options;

/** Z(i, :) = columns [begin, end) of phi(X_i). With `right`, rows are [x | y], x from X and y from
 *  `right`, and Z(i, :) sums the features of rows i*locations + l, 0 <= l < locations: compact
 *  bilinear pooling (mercer/sketch.h). Rounding: "Features of rows" in GUIDE.md.
 *  Shapes: X n x d, dense or CSR; Z (n p) x (end - begin) of X's precision, complex for a complex
 *  map; with `right` X has d - right_inputs columns, both dense. options may be NULL.
 *  NaN and Inf stay in their row.
 *  Errors: MERCER_INVALID_ARGUMENT (rows that mercer/rows.h does not allow, by row and position;
 *  columns out of range; overlap), MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (a type of Z that
 *  the map does not write; `right` for a map of one matrix, or sparse).
 *  Cost: dense rows O(n d F) at most, sparse rows by their stored
 *  non-zeros where the projection can ("Features of rows"), else in tiles made dense. */
MERCER_API mercer_status mercer_map_transform(const mercer_map* map, mercer_rows X,
                                              const mercer_transform_options* options,
                                              mercer_context* context, mercer_matrix Z);

/** All columns for dense rows of a real map, without views: for foreign-function interfaces.
 *  mercer_map_transform covers every other case.
 *  Shapes: X n x d, ldx >= d; Z (n p) x D, ldz >= D. */
MERCER_API mercer_status mercer_map_apply_f32(const mercer_map* map, int64_t n, const float* X,
                                              int64_t ldx, mercer_context* context, float* Z,
                                              int64_t ldz);
MERCER_API mercer_status mercer_map_apply_f64(const mercer_map* map, int64_t n, const double* X,
                                              int64_t ldx, mercer_context* context, double* Z,
                                              int64_t ldz);

/** All columns as CSR, of a map whose rows have few non-zeros (random_binning): offsets n + 1, the
 *  others `capacity` numbers; needed: the non-zeros, sizes as in convention 9 of mercer/base.h.
 *  Shapes: X n x d, dense or CSR. Errors: MERCER_UNSUPPORTED for other maps. */
MERCER_API mercer_status mercer_map_transform_csr(const mercer_map* map, mercer_rows X,
                                                  mercer_context* context, int64_t* offsets,
                                                  int64_t* indices, double* values,
                                                  int64_t capacity, int64_t* needed);

/* ==== Products with features ====
 *
 * Phi(x), D x p, has the rows of Z for x as its columns. Coefficients theta define the function
 * f(x) = Phi(x)'theta; the transpose maps values to coefficients. Neither forms Z.
 *
 * Example: a random divergence-free field at n rows, and its divergence, which is 0 to rounding;
 * then the transpose applied to the field.
 *
 *   mercer_map* map = NULL;
 *   mercer_status status = mercer_map_from_spec(
 *       "{\"map\":\"fourier\",\"kernel\":{\"kernel\":\"divergence_free\"},"
 *       "\"inputs\":3,\"features\":120,\"seed\":1}",
 *       &map);
 *   mercer_rows X = mercer_rows_f64(n, 3, x);
 *   mercer_rows coefficients = mercer_rows_f64(120, 1, theta);
 *   mercer_matrix f = mercer_matrix_f64(n, 3, field);
 *   mercer_matrix sources = mercer_matrix_f64(n, 1, divergence);
 *   if (status == MERCER_OK)
 *     status = mercer_map_multiply(map, X, coefficients, MERCER_FIELD_VALUE, NULL, f);
 *   if (status == MERCER_OK)
 *     status =
 *         mercer_map_multiply(map, X, coefficients, MERCER_FIELD_DIVERGENCE, NULL, sources);
 *   mercer_rows Y = mercer_rows_f64(n, 3, field);
 *   mercer_matrix back = mercer_matrix_f64(120, 1, sums);
 *   if (status == MERCER_OK) status = mercer_map_adjoint(map, X, Y, NULL, back);
 *   mercer_map_free(map);
 */

/** Which quantity of a field f(x) = Phi(x)'theta, from analytic derivatives of its features. All
 *  but VALUE and JACOBIAN need p = d. */
typedef enum mercer_field {
  /** p numbers. */
  MERCER_FIELD_VALUE = 0,
  /** d f_o/d x_l at o d + l: p d numbers. */
  MERCER_FIELD_JACOBIAN = 1,
  /** sum_o d f_o/d x_o: one number; 0 to rounding for a divergence-free field. */
  MERCER_FIELD_DIVERGENCE = 2,
  /** d = 2: d_1 f_2 - d_2 f_1; d = 3: the vector; else d_k f_l - d_l f_k for k < l, row by row. */
  MERCER_FIELD_CURL = 3,
  /** phi with grad phi the curl-free part of f, with mean 0 over all space: one number. */
  MERCER_FIELD_POTENTIAL = 4,
  /** d = 2: psi with (d_2 psi, -d_1 psi) the divergence-free part of f: one number. */
  MERCER_FIELD_STREAM = 5
} mercer_field;

/** Row i of out: the numbers of `kind` (mercer_field) at X_i for f_k = Phi(.)'theta_k, one column
 *  theta_k of theta after the other.
 *  Shapes: X n x d, dense or CSR, F32 or F64; theta D x m, any of these; out n x (m numbers), of
 *  the number type of X. A row of out depends on its row of X alone, bit for bit.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED for complex maps, for a kind that p and d
 *  do not allow, and for kinds other than VALUE with maps that are neither exact nor fourier of
 *  form pair, or whose kernel warps its inputs or lacks derivatives.
 *  Cost: with D columns of the scalar map D d + D p m a row, VALUE
 *  of decomposable D d + (D + p) q m, and D p q m once; memory: 2 MB of features, D p m numbers. */
MERCER_API mercer_status mercer_map_multiply(const mercer_map* map, mercer_rows X,
                                             mercer_rows theta, int32_t kind,
                                             mercer_context* context, mercer_matrix out);

/** The transpose: theta = sum_i Phi(X_i) Y_i, column k of theta for vector k of the rows of Y.
 *  Shapes: X n x d, dense or CSR, F32 or F64; Y n x (p m), dense, of the number type of X; theta D
 *  x m, F32 or F64. Up to 64 rows are summed in the precision of X, these sums in double,
 *  whatever the threads.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED for complex maps, a sparse Y or one of
 *  another number type.
 *  Threads and cost: as for mercer_map_multiply. */
MERCER_API mercer_status mercer_map_adjoint(const mercer_map* map, mercer_rows X, mercer_rows Y,
                                            mercer_context* context, mercer_matrix theta);

/** Draws and packs the projection for one number type, F32 or F64, ahead of the first use. A call
 *  that failed or was cancelled may be repeated; if everything is drawn it does nothing.
 *  Random: what the map draws, fixed by its seed.
 *  Cost: d F numbers for projections kept as a matrix. */
MERCER_API mercer_status mercer_map_prepare(const mercer_map* map, int32_t number,
                                            mercer_context* context);

#ifdef __cplusplus
}
#endif
#endif
