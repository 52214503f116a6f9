/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 *
 * The child of a process that fitted fits the same: products of OpenBLAS on OpenMP, whose threads a
 * child has not, would wait for ever. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <mercer/mercer.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRows = 1500, kInputs = 6 };
static double X[kRows * kInputs], y[kRows];

static int fit(double* value) {
  mercer_model* model = NULL;
  mercer_data data =
      mercer_data_of(mercer_rows_f64(kRows, kInputs, X), mercer_rows_f64(kRows, 1, y));
  mercer_status status = mercer_model_fit(
      "{\"search\":false,\"lengthscale\":2,\"map\":{\"features\":512}}", &data, NULL, &model);
  if (status == MERCER_OK)
    status = mercer_model_predict(model, mercer_rows_f64(1, kInputs, X), "value", NULL, NULL,
                                  mercer_matrix_f64(1, 1, value));
  if (status != MERCER_OK) puts(mercer_last_error());
  mercer_model_free(model);
  return status != MERCER_OK;
}

int main(void) {
  double parent = 0, child = 0;
  int status = 0;
  for (int i = 0; i < kRows * kInputs; ++i) X[i] = sin(1.7 * i);
  for (int i = 0; i < kRows; ++i) y[i] = X[i * kInputs] * X[i * kInputs + 1];
  if (fit(&parent) != 0) return 1;
  if (fork() == 0) {
    alarm(60);
    _exit(fit(&child) != 0 || !(fabs(child - parent) <= 1e-6));
  }
  wait(&status);
  if (WIFSIGNALED(status)) printf("the child ends with signal %d\n", WTERMSIG(status));
  return status != 0;
}
