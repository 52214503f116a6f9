/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MAP_H
#define MERCER_MAP_H

/* Random feature maps: Z(i, :) = phi(X_i) with E[phi(x)'phi(y)] = k(x, y), all scale factors
 * inside; of a kernel of p outputs rows i p, ..., i p + p - 1 of Z belong to X_i, and the product
 * of two such blocks has the mean K(x, y). d counts inputs, D output columns (complex columns for
 * complex maps), F frequencies; d' is d padded to the next power of two, at least 16. Which map
 * suits which rows, with measurements: "Which map" in capi/GUIDE.md. */

#include "mercer/base.h"
#include "mercer/kernel.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A map; it never changes, but draws its numbers when they are first used. */
typedef struct mercer_map mercer_map;

/* ==== Maps by spec ====
 *
 * Any map of `mercer specs` is made from JSON, with rows where it is made from data. Fourier
 * features: {"map":"fourier","kernel":{...},"inputs":d,"features":D,"seed":s,...}. What each map
 * computes, its variance and its limits: "Maps by spec" in capi/GUIDE.md.
 *
 * Example: 256 columns that keep the inner products of 10,000 inputs.
 *
 *   mercer_map* map = NULL;
 *   mercer_status status = mercer_map_from_spec(
 *       "{\"map\":\"linear\",\"kernel\":{\"kernel\":\"polynomial\",\"degree\":1},"
 *       "\"projection\":\"countsketch\",\"inputs\":10000,\"features\":256,\"seed\":7}",
 *       &map);
 */

/** A map from its spec.
 *  Without "map" it is the kernel's "default_map" of mercer_specs.
 *  Random: all that the map draws; "seed" fixes it.
 *  Errors: MERCER_INVALID_ARGUMENT naming key, value and what is allowed; those of the map it
 *  makes; MERCER_NEWER_VERSION.
 *  Threads and cost: any number at once; under 10 ms and 1 MB whatever D, for each part of a sum or
 *  product; numbers are drawn when first used, or prepared. */
MERCER_API mercer_status mercer_map_from_spec(const char* json, mercer_map** out);

/** What JSON cannot carry of a map: zeros where absent. 376 bytes on 64-bit machines. */
typedef struct mercer_map_data {
  uint32_t struct_size;        /**< [0] sizeof(mercer_map_data). */
  int32_t reserved;            /**< [4] 0. */
  const mercer_kernel* kernel; /**< [8] In place of "kernel"; copied. */
  mercer_rows X;           /**< [16] n x d: of a map made from rows, as it will be given them. */
  mercer_rows Y;           /**< [88] n rows of targets, of a map that learns from them. */
  mercer_rows frequencies; /**< [160] F x d: of fourier, in place of drawn ones. */
  mercer_rows weights;     /**< [232] F x 1 numbers >= 0 of these; zeros: 1/F each. */
  mercer_rows roots;       /**< [304] (F p) x q: rows j p to j p + p - 1 are B_j. */
} mercer_map_data;

/** A map from its spec and data. Landmarks and what else a map learns from rows are in files; its
 *  spec then says "needs":"data". A fit makes the map of its spec itself, from rows prepared.
 *  Frequencies estimate k(0) sum_j w_j cos(omega_j'(x - y)), with roots that times B_j B_j': of the
 *  kernel k(0) alone is used, "map", "inputs" and "features" may be left out.
 *  Random: which rows are landmarks, by "seed", for any number of threads.
 *  Errors: those of mercer_map_from_spec; MERCER_INVALID_ARGUMENT (fewer rows than features, a
 *  number that is not finite or outside the kernel's domain, by row and column),
 *  MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (Y of a map that does not learn from it or no Y of
 *  one that does; frequencies of another map or projection than dense, roots but with form pair),
 *  MERCER_NOT_CONVERGED, MERCER_NOT_POSITIVE_DEFINITE.
 *  Cost: of nystroem D^2 (d + D) and 24 D^2 bytes; a row of Z then takes D (d + D/2). */
MERCER_API mercer_status mercer_map_fit(const char* json, const mercer_map_data* data,
                                        mercer_context* context, mercer_map** out);

/** The spec of a map, in canonical form: from it comes the same map, to the bit (but supplied
 *  frequencies and what a map has learnt from rows, which are kept in files only).
 *  Errors: convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_map_spec(const mercer_map* map, char* buffer, int64_t capacity,
                                         int64_t* needed);

/** What a map reads and writes. 64 bytes. */
typedef struct mercer_map_info {
  uint32_t struct_size;     /**< [0] sizeof(mercer_map_info). */
  int32_t is_complex;       /**< [4] 1: Z is of complex numbers. */
  int64_t inputs;           /**< [8] d. */
  int64_t outputs;          /**< [16] p, rows of Z for each row of X; 1 of most maps. */
  int64_t features;         /**< [24] D, columns of Z, complex ones of a complex map. */
  int64_t frequencies;      /**< [32] F of mercer_map_frequencies; 0: it has none. */
  int64_t right_inputs;     /**< [40] Of the d inputs those of mercer_transform_options.right. */
  int64_t incomplete_block; /**< [48] Columns in a last, incomplete block; 0: none. */
  double dropped;           /**< [56] What "cutoff" left out of gamma, of its trace: a share. */
} mercer_map_info;

/** Fills in *info, of which struct_size is read. An incomplete block of a structured projection can
 *  make the estimate worse than leaving it out: "Features of rows" in capi/GUIDE.md.
 *  Errors: info NULL or of a struct_size that is not set. */
MERCER_API mercer_status mercer_map_shape(const mercer_map* map, mercer_map_info* info);

/** The frequencies omega_j of Fourier features, in the order of their columns: out F x d, F32 or
 *  F64. Errors: MERCER_UNSUPPORTED for a map that has none, or whose kernel warps its inputs;
 *  MERCER_DIMENSION_MISMATCH. Threads and cost: any number at once; d rows of the projection. */
MERCER_API mercer_status mercer_map_frequencies(const mercer_map* map, mercer_context* context,
                                                mercer_matrix out);

/** A new handle on the kernel that the map's features estimate, lengthscale and variance as the map
 *  has them; it may outlive the map. */
MERCER_API mercer_status mercer_map_kernel(const mercer_map* map, mercer_kernel** out);

/** Frees a map. Models made of it keep what they need. */
MERCER_API void mercer_map_free(mercer_map* map);

/** Everything that exists and what a fit reads, as JSON: {"kernels":[{"name","help","parameters":
 *  [{"key","type","required","default","least","least_open","most","choices","expected","help"}]}],
 *  "maps","projections","models","fits","outputs","selections","bounds"}, lists of the same kind;
 *  null: no default, no limit; "expected" says in words what is allowed. Kernels have
 *  "default_map"; maps "default_kernel", of searches whose spec has none, "needs_rows" (made by
 *  mercer_map_fit), "row_per_feature" (no fewer rows than features), "one_size" (inputs decide D)
 *  and "features_step", what D is a multiple of with every other key at its default, null where
 *  inputs or parts decide; projections say in words which spectral laws each "serves". name NULL or
 *  "": all; else the same lists with what has that name.
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

/** Which features, of which rows: zeros but struct_size are the defaults. 104 bytes. */
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
 *  bilinear pooling (mercer/sketch.h). Bits and rounding: "Features of rows" in capi/GUIDE.md.
 *  Shapes: X n x d, dense or CSR; Z (n p) x (end - begin) of X's precision, complex for a complex
 *  map; with `right` X has d - right_inputs columns, both dense. options may be NULL.
 *  Random: what the map draws on first use, fixed by its seed. NaN and Inf stay in their row.
 *  Errors: MERCER_INVALID_ARGUMENT (rows that mercer/rows.h does not allow, by row and position;
 *  columns out of range; overlap), MERCER_DIMENSION_MISMATCH, MERCER_UNSUPPORTED (a type of Z that
 *  the map does not write; `right` for a map of one matrix, or sparse).
 *  Threads and cost: any number at once; dense rows O(n d F) at most, sparse ones by what they
 *  list where the projection can ("Features of rows"), else as tiles made dense. */
MERCER_API mercer_status mercer_map_transform(const mercer_map* map, mercer_rows X,
                                              const mercer_transform_options* options,
                                              mercer_context* context, mercer_matrix Z);

/** All columns of dense rows of a real map, without views: for foreign-function interfaces.
 *  Otherwise mercer_map_transform, which complex maps need.
 *  Shapes: X n x d, ldx >= d; Z (n p) x D, ldz >= D. */
MERCER_API mercer_status mercer_map_apply_f32(const mercer_map* map, int64_t n, const float* X,
                                              int64_t ldx, mercer_context* context, float* Z,
                                              int64_t ldz);
MERCER_API mercer_status mercer_map_apply_f64(const mercer_map* map, int64_t n, const double* X,
                                              int64_t ldx, mercer_context* context, double* Z,
                                              int64_t ldz);

/* ==== Products with features ====
 *
 * Phi(x), D x p, has the rows of Z of x as its columns. With coefficients theta it makes the
 * function f(x) = Phi(x)'theta; its transpose makes theta of data. Neither forms Z.
 *
 * Example: a random divergence-free field at n rows, and its divergence, which is 0 to rounding;
 * then what the transpose makes of the field.
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

/** What is asked of a field f(x) = Phi(x)'theta, from the analytic derivatives of its features. All
 *  but VALUE and JACOBIAN need p = d. */
typedef enum mercer_field {
  /** p numbers. */
  MERCER_FIELD_VALUE = 0,
  /** d f_o/d x_l at o d + l: p d numbers. */
  MERCER_FIELD_JACOBIAN = 1,
  /** sum_o d f_o/d x_o: one number; of a divergence-free field 0 to rounding. */
  MERCER_FIELD_DIVERGENCE = 2,
  /** d = 2: d_1 f_2 - d_2 f_1; d = 3: the vector; else d_k f_l - d_l f_k for k < l, row by row. */
  MERCER_FIELD_CURL = 3,
  /** phi with grad phi the curl-free part of f, of mean 0 over all space: one number. */
  MERCER_FIELD_POTENTIAL = 4,
  /** d = 2: psi with (d_2 psi, -d_1 psi) the divergence-free part of f: one number. */
  MERCER_FIELD_STREAM = 5
} mercer_field;

/** out row i: the numbers of `kind` (mercer_field) of f_k = Phi(.)'theta_k at X_i, for each column
 *  theta_k of theta, one after the other.
 *  Shapes: X n x d, dense or CSR, F32 or F64; theta D x m, any of these; out n x (m numbers), of
 *  the number type of X. A row of out depends on its row of X alone, bit for bit, whatever the
 *  split of rows and the number of threads; NaN stays in its row.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED for complex maps, for what p and d do not
 *  have, and for other kinds than VALUE of maps that are not fourier of form pair or whose kernel
 *  warps its inputs.
 *  Threads and cost: any number at once; of D columns of a map of one output D d + D p m a row,
 *  VALUE of decomposable D d + (D + p) q m, and D p q m once; memory: 2 MB of features, D p m
 *  numbers. */
MERCER_API mercer_status mercer_map_multiply(const mercer_map* map, mercer_rows X,
                                             mercer_rows theta, int32_t kind,
                                             mercer_context* context, mercer_matrix out);

/** The transpose: theta = sum_i Phi(X_i) Y_i, column k of theta for vector k of the rows of Y.
 *  Shapes: X n x d, dense or CSR, F32 or F64; Y n x (p m), dense, of the number type of X; theta
 *  D x m, F32 or F64. Sums of up to 64 rows are in the precision of X, these added in double, in an
 *  order that the number of threads does not change.
 *  Errors: MERCER_DIMENSION_MISMATCH; MERCER_UNSUPPORTED for complex maps, a sparse Y or one of
 *  another number type.
 *  Threads and cost: as for mercer_map_multiply. */
MERCER_API mercer_status mercer_map_adjoint(const mercer_map* map, mercer_rows X, mercer_rows Y,
                                            mercer_context* context, mercer_matrix theta);

/** Draws and packs the projection for one number, F32 or F64, ahead of the first use. A
 *  call that failed or was cancelled may be repeated; one that finds all drawn does nothing.
 *  Random: what the map draws, fixed by its seed.
 *  Threads and cost: any number at once; d*F numbers for projections kept as a matrix. */
MERCER_API mercer_status mercer_map_prepare(const mercer_map* map, int32_t number,
                                            mercer_context* context);

#ifdef __cplusplus
}
#endif
#endif
