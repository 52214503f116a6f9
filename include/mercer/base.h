/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_BASE_H
#define MERCER_BASE_H

/* What every section of the C API shares: status codes, error text, execution context. How the
 * sections fit together, which map suits which data, and how to use the library beside BLAS, FFTW
 * and fork: GUIDE.md, in share/doc/mercer and in capi/ of the sources.
 *
 * ==== Conventions of the whole API ====
 *
 *  1. Results. Every function that can fail returns mercer_status. Results come by out-parameters,
 *     last. On failure handles are set to NULL; other outputs are untouched by argument errors and
 *     unspecified after MERCER_CANCELLED, MERCER_OUT_OF_MEMORY and MERCER_INTERNAL.
 *  2. Arrays. Matrices are row-major with a leading dimension counted in elements: element (i, j)
 *     of X is X[i*ldx + j]. Sizes are int64_t. An empty array may be NULL. Inputs and outputs must
 *     not overlap. Arrays, and places for numbers and handles, have their natural alignment; a
 *     misaligned one is MERCER_INVALID_ARGUMENT, and nothing is stored there.
 *  3. Lifetime. Nothing is kept after return unless the comment says so. Every *_free(NULL) does
 *     nothing; no handle may be used after its free.
 *  4. Randomness. Results are random only where a comment says so; a seed fixes them. A seed or a
 *     spec gives the same object whatever the caller's rounding and flush-to-zero modes; what is
 *     computed with it runs under the caller's modes, on every thread. A call leaves them as they
 *     were.
 *  5. Errors. Every function may return MERCER_INVALID_ARGUMENT (NULL where a comment does not
 *     permit it, a number outside its domain) and MERCER_INTERNAL; every function that makes a
 *     handle or takes a context may return MERCER_OUT_OF_MEMORY, and one that takes a context
 *     MERCER_CANCELLED. Comments list what else a call refuses. A context may be NULL: all cores,
 *     no memory cap, no progress.
 *  6. Threads. Any number of threads may call functions at once, and share a handle where it is
 *     const; other functions need it alone. Threads that help with a call are oneTBB's: they sleep
 *     between calls and are shared by all callers. Where one cannot start the others do its work.
 *  7. The library never prints, aborts, reads the environment or changes global state.
 *  8. Option structs start with struct_size, set by the caller to sizeof; zero in every other field
 *     is its default. No byte past struct_size is read or written.
 *  9. Text. needed (may be NULL) gets the number of bytes, the final NUL included. buffer may be
 *     NULL when capacity is 0: that asks for the size. A capacity that is too small is
 *     MERCER_INVALID_ARGUMENT; only needed is written then.
 * 10. Forks. A forked child may use the library and every handle that no other thread of the parent
 *     was using at the time; a progress callback must not fork and return in the child. For BLAS
 *     there is an exception: see "Threads, BLAS, fork" in GUIDE.md. */

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

/* ==== Status and error text ====
 *
 * Example: a call that fails says why.
 *
 *   mercer_kernel* kernel = NULL;
 *   mercer_status status = mercer_kernel_from_spec("{\"kernel\":\"mattern\"}", &kernel);
 *   if (status != MERCER_OK) {
 *     fprintf(stderr, "%s: %s\n", mercer_status_name(status), mercer_last_error());
 *   }
 */

/** Outcome of a call. Values never change; new ones are added in the gaps. */
typedef enum mercer_status {
  /** Done. */
  MERCER_OK = 0,
  /** An argument is outside its documented domain. */
  MERCER_INVALID_ARGUMENT = 1,
  /** Two arguments, or an argument and a handle, disagree about a size. */
  MERCER_DIMENSION_MISMATCH = 2,
  /** An allocation failed, or would exceed the context's memory cap. */
  MERCER_OUT_OF_MEMORY = 3,
  /** A combination that does not exist, or not in this build. */
  MERCER_UNSUPPORTED = 4,
  /** A kernel or map of the caller's own whose name is not registered (mercer/custom.h). */
  MERCER_NOT_REGISTERED = 5,
  /** A factorisation failed although jitter was raised to its limit. */
  MERCER_NOT_POSITIVE_DEFINITE = 10,
  /** An iteration stopped before its tolerance. */
  MERCER_NOT_CONVERGED = 11,
  /** A file could not be opened, read, written or renamed. */
  MERCER_IO = 20,
  /** A file is truncated, fails its checksum or holds impossible sizes. */
  MERCER_CORRUPT_FILE = 21,
  /** A file or spec is newer than this library. */
  MERCER_NEWER_VERSION = 22,
  /** The progress callback or mercer_context_cancel asked to stop. */
  MERCER_CANCELLED = 30,
  /** A callback of the caller's kernel or map failed (mercer/custom.h). */
  MERCER_CALLBACK = 31,
  /** A defect of the library; please report it. */
  MERCER_INTERNAL = 99
} mercer_status;

/** Name of a status, such as "MERCER_OK"; "unknown status" for other values. Never NULL, never
 *  freed. Any number of threads at once. */
MERCER_API const char* mercer_status_name(mercer_status status);

/** Version of the loaded library as "major.minor.patch". Never NULL, never freed. Any number of
 *  threads at once. */
MERCER_API const char* mercer_version(void);

/** Text of this thread's last failing call: function, argument, value and expectation. Valid until
 *  this thread's next failing call; "" before the first. Successful calls leave it alone.
 *  Threads: "this thread" is the operating system's. Green threads (goroutines, coroutines, tasks
 *  of an async runtime) that may resume on another one must stay on theirs from the call until they
 *  have the text (Go: runtime.LockOSThread), or give the call a context and ask
 *  mercer_context_error. */
MERCER_API const char* mercer_last_error(void);

/* ==== Execution context ====
 *
 * Example: at most two threads and 1 GB for the calls that are given this context.
 *
 *   mercer_context_options options = {.struct_size = sizeof options};
 *   options.threads = 2;
 *   options.memory_cap = 1000000000;
 *   mercer_context* context = NULL;
 *   mercer_status status = mercer_context_create(&options, &context);
 */

/** Progress of a call: done / total is the finished share of the whole call, 0 <= done <= total.
 *  total stays the same during a call and done never falls; done = total is reported once, when the
 *  work is finished, and the return value is then ignored. Parts of a call count by estimates of
 *  their cost, iterations by how near they are to their tolerance, so the last part may be shorter
 *  than estimated. Called whenever a thousandth was added, and about every 10 ms where nothing
 *  moves. A return value other than 0 cancels the call, which then returns MERCER_CANCELLED.
 *  Threads: called on the calling thread only. It must not unwind (no C++ exception, no longjmp),
 *  nor use the handles of the call it reports on: they may be locked while columns are drawn. */
typedef int32_t (*mercer_progress)(void* user, int64_t done, int64_t total);

/** Receives each finished trial of a search: one JSON object as in "trials" of the report, with
 *  "seconds". Called on the calling thread; it must not unwind. */
typedef void (*mercer_trial)(void* user, const char* json);

/** Options of a context. 40 bytes on 64-bit machines. */
typedef struct mercer_context_options {
  uint32_t struct_size; /**< [0] sizeof(mercer_context_options). */
  /** [4] Upper limit on the threads of the library's own loops; 0 (default): all cores. */
  int32_t threads;
  /** [8] Bytes a call may allocate for itself; 0 (default): no cap. Numbers drawn for maps, the tiles
   *  worked on and the copies of rows and results count together; other allocations are checked one
   *  by one where they are large, small arrays not at all. */
  int64_t memory_cap;
  /** [16] NULL (default): no progress. */
  mercer_progress progress;
  /** [24] First argument of progress and trial. */
  void* user;
  /** [32] NULL (default): trials are not reported. */
  mercer_trial trial;
} mercer_context_options;

/** How a long call runs: thread limit, memory cap, progress, cancellation.
 *  Threads: it serves one call at a time; a second call that uses it meanwhile returns
 *  MERCER_INVALID_ARGUMENT. Its thread limit is for the library's own loops: BLAS and LAPACK keep
 *  the process's own count, see "Threads, BLAS, fork" in GUIDE.md. */
typedef struct mercer_context mercer_context;

/** Makes a context; options may be NULL for the defaults.
 *  Errors: negative threads or memory_cap, a bad struct_size. */
MERCER_API mercer_status mercer_context_create(const mercer_context_options* options,
                                               mercer_context** out);

/** cancel 1: asks the call that uses the context to stop soon with MERCER_CANCELLED; a request made
 *  while no call runs stops the next one. 0: withdraws a request that no call has answered yet, as
 *  before a new task. A call whose work is already finished returns MERCER_OK, and the request ends
 *  with it.
 *  Errors: MERCER_INVALID_ARGUMENT. Threads: any thread, and a signal handler. */
MERCER_API mercer_status mercer_context_cancel(mercer_context* context, int32_t cancel);

/** Threads that worked in the last call's loops, at most: the caller and its helpers (0 before the
 *  first call). Any number of threads at once. */
MERCER_API mercer_status mercer_context_threads_used(const mercer_context* context,
                                                     int32_t* threads);

/** What is said of the last failing call that used this context, copied by convention 9; with
 *  context NULL of this thread's, as mercer_last_error. what: "text" ("" if no call failed), or
 *  "fields", a JSON object ({} if none) of those that apply: "function"; "place" ("parts[1]", a
 *  file); "argument" ("features", "X", "options->threads"), which is a "noun" ("unknown key");
 *  its "row" and "column", counted from 0; "value", a number or a text; "problem" ("= 3", "has no
 *  derivatives"); "expected"; "choices", a list of the words that are accepted.
 *  Any number of threads at once, whichever thread made the call. Errors: another what. */
MERCER_API mercer_status mercer_context_error(const mercer_context* context, const char* what,
                                              char* buffer, int64_t capacity, int64_t* needed);

/** Frees a context that no call is using. */
MERCER_API void mercer_context_free(mercer_context* context);

#ifdef __cplusplus
}
#endif
#endif
