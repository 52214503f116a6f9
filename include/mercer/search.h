/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_SEARCH_H
#define MERCER_SEARCH_H

/* Search for the lengthscale and lambda of a model. n counts rows, d inputs, D features, K
 * classes. */

#include "mercer/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Search for lengthscale and lambda on held-out rows ====
 *
 * Coarse to fine on a subsample with few features, the last candidates with all features, then one
 * fit on all rows.
 *
 * Example: 2,048 features of a Gaussian kernel for n rows of d doubles and one target.
 *
 *   mercer_rows X = mercer_rows_f64(n, d, x);
 *   mercer_rows Y = mercer_rows_f64(n, 1, y);
 *   mercer_model* model = NULL;
 *   mercer_status status = mercer_model_search(NULL, &X, &Y, 0, NULL, &model);
 */

/** A trial of the search, as told to report. */
typedef struct mercer_search_candidate {
  uint32_t struct_size;
  /** 0 coarse, 1 fine, 2 at the full number of features, 3 the same on all training rows: what is
   *  kept. */
  int32_t stage;
  /** D of the trial. */
  int64_t features;
  /** Rows fitted on. */
  int64_t rows;
  /** In units of the inputs after standardisation; 0 for a kernel without one. */
  double lengthscale;
  /** The best for this lengthscale. */
  double lambda;
  /** Held-out: 1 - R^2 (NaN where an output is constant on those rows), or the error rate. */
  double score;
  /** Time of the trial. */
  double seconds;
} mercer_search_candidate;

/** Called on the calling thread after each candidate. Must not unwind. */
typedef void (*mercer_search_report)(void* user, const mercer_search_candidate* candidate);

/** What is searched, and how. */
typedef struct mercer_search_options {
  uint32_t struct_size;
  /** 0 or 1: centre and scale inputs inside the model; default 1. */
  int32_t standardize;
  /** 0 or 1: fit an intercept; default 1. */
  int32_t center;
  /** mercer_precision of the features; default F32. */
  int32_t precision;
  /** D of the final map; default 2048. */
  int64_t features;
  /** > 0: fixed; 0 (default): searched. */
  double lengthscale;
  /** >= 0: fixed; negative (default -1): searched. */
  double lambda;
  /** In (0, 1); default 0.1. */
  double held_out_fraction;
  /** Of map, split and subsample; default 0. */
  uint64_t seed;
  /** Map spec without "inputs", "features" and "seed", or NULL: {"map":"fourier"}. Without "kernel"
   *  it is the map's "default_kernel" of mercer_specs, the Gaussian for fourier. The lengthscale
   *  inside, one number, is replaced unless the kernel has none. */
  const char* map;
  /** NULL (default): none. */
  mercer_search_report report;
  /** First argument of report. */
  void* user;
  /** mercer_extrapolation of predictions that do not say; default CLIP. */
  int32_t extrapolation;
  /** Must be 0. */
  int32_t reserved_tail;
} mercer_search_options;

/** Fills in the defaults. Errors: options->struct_size not set. */
MERCER_API mercer_status mercer_search_options_init(mercer_search_options* options);

/** Searches, then fits once on all rows; options may be NULL.
 *  Shapes: X, Y and K as in mercer_model_fit.
 *  Random: map, held-out rows and subsample; options->seed fixes them.
 *  Errors: those of mercer_model_fit and mercer_map_from_spec; MERCER_UNSUPPORTED (a fixed
 *  lengthscale for a kernel without one).
 *  Threads and cost: any number at once; some tens of fits on at most 8,000 rows and 1,024
 *  features, a few with all features, and the last. Memory: 16 D^2 bytes plus a block of rows (n x
 *  D for n < D). */
MERCER_API mercer_status mercer_model_search(const mercer_search_options* options,
                                             const mercer_rows* X, const mercer_rows* Y, int64_t K,
                                             mercer_context* context, mercer_model** out);

#ifdef __cplusplus
}
#endif
#endif
