/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_CUSTOM_H
#define MERCER_CUSTOM_H

/* Kernels, maps and losses of the caller's own: "Kernels, maps and losses of your own: `custom`" in
 * GUIDE.md. */

#include "mercer/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Callbacks ====
 *
 * While a name is registered, specs know the kernel {"kernel":"custom","name":NAME}, which each
 * function takes that needs kernel values alone, where it has features the map
 * {"map":"custom","kernel":{"kernel":"custom","name":NAME}}, and the loss of
 * {"model":"logistic","loss":"custom","loss_name":NAME}.
 *
 * Example: row i is the number i; look_up copies numbers of a Gram matrix.
 *
 *   mercer_custom_options options = {.struct_size = sizeof options};
 *   options.name = "similarity";
 *   options.inputs = 1;
 *   options.gram = look_up;
 *   options.user = table;
 *   mercer_custom* custom = NULL;
 *   mercer_kernel* kernel = NULL;
 *   mercer_status status = mercer_custom_create(&options, &custom);
 *   if (status == MERCER_OK)
 *     status = mercer_kernel_from_spec("{\"kernel\":\"custom\",\"name\":\"similarity\"}", &kernel);
 */

/** Writes K(i, j) = k(X_i, Y_j) for i < n, j < m: symmetric and positive semi-definite, finite, each
 *  a function of its two rows alone. X is n x d, Y m x d, K n x m, all without gaps; rows are finite,
 *  and prepared only where a fit was asked to. Returns 0 on success;
 *  otherwise the call ends with MERCER_CALLBACK. */
typedef int32_t (*mercer_custom_gram)(void* user, int64_t n, int64_t m, int64_t d, const double* X,
                                      const double* Y, double* K);
/** Writes D features of each row, Z n x D, each row a function of its row of X, D and seed alone,
 *  whose inner products are, or estimate, the kernel. Otherwise as mercer_custom_gram. */
typedef int32_t (*mercer_custom_features)(void* user, int64_t n, int64_t d, const double* X,
                                          int64_t D, uint64_t seed, double* Z);
/** Writes value, slope and curvature, at least 0, of a convex loss of each score at its target, of
 *  custom_class 1 for the row's class, else 0; all n x p. Otherwise as mercer_custom_gram. */
typedef int32_t (*mercer_custom_loss)(void* user, int64_t n, int64_t p, const double* S,
                                      const double* Y, double* value, double* slope,
                                      double* curvature);
/** Called once, by the thread that lets go last. */
typedef void (*mercer_custom_release)(void* user);

/** A kernel, a map, a loss, or several. 72 bytes on 64-bit machines. The callbacks must not unwind,
 *  nor use the context of the call they serve, but to cancel it; two that are not concurrent and ask
 *  for each other's kernels wait for each other for ever. */
typedef struct mercer_custom_options {
  uint32_t struct_size; /**< [0] sizeof(mercer_custom_options). */
  /** [4] 0: one call at a time, on the thread that called the library. 1: several at once, on any
   *  thread. */
  int32_t concurrent;
  const char* name; /**< [8] 1 to 100 letters, digits and ._- ; copied. */
  int64_t inputs;   /**< [16] d of all rows; 0: any. */
  /** [24] NULL: the kernel is the inner product of the features, of one number and no seed. */
  mercer_custom_gram gram;
  mercer_custom_features features; /**< [32] NULL: there is no map. */
  int64_t feature_count; /**< [40] The one D of the map; 0: any, as specs say; needs gram. */
  void* user;            /**< [48] First argument of the callbacks. */
  mercer_custom_release release; /**< [56] NULL: nothing is called. */
  mercer_custom_loss loss;       /**< [64] NULL: there is none. */
} mercer_custom_options;

/** A registered name. */
typedef struct mercer_custom mercer_custom;

/** Registers callbacks under their name. Where it fails nothing is kept, and release is not called.
 *  Errors: MERCER_INVALID_ARGUMENT for a name that is registered, no callback, feature_count without
 *  features or 0 without gram. Threads: any number at once. */
MERCER_API mercer_status mercer_custom_create(const mercer_custom_options* options,
                                              mercer_custom** out);

/** Makes the name unknown: specs and files with it are MERCER_NOT_REGISTERED from then on. Kernels,
 *  maps and models made before keep the callbacks. */
MERCER_API void mercer_custom_free(mercer_custom* custom);

#ifdef __cplusplus
}
#endif
#endif
