/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_SCALAPACK_H
#define MERCER_SCALAPACK_H

/* Ridge regression with so many features that Z'Z does not fit into one machine: libmercer_scalapack,
 * beside libmercer_mpi. P Q processes share Z'Z and its factor in ScaLAPACK's layout, D^2/(P Q)
 * numbers each; features never travel, since each process makes those of its rows and columns of
 * Z'Z from the rows of all, which do. n counts rows, d inputs, D features, m targets. A complete
 * program, and what travels: "More features than a machine" in GUIDE.md.
 *
 * As in mercer/mpi.h the function is collective, a process that fails or is cancelled is named in
 * every process's error, and MPI_THREAD_FUNNELED suffices. */

#include "mercer/map.h"
#include "mercer/mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the best of several penalties has least of, summed over the targets. */
typedef enum mercer_scalapack_criterion {
  /** Generalised cross-validation, n RSS/(n - Tr H)^2 as in mercer/ridge.h, in units of the
   *  target's mean square, about its mean if centred. */
  MERCER_SCALAPACK_GCV = 0,
  /** The negative log marginal likelihood, 1/2 log(y'K^{-1}y) + log |K|/(2 k), K = ZZ' + n lambda
   *  I, k = n, or n - 1 if centred, of the best amplitude, up to a constant. */
  MERCER_SCALAPACK_EVIDENCE = 1,
  /** The mean squared error of rows left out one by one, n lambda held fixed, in the units of GCV: by
   *  another pass over the rows, with leverages that `probes` random signs for each feature
   *  estimate, each with a relative standard error of at most sqrt(2/probes), all together of
   *  sqrt(2/(probes Tr H)), the same signs for every penalty; exact for `probes` >= D. Infinite where
   *  a leverage is 1. D probes numbers for each penalty come to each process. */
  MERCER_SCALAPACK_LEAVE_ONE_OUT = 2
} mercer_scalapack_criterion;

/** How (Z'Z + n lambda I)^{-1} is had for each penalty. */
typedef enum mercer_scalapack_method {
  /** FACTORS for up to 12 penalties, else EIGENVALUES. */
  MERCER_SCALAPACK_AUTO = 0,
  /** A Cholesky factor of each: D^3/3 products, for GCV 2 D^3/3. A second matrix if they are
   *  several. */
  MERCER_SCALAPACK_FACTORS = 1,
  /** Eigenvectors for all: some 9 D^3 products, half of them at the speed of memory. Four
   *  matrices. */
  MERCER_SCALAPACK_EIGENVALUES = 2,
  /** Conjugate gradients by passes over the rows, without Z'Z: for D where even its parts do not
   *  fit. A sketch of the k = D/32, 256 to 1,024, largest eigenvalues, of some 8,192 rows, makes them
   *  converge fast. Features are made again in each pass; numbers of D/P (3 k + 9 m). Penalties
   *  begin with the largest, each where the one before ended; criterion GCV alone, by `probes`
   *  random signs, which are further targets, in a relative standard error of Tr H of at most
   *  sqrt(2/(probes Tr H)), exact for `probes` >= D. The grid has one column unless grid_rows is
   *  given. */
  MERCER_SCALAPACK_CG = 3,
  /** Z'Z and its Cholesky factor in single precision, half the memory of FACTORS and two thirds of
   *  its time, corrected by CG in double: few passes where n lambda is above the rounding of Z'Z. */
  MERCER_SCALAPACK_MIXED = 4
} mercer_scalapack_method;

/** The same in all processes; zeros are the defaults, except struct_size, penalties
 *  and their count. 80 bytes. */
typedef struct mercer_scalapack_options {
  uint32_t struct_size; /**< [0] sizeof(mercer_scalapack_options). */
  int32_t center;       /**< [4] Not 0: features and targets are centred; an intercept is fitted. */
  int32_t criterion;    /**< [8] mercer_scalapack_criterion. */
  int32_t method;       /**< [12] mercer_scalapack_method. */
  int32_t grid_rows;    /**< [16] P, a divisor of the processes; 0: the most square grid, P <= Q,
                             but for CG. */
  int32_t block;        /**< [20] Columns of a block of the layout; 0: 128, fewer for small D. */
  int64_t block_rows;   /**< [24] Rows of all processes that are worked on at a time; 0: 512. */
  const double* penalties; /**< [32] lambda >= 0 per row, of which one is chosen. */
  int64_t penalty_count;   /**< [40] 1 or more. */
  double* scores;     /**< [48] NULL in all, or penalty_count x m: the criterion of each target. */
  int64_t probes;     /**< [56] Of LEAVE_ONE_OUT; 0: 64; and of GCV by CG or MIXED; 0: 16. */
  double tolerance;   /**< [64] Of CG and MIXED, on |Z'(Zw - y) + n lambda w| / |Z'y|; 0: 1e-9. */
  int64_t iterations; /**< [72] Of CG and MIXED for each penalty, at most; 0: 2,000. */
} mercer_scalapack_options;

/** What a fit found, the same in all processes but for row_bytes. 64 bytes. */
typedef struct mercer_scalapack_result {
  uint32_t struct_size; /**< [0] sizeof(mercer_scalapack_result). */
  int32_t grid_rows;    /**< [4] P. */
  int64_t grid_columns; /**< [8] Q. */
  int64_t rows;         /**< [16] n of all processes, those of weight 0 left out. */
  double penalty;       /**< [24] lambda, given or chosen. */
  double dimension;     /**< [32] Tr H, with centring one more; NaN without scores by GCV. */
  int64_t bytes;        /**< [40] That each process allocates, at most, as planned: also
                             where the call ends because they exceed run->memory_cap. */
  int64_t row_bytes;    /**< [48] Bytes of rows that came from other processes. */
  int64_t iterations;   /**< [56] Of CG and MIXED, at this penalty. */
} mercer_scalapack_result;

/** w = (Z'Z + n lambda I)^{-1} Z'Y and the intercept, of the rows of all processes as mercer_mpi_fit
 *  takes them, dense with targets: mercer_ridge_weights of all to rounding, and bit for bit again
 *  for as many processes and threads. mercer_map_multiply by w, plus the intercept, predicts, and so
 *  does the model that mercer_data.w makes of them.
 *  Shapes: w D x m, intercept 1 x m, F64; either, result and run may be absent in any process. run:
 *  threads, memory_cap, progress and user, which may differ.
 *  Errors: as in mercer/mpi.h; MERCER_UNSUPPORTED (sparse rows; a map that is complex, of several
 *  outputs or of as many rows as features); MERCER_DIMENSION_MISMATCH; MERCER_OUT_OF_MEMORY before
 *  rows are read, with the bytes needed; MERCER_NOT_POSITIVE_DEFINITE; MERCER_NOT_CONVERGED, with
 *  the residual that was reached.
 *  Cost: of each process n (d + m + 1) numbers that come to it, D/P + D/Q of the map's columns of n
 *  rows, (n D^2 + what the method says)/(P Q) products. */
MERCER_API mercer_status mercer_scalapack_ridge(mercer_mpi* all, const mercer_map* map,
                                                const mercer_data* data,
                                                const mercer_scalapack_options* options,
                                                const mercer_context_options* run, mercer_matrix w,
                                                mercer_matrix intercept,
                                                mercer_scalapack_result* result);

#ifdef __cplusplus
}
#endif
#endif
