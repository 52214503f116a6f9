/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_ROWS_H
#define MERCER_ROWS_H

/* Rows and results as views of the caller's memory: dense or sparse rows in, matrices out. A view
 * is passed by value, read during the call and not kept; a view of all zeros is absent, where a
 * comment allows that. Numbers in brackets are byte offsets into a struct; there is no padding. */

#include "mercer/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The two views ====
 *
 * Example: the two rows (1, 0, 2) and (0, 3, 0) as CSR, field by field.
 *
 *   double values[] = {1, 2, 3};
 *   int32_t offsets[] = {0, 2, 3};
 *   int32_t indices[] = {0, 2, 1};
 *   mercer_rows X = {sizeof X, MERCER_NUMBER_F64, MERCER_INDEX_I32, 0, 2, 3, 0, 3, 0, 0, 0};
 *   X.values = values;
 *   X.offsets = offsets;
 *   X.indices = indices;
 */

/** Number type of a view. */
typedef enum mercer_number {
  /** float. */
  MERCER_NUMBER_F32 = 0,
  /** double. */
  MERCER_NUMBER_F64 = 1,
  /** Pairs of float: re, im. Results only. */
  MERCER_NUMBER_C32 = 2,
  /** Pairs of double: re, im. Results only. */
  MERCER_NUMBER_C64 = 3,
  /** int32_t. Results of classes only. */
  MERCER_NUMBER_I32 = 4,
  /** bfloat16, the upper half of a float, as uint16_t. Dense rows only; read as float. */
  MERCER_NUMBER_BF16 = 5
} mercer_number;

/** How rows are stored. */
typedef enum mercer_index {
  /** Dense: element (i, j) is values[i*ld + j]. */
  MERCER_INDEX_NONE = 0,
  /** CSR with int32_t offsets and indices. */
  MERCER_INDEX_I32 = 1,
  /** CSR with int64_t offsets and indices. */
  MERCER_INDEX_I64 = 2
} mercer_index;

/** n rows of d numbers. 72 bytes on 64-bit machines.
 *  Dense: values holds n*ld numbers, ld >= d; nnz, offsets and indices are not read.
 *  CSR: row i holds values[p] in column indices[p] for p in [offsets[i], offsets[i+1]), in any
 *  order; a column named twice counts as the sum, a column not named is 0. offsets: n + 1 ascending
 *  numbers in [0, nnz], not necessarily from 0 to nnz, so that offsets + i are the rows from i on;
 *  indices (in [0, d)) and values: nnz each; ld is not read.
 *  Empty rows (n = 0) may have NULL pointers. Everything is checked before any work. */
typedef struct mercer_rows {
  uint32_t struct_size; /**< [0] sizeof(mercer_rows). */
  int32_t number;       /**< [4] mercer_number: F32, F64 or BF16. */
  int32_t index;        /**< [8] mercer_index. */
  int32_t reserved;     /**< [12] 0. */
  int64_t n;            /**< [16] Rows. */
  int64_t d;            /**< [24] Columns. */
  int64_t ld;           /**< [32] Dense: numbers from one row to the next. */
  int64_t nnz;          /**< [40] CSR: stored non-zeros. */
  const void* values;   /**< [48] */
  const void* offsets;  /**< [56] */
  const void* indices;  /**< [64] */
} mercer_rows;

/** A result: element (i, j) is data[i*ld + j], ld >= cols, counted in numbers of its type (a
 *  complex number is one). 40 bytes on 64-bit machines. Empty matrices may have NULL data. */
typedef struct mercer_matrix {
  uint32_t struct_size; /**< [0] sizeof(mercer_matrix). */
  int32_t number;       /**< [4] mercer_number. */
  int64_t rows;         /**< [8] */
  int64_t cols;         /**< [16] */
  int64_t ld;           /**< [24] */
  void* data;           /**< [32] */
} mercer_matrix;

/** Sizes of statistics, a decomposition or a fit; filled in by their _shape function, which reads
 *  struct_size. 32 bytes. */
typedef struct mercer_shape {
  uint32_t struct_size; /**< [0] sizeof(mercer_shape). */
  int32_t reserved;     /**< [4] 0. */
  int64_t rows;         /**< [8] n. */
  int64_t columns;      /**< [16] D features, or d inputs. */
  int64_t outputs;      /**< [24] m. */
} mercer_shape;

/* ==== Views in one line of C ====
 *
 * Where rows have gaps, set ld afterwards.
 *
 * Example: n rows of d floats at x, and their D features at z, whose rows are ldz numbers apart.
 *
 *   mercer_rows X = mercer_rows_f32(n, d, x);
 *   mercer_matrix Z = mercer_matrix_f32(n, D, z);
 *   Z.ld = ldz;
 *   mercer_status status = mercer_map_transform(map, X, NULL, NULL, Z);
 */

/** Dense rows of a number type, without gaps. */
static inline mercer_rows mercer_rows_dense(int32_t number, int64_t n, int64_t d,
                                            const void* values) {
  mercer_rows rows = {sizeof(mercer_rows), number, MERCER_INDEX_NONE, 0, n, d, d, 0, 0, 0, 0};
  rows.values = values;
  return rows;
}
/** Dense rows of float, without gaps. */
static inline mercer_rows mercer_rows_f32(int64_t n, int64_t d, const float* values) {
  return mercer_rows_dense(MERCER_NUMBER_F32, n, d, values);
}
/** Dense rows of double, without gaps. */
static inline mercer_rows mercer_rows_f64(int64_t n, int64_t d, const double* values) {
  return mercer_rows_dense(MERCER_NUMBER_F64, n, d, values);
}
/** Sparse rows; index: MERCER_INDEX_I32 or MERCER_INDEX_I64. */
static inline mercer_rows mercer_rows_csr(int32_t number, int32_t index, int64_t n, int64_t d,
                                          int64_t nnz, const void* offsets, const void* indices,
                                          const void* values) {
  mercer_rows rows = {sizeof(mercer_rows), number, index, 0, n, d, 0, nnz, 0, 0, 0};
  rows.values = values;
  rows.offsets = offsets;
  rows.indices = indices;
  return rows;
}
/** A result of a number type, without gaps. */
static inline mercer_matrix mercer_matrix_of(int32_t number, int64_t rows, int64_t cols,
                                             void* data) {
  mercer_matrix matrix = {sizeof(mercer_matrix), number, rows, cols, cols, 0};
  matrix.data = data;
  return matrix;
}
/** A result of float, without gaps. */
static inline mercer_matrix mercer_matrix_f32(int64_t rows, int64_t cols, float* data) {
  return mercer_matrix_of(MERCER_NUMBER_F32, rows, cols, data);
}
/** A result of double, without gaps. */
static inline mercer_matrix mercer_matrix_f64(int64_t rows, int64_t cols, double* data) {
  return mercer_matrix_of(MERCER_NUMBER_F64, rows, cols, data);
}
/** A complex result; data: 2*rows*cols floats, re and im in turn. */
static inline mercer_matrix mercer_matrix_c32(int64_t rows, int64_t cols, float* data) {
  return mercer_matrix_of(MERCER_NUMBER_C32, rows, cols, data);
}
/** A complex result; data: 2*rows*cols doubles, re and im in turn. */
static inline mercer_matrix mercer_matrix_c64(int64_t rows, int64_t cols, double* data) {
  return mercer_matrix_of(MERCER_NUMBER_C64, rows, cols, data);
}

#ifdef __cplusplus
}
#endif
#endif
