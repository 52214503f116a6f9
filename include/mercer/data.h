/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_DATA_H
#define MERCER_DATA_H

/* What is learnt from: rows in memory, rows that a callback hands over, or sets of values and
 * derivatives. n counts rows, d inputs, m targets, D features, K classes. */

#include "mercer/map.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Rows that are not in memory ====
 *
 * Example: a fit on what two callbacks of the caller's read from `file`.
 *
 *   mercer_row_source source = {sizeof source, 0, d, 1, rewind_rows, next_rows, file, NULL};
 *   mercer_data data = {.struct_size = sizeof data, .source = &source, .map = map};
 *   mercer_model* model = NULL;
 *   mercer_status status = mercer_model_fit("{}", &data, NULL, &model);
 *
 * Several processes share the rows where the source has a `sum`: each fits with the same map and
 * spec and a source of its own rows (none in some of them, where no rows are held out), and gets
 * the same model, which is that of all rows to rounding; the same bits where their BLAS rounds
 * alike. "held_out" and "folds" hold out rows of every process, by seed and the process's own row
 * numbers, so other rows than of one. The D x D system is solved even of fewer rows than D.
 * Which sums come when: "Rows of several processes" in capi/GUIDE.md.
 */

/** Begins again at the first row. 0: done; else the call ends with MERCER_IO. */
typedef int32_t (*mercer_source_rewind)(void* user);
/** Describes the next rows: X (n x d) and Y (n x m, or n x (m + 1) where weighted), each dense or
 *  CSR (Y is made dense), whose arrays stay valid and unchanged until the next call; both are
 *  handed over as valid, empty views. X->n = 0: the end. 0: done; else the call ends with
 *  MERCER_IO. Some thousand rows at a time suit it best. */
typedef int32_t (*mercer_source_next)(void* user, mercer_rows* X, mercer_rows* Y);
/** numbers[i] must become its sum over the processes, the same bits in each of them (MPI_Allreduce
 *  with MPI_IN_PLACE, MPI_DOUBLE and MPI_SUM). 0: done; else the call ends with MERCER_IO. */
typedef int32_t (*mercer_source_sum)(void* user, int64_t n, double* numbers);

/** Rows handed over block by block, as often as a fit reads them. 56 bytes on 64-bit machines. The
 *  callbacks are called on the calling thread and must not unwind nor use the context of the call.
 */
typedef struct mercer_row_source {
  uint32_t struct_size;
  /** 1: Y has one more column than targets, the last, which holds the weights of the rows
   *  (mercer_data.weights); the same in all processes. 0: each weighs 1. */
  int32_t weighted;
  /** Inputs of a row. */
  int64_t d;
  /** Targets of a row. */
  int64_t m;
  mercer_source_rewind rewind;
  mercer_source_next next;
  /** First argument of the callbacks. */
  void* user;
  /** NULL: this process has all rows. Else several processes share them, as said above. */
  mercer_source_sum sum;
} mercer_row_source;

/** What is known of one partial derivative of a function f of d inputs and m outputs: Y(i, :) =
 *  d^p f(X_i) + noise. 176 bytes on 64-bit machines. */
typedef struct mercer_observations {
  uint32_t struct_size;      /**< [0] sizeof(mercer_observations). */
  int32_t reserved;          /**< [4] 0. */
  double weight;             /**< [8] w > 0 of every row, such as 1/variance of the noise. */
  const int32_t* partial;    /**< [16] p: d orders >= 0, |p| <= 32; NULL: values. */
  mercer_rows X;             /**< [24] rows x d, dense or CSR (made dense). */
  mercer_rows Y;             /**< [96] rows x m. */
  const double* row_weights; /**< [168] a number >= 0 for each row; NULL: 1 each. */
} mercer_observations;

/** Observations without weights of rows. */
static inline mercer_observations mercer_observations_of(const int32_t* partial, double weight,
                                                         mercer_rows X, mercer_rows Y) {
  mercer_observations set;
  set.struct_size = sizeof set;
  set.reserved = 0;
  set.weight = weight;
  set.partial = partial;
  set.X = X;
  set.Y = Y;
  set.row_weights = 0;
  return set;
}

/** One of X with Y, source and sets; what is absent is zero. 264 bytes on 64-bit machines. */
typedef struct mercer_data {
  uint32_t struct_size; /**< [0] sizeof(mercer_data). */
  int32_t reserved;     /**< [4] 0. */
  mercer_rows X;        /**< [8] n x d, n >= 2, dense or CSR, F32 or F64. */
  mercer_rows Y;        /**< [80] n x m, any rows; of classes one column of numbers 0..K-1. */
  /** [152] Of the rows of X: n numbers >= 0, not all 0, of a finite sum; NULL: 1 each. Only their
   *  ratios count: they are first divided by their mean over the rows above 0, which n lambda, GCV
   *  and calibration take for numbers of rows; weights times a power of two give the same bits. A
   *  row of weight 2 beside others of 1 is two equal rows in means, quantiles, sums, losses and
   *  scores, but one where rows are left or held out or counted. A search leaves rows of weight 0
   *  out; another fit does not learn from them, but they take their places in folds. */
  const double* weights;
  const mercer_row_source* source; /**< [160] Rows that are not in memory. */
  const mercer_observations* sets; /**< [168] set_count of them, one after the other. */
  int64_t set_count;               /**< [176] */
  /** [184] The features of the fit, in place of "map" of its spec; of sets it must be there. It is
   *  shared, not copied, and may be freed. Its inputs are the prepared ones. */
  const mercer_map* map;
  /** [192] Of the rows of X: n x 1 numbers, rows of one number being of one group: a person, a
   *  place, a batch. Rows of a group are never on both sides of a split: what chooses, calibrates
   *  and scores are groups that the fit has not seen. Finite numbers, two of them different at
   *  least; with X alone, and not with "ordered". */
  mercer_rows groups;
} mercer_data;

/** Rows in memory without weights or groups. */
static inline mercer_data mercer_data_of(mercer_rows X, mercer_rows Y) {
  mercer_data data = {sizeof(mercer_data),
                      0,
                      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                      0,
                      0,
                      0,
                      0,
                      0,
                      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
  data.X = X;
  data.Y = Y;
  return data;
}

#ifdef __cplusplus
}
#endif
#endif
