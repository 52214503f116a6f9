/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * Milliseconds that 4,096 features of rows of 64 take, the least of so many calls, for
 * bench/clients.py. Usage: transform ROWS CALLS */
#include <math.h>
#include <mercer/mercer.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  const int64_t n = argc > 1 ? atol(argv[1]) : 10000, calls = argc > 2 ? atol(argv[2]) : 20;
  float* X = malloc((size_t)(n * 64) * sizeof *X);
  float* Z = aligned_alloc(64, (size_t)(n * 4096) * sizeof *Z); /* at a cache line, as Go has it */
  double least = HUGE_VAL;
  mercer_map* map = NULL;
  for (int64_t i = 0; i < n * 64; ++i) X[i] = (float)(i * 7919 % 1024) / 512 - 1;
  if (mercer_map_from_spec("{\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":8},\"inputs\":64,"
                           "\"features\":4096,\"seed\":1}",
                           &map) != MERCER_OK)
    return puts(mercer_last_error()), 1;
  for (int64_t call = -1; call < calls; ++call) { /* the first one draws the frequencies */
    const double start = now();
    if (mercer_map_transform(map, mercer_rows_f32(n, 64, X), NULL, NULL,
                             mercer_matrix_f32(n, 4096, Z)) != MERCER_OK)
      return puts(mercer_last_error()), 1;
    if (call >= 0) least = fmin(least, now() - start);
  }
  printf("%.4f\n", least);
  mercer_map_free(map);
  free(Z);
  free(X);
}
