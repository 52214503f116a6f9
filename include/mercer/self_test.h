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

/** Whether this machine computes what every other does, and how fast, as JSON ("Self-test" in
 *  GUIDE.md): "passed", what runs here, "samplers", "maps", rates. 16 kB; convention 9 of
 *  mercer/base.h (the size is known after the test). Cost: 1 s. */
MERCER_API mercer_status mercer_self_test(mercer_context* context, char* buffer, int64_t capacity,
                                          int64_t* needed);

#ifdef __cplusplus
}
#endif
#endif
