/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * Gaussian ridge regression on random Fourier features, in C: map, statistics by blocks of rows,
 * ridge, prediction; the same by a model; how far the features are from the exact kernel; a file;
 * what an error says.
 * Usage: ridge [FILE] */
#include <inttypes.h>
#include <math.h>
#include <mercer/mercer.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 2000, d = 3, D = 512, block = 256, probes = 50 };

static void check(mercer_status status) {
  if (status == MERCER_OK) return;
  fprintf(stderr, "%s: %s\n", mercer_status_name(status), mercer_last_error());
  exit(1);
}

/* Multiples of 1/512 in [-1, 1), so that targets have the same bits in every language. */
static double next_number(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 54) / 512 - 1;
}

static double target(const double* x) { return x[0] * x[0] + x[1] * x[2]; }

/* FNV-1a of the bytes of a model's predictions; clients in other languages print the same. */
static uint64_t hash_of_predictions(const double* X, const double* y) {
  static double f[n];
  uint64_t hash = 14695981039346656037u;
  size_t i;
  mercer_model* model = NULL;
  mercer_data data = {
      .struct_size = sizeof data, .X = mercer_rows_f64(n, d, X), .Y = mercer_rows_f64(n, 1, y)};
  check(mercer_model_fit(
      "{\"map\":{\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":0.7},\"features\":512},"
      "\"search\":false,\"lambda\":1e-6}",
      &data, NULL, &model));
  check(mercer_model_predict(model, data.X, "value", NULL, NULL, mercer_matrix_f64(n, 1, f)));
  mercer_model_free(model);
  for (i = 0; i < sizeof f; ++i) hash = (hash ^ ((const unsigned char*)f)[i]) * 1099511628211u;
  return hash;
}

/* Largest |z(x)'z(y) - k(x, y)| over pairs of the first rows. */
static double kernel_error(const mercer_kernel* kernel, const double* X, const double* Z) {
  static double K[probes * probes];
  double worst = 0;
  int i, j, c;
  const mercer_rows rows = mercer_rows_f64(probes, d, X), none = {0};
  check(mercer_kernel_gram(kernel, rows, rows, none, NULL, mercer_matrix_f64(probes, probes, K)));
  for (i = 0; i < probes; ++i) {
    for (j = 0; j < probes; ++j) {
      double estimate = 0;
      for (c = 0; c < D; ++c) estimate += Z[i * D + c] * Z[j * D + c];
      worst = fmax(worst, fabs(estimate - K[i * probes + j]));
    }
  }
  return worst;
}

/* Weights from statistics that are added up block by block, so that only one block of features is
 * in memory. */
static void fit(const mercer_map* map, const double* X, const double* y, double* w,
                double* intercept) {
  static double Z[block * D];
  mercer_statistics* statistics = NULL;
  mercer_ridge* ridge = NULL;
  int64_t i;
  check(mercer_statistics_create(D, 1, &statistics));
  for (i = 0; i < n; i += block) {
    const int64_t rows = n - i < block ? n - i : block;
    const mercer_rows X_rows = mercer_rows_f64(rows, d, X + i * d);
    const mercer_rows Z_rows = mercer_rows_f64(rows, D, Z);
    const mercer_rows y_rows = mercer_rows_f64(rows, 1, y + i);
    const mercer_matrix features = mercer_matrix_f64(rows, D, Z);
    check(mercer_map_transform(map, X_rows, NULL, NULL, features));
    check(mercer_statistics_add(statistics, 1, Z_rows, y_rows, NULL));
  }
  check(mercer_ridge_create(statistics, 1, NULL, &ridge));
  mercer_statistics_free(statistics);
  check(mercer_ridge_solve(ridge, 1e-6, mercer_matrix_f64(D, 1, w),
                           mercer_matrix_f64(1, 1, intercept)));
  mercer_ridge_free(ridge);
}

int main(int argc, char** argv) {
  static double X[n * d], y[n], Z[n * D], again[probes * D], w[D];
  const char* path = argc > 1 ? argv[1] : "ridge_c.mercer";
  double intercept, residual = 0, total = 0, error;
  uint64_t state = 1;
  mercer_kernel* kernel = NULL;
  mercer_map *map = NULL, *loaded = NULL;
  int i, j;

  for (i = 0; i < n * d; ++i) X[i] = next_number(&state);
  for (i = 0; i < n; ++i) y[i] = target(X + i * d);

  check(mercer_map_from_spec(
      "{\"map\":\"fourier\",\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":0.7},"
      "\"inputs\":3,\"features\":512,\"seed\":42}",
      &map));
  check(mercer_map_kernel(map, &kernel));
  fit(map, X, y, w, &intercept);

  check(mercer_map_apply_f64(map, n, X, d, NULL, Z, D));
  for (i = 0; i < n; ++i) {
    double prediction = intercept;
    for (j = 0; j < D; ++j) prediction += Z[i * D + j] * w[j];
    residual += (y[i] - prediction) * (y[i] - prediction);
    total += y[i] * y[i];
  }
  printf("predictions %016" PRIx64 "\n", hash_of_predictions(X, y));
  error = kernel_error(kernel, X, Z);
  printf("relative error %.2e, largest kernel error %.3f\n", sqrt(residual / total), error);

  check(mercer_map_write(map, path, NULL, 0, NULL));
  check(mercer_map_read(path, NULL, 0, &loaded));
  check(mercer_map_apply_f64(loaded, probes, X, d, NULL, again, D));
  for (i = 0; i < probes * D; ++i) {
    if (again[i] != Z[i]) {
      fprintf(stderr, "the loaded map differs\n");
      return 1;
    }
  }
  if (mercer_map_apply_f64(map, -3, X, d, NULL, Z, D) != MERCER_INVALID_ARGUMENT) return 1;
  printf("an error says: %s\n", mercer_last_error());

  mercer_map_free(loaded);
  mercer_map_free(map);
  mercer_kernel_free(kernel);
  /* Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
   */
  return sqrt(residual / total) < 0.01 && error < 6 * sqrt(1.5 / D) ? 0 : 1;
}
