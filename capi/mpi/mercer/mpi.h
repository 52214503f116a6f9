/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_MPI_H
#define MERCER_MPI_H

/* Rows that the processes of an MPI communicator share: libmercer_mpi, beside libmercer. Each
 * process has rows of its own, or none; all get the same model. A complete program and the bytes
 * that travel: "Rows of several processes" in GUIDE.md.
 *
 * The functions are collective: all processes of the communicator call them, in the same order, and
 * no other call uses it meanwhile. A process that fails, or is cancelled, is named in every process's
 * error. The others learn of it at their next sum, which in a search comes after all trials, and it
 * returns with them. MPI_THREAD_FUNNELED suffices: MPI is called on the calling thread. */

#include <mpi.h>

#include "mercer/data.h"
#include "mercer/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A communicator and what has come over it. Made by mercer_mpi_of, used by one thread. */
typedef struct mercer_mpi {
  uint32_t struct_size; /**< sizeof(mercer_mpi). */
  int32_t state;        /**< 0 at first; the library's. */
  MPI_Comm comm;        /**< An intracommunicator; its error handler is left as it was. */
  int64_t sums;         /**< Calls of mercer_mpi_sum so far, */
  int64_t numbers;      /**< the numbers that they added up, */
  int64_t bytes;        /**< and bytes that came from other processes. */
  char error[1024];     /**< Why the last call that failed did: "rank 2: ...". */
} mercer_mpi;

/** The processes of a communicator. */
static inline mercer_mpi mercer_mpi_of(MPI_Comm comm) {
  mercer_mpi all = {sizeof(mercer_mpi), 0, MPI_COMM_NULL, 0, 0, 0, {0}};
  all.comm = comm;
  return all;
}

/** mercer_model_fit on the rows of all processes, given in memory (X, Y, weights) or by a source
 *  without `sum`; map, spec and w are the same in all. If all rows are in memory they are numbered in
 *  the order of ranks: a search samples them as one process would. A process without rows gives d and, with
 *  targets, m: mercer_rows_f64(0, d, NULL). What a source can be fitted by, this can.
 *  Errors: the same status in all processes, with a model in none: that of the lowest rank that
 *  failed by itself. Also MERCER_INVALID_ARGUMENT before MPI_Init; MERCER_UNSUPPORTED (sets,
 *  groups); MERCER_IO, what MPI says. all->error has the text.
 *  Cost: that of a source; 16 bytes for each number that is summed, a buffer of 16 MiB. */
MERCER_API mercer_status mercer_mpi_fit(mercer_mpi* all, const char* json, const mercer_data* data,
                                        mercer_context* context, mercer_model** out);

/** A mercer_source_sum, with a mercer_mpi as `user`: of mercer_rows_sums_reduce, say. Terms are
 *  added in a tree over ranks, so that as many processes give the same bits again, whatever MPI
 *  does; n has no limit. Returns 0, or 1 where it fails in any process. */
MERCER_API int32_t mercer_mpi_sum(void* all, int64_t n, double* numbers);

/** Returns MERCER_OK if every process gives MERCER_OK, else the status of the lowest rank that
 *  failed by itself, whose text, NULL: of its mercer_last_error, all->error gets. After anything
 *  that may fail in one process, such as reading its rows or mercer_rows_sums_reduce. Processes
 *  that wait in mercer_mpi_sum meanwhile end with 1. */
MERCER_API mercer_status mercer_mpi_agree(mercer_mpi* all, mercer_status status, const char* text);

#ifdef __cplusplus
}
#endif
#endif
