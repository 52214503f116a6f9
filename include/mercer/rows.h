/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_ROWS_H
#define MERCER_ROWS_H

/* Rows and results as views of the caller's memory: dense or sparse rows in, matrices out. Everything
 * that reads rows takes a mercer_rows, everything that writes a matrix a mercer_matrix, so that a new
 * kind of input never adds a function.
 *
 *   mercer_rows X = mercer_rows_f32(n, d, x);
 *   mercer_matrix Z = mercer_matrix_f32(n, D, z);
 *   mercer_map_transform(map, &X, NULL, NULL, &Z);
 *
 * For foreign-function interfaces both structs are plain: no padding, no pointers into each other,
 * fields in the order and of the sizes written here (bytes from the start in brackets). A view is
 * read during the call and not kept. */

#include "mercer/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the numbers of a view are. */
typedef enum mercer_number {
  MERCER_NUMBER_F32 = 0, /**< float. */
  MERCER_NUMBER_F64 = 1, /**< double. */
  MERCER_NUMBER_C32 = 2, /**< Pairs of float: re, im. Results only. */
  MERCER_NUMBER_C64 = 3  /**< Pairs of double: re, im. Results only. */
} mercer_number;

/** How rows are stored. */
typedef enum mercer_index {
  MERCER_INDEX_NONE = 0, /**< Dense: element (i, j) is values[i*ld + j]. */
  MERCER_INDEX_I32 = 1,  /**< CSR with int32_t offsets and indices. */
  MERCER_INDEX_I64 = 2   /**< CSR with int64_t offsets and indices. */
} mercer_index;

/** n rows of d numbers.
 *  Dense: values holds n*ld numbers, ld >= d; nnz, offsets and indices are not read.
 *  CSR: row i holds values[p] in column indices[p] for p in [offsets[i], offsets[i+1]), in any order;
 *  a column named twice counts as the sum, a column not named is 0. offsets: n + 1 ascending numbers
 *  in [0, nnz], not necessarily from 0 to nnz, so that offsets + i are the rows from i on; indices
 *  (in [0, d)) and values: nnz each; ld is not read. Everything is checked before any work.
 *  Empty rows (n = 0) may have NULL pointers. 72 bytes on 64-bit machines. */
typedef struct mercer_rows {
  uint32_t struct_size; /**< [0] sizeof(mercer_rows). */
  int32_t number;       /**< [4] mercer_number: F32 or F64. */
  int32_t index;        /**< [8] mercer_index. */
  int32_t reserved;     /**< [12] 0. */
  int64_t n;            /**< [16] Rows. */
  int64_t d;            /**< [24] Columns. */
  int64_t ld;           /**< [32] Dense: numbers from one row to the next. */
  int64_t nnz;          /**< [40] CSR: numbers listed. */
  const void* values;   /**< [48] */
  const void* offsets;  /**< [56] */
  const void* indices;  /**< [64] */
} mercer_rows;

/** A result: element (i, j) is data[i*ld + j], ld >= cols, counted in numbers of its type (a complex
 * number counts one). Empty matrices may have NULL data. 40 bytes on 64-bit machines. */
typedef struct mercer_matrix {
  uint32_t struct_size; /**< [0] sizeof(mercer_matrix). */
  int32_t number;       /**< [4] mercer_number. */
  int64_t rows;         /**< [8] */
  int64_t cols;         /**< [16] */
  int64_t ld;           /**< [24] */
  void* data;           /**< [32] */
} mercer_matrix;

/* ---- Views in one line of C; set ld afterwards where rows have gaps ---- */

static inline mercer_rows mercer_rows_dense(int32_t number, int64_t n, int64_t d,
                                            const void* values) {
  mercer_rows rows = {sizeof(mercer_rows), number, MERCER_INDEX_NONE, 0, n, d, d, 0, 0, 0, 0};
  rows.values = values;
  return rows;
}
static inline mercer_rows mercer_rows_f32(int64_t n, int64_t d, const float* values) {
  return mercer_rows_dense(MERCER_NUMBER_F32, n, d, values);
}
static inline mercer_rows mercer_rows_f64(int64_t n, int64_t d, const double* values) {
  return mercer_rows_dense(MERCER_NUMBER_F64, n, d, values);
}
static inline mercer_rows mercer_rows_csr(int32_t number, int32_t index, int64_t n, int64_t d,
                                          int64_t nnz, const void* offsets, const void* indices,
                                          const void* values) {
  mercer_rows rows = {sizeof(mercer_rows), number, index, 0, n, d, 0, nnz, 0, 0, 0};
  rows.values = values;
  rows.offsets = offsets;
  rows.indices = indices;
  return rows;
}
static inline mercer_matrix mercer_matrix_of(int32_t number, int64_t rows, int64_t cols,
                                             void* data) {
  mercer_matrix matrix = {sizeof(mercer_matrix), number, rows, cols, cols, 0};
  matrix.data = data;
  return matrix;
}
static inline mercer_matrix mercer_matrix_f32(int64_t rows, int64_t cols, float* data) {
  return mercer_matrix_of(MERCER_NUMBER_F32, rows, cols, data);
}
static inline mercer_matrix mercer_matrix_f64(int64_t rows, int64_t cols, double* data) {
  return mercer_matrix_of(MERCER_NUMBER_F64, rows, cols, data);
}
/** data: 2*rows*cols numbers, re and im in turn. */
static inline mercer_matrix mercer_matrix_c32(int64_t rows, int64_t cols, float* data) {
  return mercer_matrix_of(MERCER_NUMBER_C32, rows, cols, data);
}
static inline mercer_matrix mercer_matrix_c64(int64_t rows, int64_t cols, double* data) {
  return mercer_matrix_of(MERCER_NUMBER_C64, rows, cols, data);
}

#ifdef __cplusplus
}
#endif
#endif
