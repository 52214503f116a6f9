/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_BASE_H
#define MERCER_BASE_H

/* What every section of the C API shares: status codes, error text, execution context.
 *
 * Conventions of the whole API
 *  1. Every function that can fail returns mercer_status. Results come by out-parameters, last. On
 * failure handles are set to NULL; other outputs are untouched by argument errors and unspecified
 * after MERCER_CANCELLED, MERCER_OUT_OF_MEMORY and MERCER_INTERNAL.
 *  2. Matrices are row-major with a leading dimension counted in elements: element (i, j) of X is
 * X[i*ldx + j]. Sizes are int64_t. An empty array may be NULL. Inputs and outputs must not overlap.
 *  3. Nothing is kept after return unless the comment says so. Every *_free(NULL) is a no-op.
 *  4. Any number of threads may use one handle at once for functions that take it as const.
 *  5. The library never prints, aborts, reads the environment or changes global state.
 *  6. Option structs start with struct_size, set by the caller to sizeof; the matching _init fills
 * in the defaults and touches no byte past struct_size.
 *  7. Arrays, and places for numbers and handles, have their natural alignment; others are
 * MERCER_INVALID_ARGUMENT, and nothing is stored there.
 *  8. A seed or a spec means the same object whatever the caller's rounding and flush-to-zero
 * modes; what is computed with it runs under the caller's own, on every thread. A call leaves them
 * as they were.
 *  9. Threads that help with a call are oneTBB's: they sleep between calls and are shared by all
 * callers. One that cannot be started is no error: the others do its work, the calling thread if need
 * be all of it.
 * 10. A forked child may use the library, and every handle that no thread of the parent was just
 * using: a map that another thread was drawing columns of (its first use; mercer_map_prepare does it
 * ahead) and a context in use stay locked there. Its loops run on its calling thread if the parent's
 * had run before. A fork waits while a Fourier transform is being planned. BLAS is the exception: a
 * child forked while another thread of the parent was inside a BLAS call (a fit, a prediction, exact
 * kernels) may hang in its own first one, since OpenBLAS keeps its threads' locks; with
 * OPENBLAS_NUM_THREADS=1 it does not. A progress callback must not fork and return in the child. */

#include <stdint.h> /* and no other header: parsers such as pycparser stop at gcc's stddef.h */

#if defined(MERCER_BUILDING) && defined(__GNUC__)
#define MERCER_API __attribute__((visibility("default")))
#else
#define MERCER_API
#endif

#define MERCER_VERSION_MAJOR 0
#define MERCER_VERSION_MINOR 1
#define MERCER_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/** Outcome of a call. Values never change; new ones are added in the gaps. */
typedef enum mercer_status {
  MERCER_OK = 0,
  MERCER_INVALID_ARGUMENT = 1, /**< An argument is outside its documented domain. */
  MERCER_DIMENSION_MISMATCH =
      2, /**< Two arguments, or an argument and a handle, disagree about a size. */
  MERCER_OUT_OF_MEMORY = 3, /**< An allocation failed, or would exceed the context's memory cap. */
  MERCER_UNSUPPORTED = 4,   /**< A combination that does not exist, or not in this build. */
  MERCER_NOT_POSITIVE_DEFINITE =
      10,                    /**< A factorisation failed although jitter was raised to its limit. */
  MERCER_NOT_CONVERGED = 11, /**< An iteration stopped before its tolerance. */
  MERCER_IO = 20,            /**< A file could not be opened, read, written or renamed. */
  MERCER_CORRUPT_FILE =
      21, /**< A file is truncated, fails its checksum or holds impossible sizes. */
  MERCER_NEWER_VERSION = 22, /**< A file or spec is newer than this library. */
  MERCER_CANCELLED = 30,     /**< The progress callback or mercer_context_cancel asked to stop. */
  MERCER_INTERNAL = 99       /**< A defect of the library; please report it. */
} mercer_status;

/** Name of a status, such as "MERCER_OK"; "unknown status" for other values. Never NULL, never
 * freed. */
MERCER_API const char* mercer_status_name(mercer_status status);

/** Version of the loaded library as "major.minor.patch". Never NULL, never freed. */
MERCER_API const char* mercer_version(void);

/** Text of this thread's last failing call: function, argument, value and expectation. Valid until
 * this thread's next failing call; "" before the first. Successful calls leave it alone. "This
 * thread" is the system's: green threads (goroutines, coroutines, tasks of an async runtime) that
 * may wake up on another one must hold on to theirs from the call until they have the text (Go:
 * runtime.LockOSThread), or give the call a context and ask mercer_context_error. */
MERCER_API const char* mercer_last_error(void);

/** Copies that text, which is this thread's as well, into memory of the caller's.
 *  needed (may be NULL) gets the bytes including the final NUL. buffer may be NULL when capacity is
 * 0. Errors: MERCER_INVALID_ARGUMENT if capacity is too small; nothing is written then but needed,
 * and the text stays. */
MERCER_API mercer_status mercer_copy_last_error(char* buffer, int64_t capacity, int64_t* needed);

/** Called on the calling thread only, with done <= total in the call's own unit of work; a call
 * with several phases (packing a map on first use, then applying it) starts again at 0 with another
 * total. Non-zero cancels the call, which then returns MERCER_CANCELLED. Must not unwind (no C++
 * exception, no longjmp), and must not use the handles of the call it reports on: they may be
 * locked while columns are drawn. */
typedef int32_t (*mercer_progress)(void* user, int64_t done, int64_t total);

typedef struct mercer_context_options {
  uint32_t struct_size;
  int32_t threads;    /**< Upper limit on the threads of our own loops; 0 (default): all cores. */
  int64_t memory_cap; /**< Bytes a call may allocate for itself; 0 (default): no cap. All that it
                         draws for maps counts together, with the tiles it works on and the
                         copies of rows and results; otherwise checked against each large allocation or stated sum, not against every
                         small array. */
  mercer_progress progress; /**< NULL (default): no progress. */
  void* user;               /**< First argument of progress. */
} mercer_context_options;

/** How a long call runs: thread limit, memory cap, progress, cancellation. It serves one call at a
 * time: a second call that uses it meanwhile returns MERCER_INVALID_ARGUMENT.
 *  BLAS and LAPACK keep the process's own thread count, by default all cores: OpenBLAS has no other
 * (its openblas_set_num_threads_local sets that of the whole process, too). Bound it with the
 * environment variable OPENBLAS_NUM_THREADS or openblas_set_num_threads before the first call; a
 * host that makes calls from many threads at once wants 1. Our own loops never run inside a BLAS
 * call, nor BLAS inside them. */
typedef struct mercer_context mercer_context;

MERCER_API mercer_status mercer_context_options_init(mercer_context_options* options);

/** options may be NULL for the defaults. Errors: MERCER_INVALID_ARGUMENT (negative threads or
 * memory_cap, bad struct_size). Since 0.1. */
MERCER_API mercer_status mercer_context_create(const mercer_context_options* options,
                                               mercer_context** out);

/** Asks the call that uses the context, if any, to stop soon with MERCER_CANCELLED; callable from
 * any thread and from a signal handler. A request made while no call runs stops the next one. */
MERCER_API mercer_status mercer_context_cancel(mercer_context* context);

/** Threads that came to the last call's loops, at most: the caller and those that helped (0 before
 * the first). */
MERCER_API mercer_status mercer_context_threads_used(const mercer_context* context,
                                                     int32_t* threads);

/** Text of the last failing call that used this context ("" if none), copied as
 * mercer_copy_last_error does. */
MERCER_API mercer_status mercer_context_error(const mercer_context* context, char* buffer,
                                              int64_t capacity, int64_t* needed);

MERCER_API void mercer_context_free(mercer_context* context);

#ifdef __cplusplus
}
#endif
#endif
