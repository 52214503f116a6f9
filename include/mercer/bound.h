/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_BOUND_H
#define MERCER_BOUND_H

/* Bounds: how many random frequencies make an estimate accurate to epsilon with probability 1 -
 * delta, or learning as good as with the kernel itself. The formulas are in "Bounds" of
 * GUIDE.md, the keys in "bounds" of mercer_specs. */

#include "mercer/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== What a theorem guarantees ====
 *
 * Example: how many frequencies estimate dk/dx_0 to within 0.5, uniformly over all pairs of points
 * of a set of diameter 2, with probability 0.99: {...,"frequencies":...}.
 *
 *   const char* json =
 *       "{\"bound\":\"derivative\",\"kernel\":{\"kernel\":\"gaussian\"},\"inputs\":3,"
 *       "\"p\":[1,0,0],\"diameter\":2,\"delta\":0.01,\"epsilon\":0.5}";
 *   char answer[1024];
 *   mercer_status status = mercer_bound(json, answer, sizeof answer, NULL);
 */

/** The number of frequencies a theorem asks for: "bound" is "uniform" (of a kernel's values), "expected"
 *  (its mean), "derivative", "sketch" (of a power of x'y at two rows), "decomposable",
 *  "bounded_features" or "unbounded_features" (of several outputs), "ridge", "excess_risk" or
 *  "kernel_pca" (how many features learn as well as the kernel, and lambda). The answer is
 *  JSON: the question, "frequencies", the error (or its probability) that this number guarantees,
 *  and the constants behind it.
 *  The bound is a guarantee: errors are usually tens of times smaller.
 *  Errors: MERCER_INVALID_ARGUMENT naming key, value and what is allowed, or an answer that is not
 *  finite; MERCER_DIMENSION_MISMATCH (orders, ARD count); MERCER_UNSUPPORTED (a kernel or an order
 *  without such a bound, more than 2^53 frequencies); convention 9 of mercer/base.h.
 *  Cost: O(d), and p^3 for a p x p Gamma. */
MERCER_API mercer_status mercer_bound(const char* json, char* buffer, int64_t capacity,
                                      int64_t* needed);

#ifdef __cplusplus
}
#endif
#endif
