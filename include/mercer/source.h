/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_SOURCE_H
#define MERCER_SOURCE_H

/* Fits of rows that are not in memory, and of rows that several processes share. d counts inputs, D
 * features, m targets, K classes. */

#include "mercer/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Rows that are not in memory ====
 *
 * Example: a fit on what two callbacks of the caller's read from `file`.
 *
 *   mercer_row_source source = {sizeof source, 0, d, 1, rewind_rows, next_rows, file, NULL};
 *   mercer_model* model = NULL;
 *   mercer_status status = mercer_model_fit_source(map, NULL, &source, 0, NULL, &model);
 */

/** Rows handed over block by block, as often as a fit reads them. 56 bytes on 64-bit machines. The
 *  callbacks are called on the calling thread and must not unwind nor use the context of the call.
 */
typedef struct mercer_row_source {
  uint32_t struct_size;
  /** 1: Y has one more column than targets, the last, which holds the weights of the rows
   *  (mercer_fit_options.weights); the same in all processes. 0: each weighs 1. */
  int32_t weighted;
  /** Inputs of a row. */
  int64_t d;
  /** Targets of a row. */
  int64_t m;
  /** Begins again at the first row. 0: done; else the call ends with MERCER_IO. */
  int32_t (*rewind)(void* user);
  /** Describes the next rows: X (n x d) and Y (n x m, or n x (m + 1) where weighted), each dense or
   *  CSR (Y is made dense), whose arrays stay valid and unchanged until the next call; both are
   *  handed over as valid, empty views. X->n = 0: the end. 0: done; else the call ends with
   *  MERCER_IO. Some thousand rows at a time suit it best. */
  int32_t (*next)(void* user, mercer_rows* X, mercer_rows* Y);
  /** First argument of the callbacks. */
  void* user;
  /** NULL: this process has all rows. Else several processes share them, each with some, and fit
   *  one model: numbers[i] must become its sum over the processes, the same bits in each of them
   *  (MPI_Allreduce with MPI_IN_PLACE, MPI_DOUBLE and MPI_SUM). 0: done; else the call ends with
   *  MERCER_IO. See mercer_model_fit_source. */
  int32_t (*sum)(void* user, int64_t n, double* numbers);
} mercer_row_source;

/** mercer_model_fit of rows from a source, with the same held-out rows and folds. The passes must
 *  give the same rows.
 *  Several processes: each calls this with the same map, options, K and m and a source of its own
 *  rows (none in some of them, where no rows are held out), and gets the same model, which is that
 *  of all rows to rounding; the same bits where their BLAS rounds alike. HELD_OUT and KFOLD hold
 *  out rows of every process, by seed and the process's own row numbers, so other rows than of one.
 *  The D x D system is solved even of fewer rows than D.
 *  Sums come in pairs, in all processes equally often, in the same order and of the same n: one
 *  number, above 0 if a process has failed, whereupon all end; then the numbers. They are: 3 that
 *  tell whether map, options, K, m and weighted are the same; of weighted rows 2, their sum of
 *  weights and how many are above 0, so that all have one unit; after the first pass, of d inputs
 *  and again of the m targets of a regression, 5 d + 2 counts, then 16 times 64 d weights, which
 *  find ranges exactly; d + 3 and 2 d for means and deviations; after each pass for statistics
 *  D + m + 1 of means, then D (D + 1)/2 + D m + D + 2 m + 2 squares, products and sums, m = K of
 *  classes, some 65,536 at a time; after a pass that scores held-out or left-out rows their losses
 *  (of LOO lambda_count^2); where classes are calibrated, those of that. One number at the very
 *  end.
 *  Errors: as mercer_model_fit; MERCER_IO (a callback's non-zero answer; another process failed),
 *  MERCER_INVALID_ARGUMENT (passes of different length, fewer than 2 rows, processes that differ in
 *  map, options, K, m or weighted), MERCER_UNSUPPORTED (MERCER_MISSING_FLAG: flags are not known
 *  before the rows; of several processes missing but REFUSE, scale but STANDARD, and transforms,
 *  which need a column's numbers in one place).
 *  Threads and cost: any number at once. One pass that sums weights where there are any, one to
 *  standardise (also without, to count), one for the statistics, one more for LOO, two or three
 *  more for each part held out of HELD_OUT and KFOLD, one more for classes, to calibrate them, and
 *  one more to balance them. Memory as mercer_model_fit, plus a block of rows and, where classes are
 *  held out, 8 bytes a row; what n >= D needs must be there. */
MERCER_API mercer_status mercer_model_fit_source(const mercer_map* map,
                                                 const mercer_fit_options* options,
                                                 const mercer_row_source* source, int64_t K,
                                                 mercer_context* context, mercer_model** out);

#ifdef __cplusplus
}
#endif
#endif
