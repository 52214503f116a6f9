/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * A program of the parent's that links mercer. */
#include <mercer/mercer.h>
#include <string.h>

int main(void) {
  mercer_kernel* kernel = NULL;
  const int refused = mercer_kernel_from_spec("{\"kernel\":\"absent\"}", &kernel) != MERCER_OK &&
                      strstr(mercer_last_error(), "absent") != NULL;
  return refused && mercer_kernel_from_spec("{\"kernel\":\"gaussian\"}", &kernel) == MERCER_OK ? 0 : 1;
}
