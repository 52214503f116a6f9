/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_DATA_H
#define MERCER_DATA_H

/* What a fit learns from: rows in memory or of a callback, or sets of values and
 * derivatives. n counts rows, d inputs, m targets, D features, K classes. */

#include "mercer/map.h"
#include "mercer/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Rows that are not in memory ====
 *
 * Example: a fit on rows that two callbacks of the caller read from `file`.
 *
 *   mercer_row_source source = {.struct_size = sizeof source, .d = d, .m = 1, .rewind = rewind_rows,
 *                               .next = next_rows, .user = file};
 *   mercer_data data = {.struct_size = sizeof data, .source = &source};
 *   mercer_model* model = NULL;
 *   mercer_status status = mercer_model_fit("{}", &data, NULL, &model);
 *
 * Without a map, and unless "search" is false, a uniform sample of the whole stream is searched and
 * its choice fitted to all rows, but those held out for the score ("Fits" in GUIDE.md).
 *
 * Several processes share the rows where the source has a `sum`: each fits with the same map, if
 * any, spec and w, and a source of its own rows (some may have none, unless rows are held out). All
 * get the model of all rows to rounding, bit for bit where their BLAS libraries round alike.
 * "held_out" and "folds" hold out rows in every process, by seed and the process's own row numbers:
 * other rows than in one process. The D x D system is solved even if there are fewer rows than D.
 * The order of the sums: "Rows of several processes" in GUIDE.md.
 */

/** Starts again at the first row. Returns 0 on success; otherwise the call ends with MERCER_IO. */
typedef int32_t (*mercer_source_rewind)(void* user);
/** Describes the next rows: X (n x d) and Y (n x m, or n x (m + 1) where weighted), each dense or
 *  CSR (Y is made dense), whose arrays stay valid and unchanged until the next call; both are
 *  valid, empty views on entry. No rows in both: the end. Returns as rewind does. Some thousand
 *  rows are best. */
typedef int32_t (*mercer_source_next)(void* user, mercer_rows* X, mercer_rows* Y);
/** Replaces numbers[i] by its sum over the processes, the same bits in each (MPI_Allreduce with
 *  MPI_IN_PLACE, MPI_DOUBLE and MPI_SUM). Returns as rewind does. */
typedef int32_t (*mercer_source_sum)(void* user, int64_t n, double* numbers);

/** After a rewind, passes over that many blocks. Returns as rewind does. */
typedef int32_t (*mercer_source_skip)(void* user, int64_t blocks);

/** Rows delivered block by block, as often as a fit reads them. 88 bytes. The
 *  callbacks are called on the calling thread and must neither unwind nor use the context of the
 *  call. */
typedef struct mercer_row_source {
  uint32_t struct_size; /**< [0] sizeof(mercer_row_source). */
  /** [4] 1: Y has one more column than targets, the last, with the row weights (mercer_data.weights);
   *  the same in all processes. 0: each row has weight 1. */
  int32_t weighted;
  int64_t d;                   /**< [8] Inputs of a row. */
  int64_t m;                   /**< [16] Targets of a row; 0 of a model without. */
  mercer_source_rewind rewind; /**< [24] */
  mercer_source_next next;     /**< [32] */
  void* user;                  /**< [40] First argument of the callbacks. */
  /** [48] NULL: this process has all rows. Otherwise several share them, as above. */
  mercer_source_sum sum;
  /** [56] With a `sum`, 0 in all processes, or in none: then 1 more than the rows of the processes
   *  before this one, whose rows follow theirs as in one table. The sample of a search, and what it
   *  chooses, is that of one process with all rows. */
  int64_t first_row;
  /** [64] NULL, or a file that keeps how far the fit is: after a kill the same call goes on there,
   *  to the same bits ("Fits" in GUIDE.md). Each process has its own. The caller removes it. */
  const char* checkpoint;
  const char* identity;    /**< [72] With a checkpoint: which rows these are; others are refused. */
  mercer_source_skip skip; /**< [80] Likewise, or NULL: blocks are read again, and dropped. */
} mercer_row_source;

/** Noisy observations of one partial derivative of a function f of d inputs and m outputs: Y(i, :)
 *  = d^p f(X_i) + noise. 176 bytes. */
typedef struct mercer_observations {
  uint32_t struct_size;      /**< [0] sizeof(mercer_observations). */
  int32_t reserved;          /**< [4] 0. */
  double weight;             /**< [8] w > 0 of every row, such as 1/variance of the noise. */
  const int32_t* partial;    /**< [16] p: d orders >= 0, |p| <= 32; NULL: values. */
  mercer_rows X;             /**< [24] rows x d, dense or CSR (made dense). */
  mercer_rows Y;             /**< [96] rows x m. */
  const double* row_weights; /**< [168] a number >= 0 for each row; NULL: 1 each. */
} mercer_observations;

/** Observations without row weights. */
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

/** Exactly one of X with Y, source and sets; absent fields are zero. 280 bytes. */
typedef struct mercer_data {
  uint32_t struct_size; /**< [0] sizeof(mercer_data). */
  int32_t reserved;     /**< [4] 0. */
  mercer_rows X;        /**< [8] n x d, n >= 2, dense or CSR, F32 or F64. */
  /** [80] n x m, dense or CSR; for classes one column of numbers 0..K-1; absent of a model without
   *  targets. NaN in a regression: missing, which the report counts. */
  mercer_rows Y;
  /** [152] Row weights: n numbers >= 0, not all 0, of a finite sum; NULL: 1 each. Only their ratios
   *  count: they are first divided by the mean of those above 0, so that n lambda, GCV and
   *  calibration see them as counts of rows; weights times a power of two give the same bits. A row
   *  of weight 2 beside others of 1 counts as two equal rows in means, quantiles, sums, losses and
   *  scores, but as one row where rows are counted, left out or held out. A search drops rows of
   *  weight 0; other fits do not learn from them, but assign them to folds. */
  const double* weights;
  const mercer_row_source* source; /**< [160] Rows that are not in memory. */
  const mercer_observations* sets; /**< [168] set_count of them, one after the other. */
  int64_t set_count;               /**< [176] */
  /** [184] The features of the fit, in place of "map" of its spec. It is shared, and may
   *  be freed. It reads prepared inputs. */
  const mercer_map* map;
  /** [192] Group numbers of the rows of X, n x 1: rows of one number (a person, a place, a batch)
   *  are never on both sides of a split, so that the rows that choose, calibrate and score are from
   *  groups the fit has not seen. Finite, at least two of them different; only with X, and not with
   *  "ordered". */
  mercer_rows groups;
  /** [264] NULL, or with a map, "lambda" and model ridge the weights, of another solver: rows only
   *  prepare. D x m as mercer_model_weights has them, copied. */
  const double* w;
  const double* intercept; /**< [272] m numbers; NULL: zeros. */
} mercer_data;

/** Rows in memory without weights or groups. */
static inline mercer_data mercer_data_of(mercer_rows X, mercer_rows Y) {
  mercer_data data = {
      sizeof(mercer_data), 0, X, Y, 0, 0, 0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 0};
  return data;
}

#ifdef __cplusplus
}
#endif
#endif
