/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_SELF_TEST_H
#define MERCER_SELF_TEST_H

#include "mercer/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Self-test ====
 *
 * Example: does this machine compute what every other does?
 *
 *   char report[32768];
 *   if (mercer_self_test(NULL, report, sizeof report, NULL) == MERCER_OK) puts(report);
 */

/** JSON: "passed"; the version; "simd", the target that runs, and all that this machine supports;
 *  BLAS, its core and threads; FFTW (null: none). "samplers": hashes of draws, the same bytes
 *  everywhere. "maps", of each map, kernel and projection: "difference" of a weighted sum of features
 *  of fixed rows from the known one (at most 1e-9, since features round differently), "single" of
 *  those in single precision (1e-3), "deviations" of the mean estimate over 256 seeds from the exact
 *  kernel, in standard errors of its variance in closed form (6). Rates, which nothing fails by:
 *  single-precision products, writes, a map, and which share of the speed that these allow it has.
 *  Random: nothing; rates vary. 16 kB of text; convention 9 of mercer/base.h (the size is known
 *  after the test). Threads and cost: any number at once, which slows the rates; about 1 s. */
MERCER_API mercer_status mercer_self_test(mercer_context* context, char* buffer, int64_t capacity,
                                          int64_t* needed);

#ifdef __cplusplus
}
#endif
#endif
