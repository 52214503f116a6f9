/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * The examples of the C headers, line by line as they stand there (examples.cmake compares),
 * compiled as strict C99 and run on n rows of d numbers: every function answers 1 if its example
 * did what the header says. */
#include <math.h>
#include <mercer/mercer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 20, d = 3, D = 40 };

static float x32[n * d], z32[49 * n * 512], pooled[n * 2048];
static double x64[n * d], y64[n], z64[n * D];

static void fill(void) {
  for (int i = 0; i < n * d; ++i) x32[i] = (float)(x64[i] = sin(1.7 * i));
  for (int i = 0; i < n; ++i) y64[i] = x64[i * d] + 0.5 * x64[i * d + 1];
  for (int i = 0; i < n * D; ++i) z64[i] = cos(0.3 * i * i);
  for (int i = 0; i < 49 * n * 512; ++i) z32[i] = (float)((i * 7) % 11) - 5.0f;
}

/* ---- base.h ---- */

static int status_and_error_text(void) {
  mercer_kernel* kernel = NULL;
  mercer_status status = mercer_kernel_from_spec("{\"kernel\":\"mattern\"}", &kernel);
  if (status != MERCER_OK) {
    fprintf(stderr, "%s: %s\n", mercer_status_name(status), mercer_last_error());
  }
  return status == MERCER_INVALID_ARGUMENT && strstr(mercer_last_error(), "mattern") != NULL;
}

static int execution_context(mercer_context** out) {
  mercer_context_options options = {.struct_size = sizeof options};
  options.threads = 2;
  options.memory_cap = 1000000000;
  mercer_context* context = NULL;
  mercer_status status = mercer_context_create(&options, &context);
  *out = context;
  return status == MERCER_OK;
}

/* ---- rows.h ---- */

static int sparse_rows(const mercer_kernel* kernel) {
  double values[] = {1, 2, 3};
  int32_t offsets[] = {0, 2, 3};
  int32_t indices[] = {0, 2, 1};
  mercer_rows X = {sizeof X, MERCER_NUMBER_F64, MERCER_INDEX_I32, 0, 2, 3, 0, 3, 0, 0, 0};
  X.values = values;
  X.offsets = offsets;
  X.indices = indices;
  double k[4] = {0};
  mercer_matrix K = mercer_matrix_f64(2, 2, k);
  return mercer_kernel_gram(kernel, X, X, (mercer_rows){0}, NULL, K) == MERCER_OK && k[0] == 1 &&
         k[1] < 1;
}

static int views(const mercer_map* map, float* x, float* z, int64_t ldz) {
  enum { D = 4096 };
  mercer_rows X = mercer_rows_f32(n, d, x);
  mercer_matrix Z = mercer_matrix_f32(n, D, z);
  Z.ld = ldz;
  mercer_status status = mercer_map_transform(map, X, NULL, NULL, Z);
  return status == MERCER_OK && z[(n - 1) * ldz] != 0;
}

/* ---- custom.h ---- */

static int32_t look_up(void* user, int64_t rows, int64_t columns, int64_t inputs, const double* X,
                       const double* Y, double* K) {
  const double* table = user;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      K[i * columns + j] = table[2 * (int)X[i * inputs] + (int)Y[j * inputs]];
  return 0;
}

static int custom_kernel(void) {
  double table[] = {2, 1, 1, 3}, number[] = {0, 1}, k[4] = {0};
  mercer_custom_options options = {.struct_size = sizeof options};
  options.name = "similarity";
  options.inputs = 1;
  options.gram = look_up;
  options.user = table;
  mercer_custom* custom = NULL;
  mercer_kernel* kernel = NULL;
  mercer_status status = mercer_custom_create(&options, &custom);
  if (status == MERCER_OK)
    status = mercer_kernel_from_spec("{\"kernel\":\"custom\",\"name\":\"similarity\"}", &kernel);
  const mercer_rows X = mercer_rows_f64(2, 1, number);
  const mercer_matrix K = mercer_matrix_f64(2, 2, k);
  mercer_custom_free(custom);
  if (status == MERCER_OK) status = mercer_kernel_gram(kernel, X, X, (mercer_rows){0}, NULL, K);
  mercer_kernel_free(kernel);
  return status == MERCER_OK && k[0] == 2 && k[2] == 1 && k[3] == 3;
}

/* ---- kernel.h ---- */

static int kernel_by_spec(mercer_kernel** out) {
  mercer_kernel* kernel = NULL;
  mercer_status status =
      mercer_kernel_from_spec("{\"kernel\":\"matern\",\"nu\":1.5,\"lengthscale\":0.7}", &kernel);
  *out = kernel;
  return status == MERCER_OK;
}

static int gram_matrix(double* x, double* k) {
  mercer_rows X = mercer_rows_f64(n, d, x);
  mercer_matrix K = mercer_matrix_f64(n, n, k);
  double lengthscale = 0;
  mercer_status status = mercer_lengthscale_median(X, 100000, 0, NULL, &lengthscale);
  mercer_kernel* kernel = NULL;
  char spec[64];
  snprintf(spec, sizeof spec, "{\"kernel\":\"gaussian\",\"lengthscale\":%.17g}", lengthscale);
  if (status == MERCER_OK) status = mercer_kernel_from_spec(spec, &kernel);
  if (status == MERCER_OK) status = mercer_kernel_gram(kernel, X, X, (mercer_rows){0}, NULL, K);
  mercer_kernel_free(kernel);
  return status == MERCER_OK && lengthscale > 0 && k[0] == 1 && k[1] == k[n];
}

/* ---- map.h ---- */

static int fourier_features(mercer_map** out) {
  return mercer_map_from_spec(
             "{\"map\":\"fourier\",\"kernel\":{\"kernel\":\"matern\",\"nu\":1.5},"
             "\"inputs\":3,\"features\":4096,\"projection\":\"sorf\",\"seed\":1}",
             out) == MERCER_OK;
}

static int map_by_spec(void) {
  mercer_map* map = NULL;
  mercer_status status = mercer_map_from_spec(
      "{\"map\":\"linear\",\"kernel\":{\"kernel\":\"polynomial\",\"degree\":1},"
      "\"projection\":\"countsketch\",\"inputs\":10000,\"features\":256,\"seed\":7}",
      &map);
  mercer_map_free(map);
  return status == MERCER_OK;
}

static int features_of_rows(const mercer_map* map, float* x, float* z) {
  mercer_rows X = mercer_rows_f32(n, d, x);
  mercer_matrix Z = mercer_matrix_f32(n, 100, z);
  mercer_transform_options options = {.struct_size = sizeof options};
  options.begin = 100;
  options.end = 200;
  mercer_status status = mercer_map_transform(map, X, &options, NULL, Z);
  return status == MERCER_OK && z[100 * n - 1] != 0;
}

/* ---- map_error.h ---- */

static int errors_of_the_estimate(const mercer_map* map, double* x) {
  mercer_rows X = mercer_rows_f64(n, d, x);
  double measured = 0, predicted = 0;
  mercer_status status =
      mercer_map_kernel_error(map, X, MERCER_KERNEL_ERROR_MEASURED, NULL, &measured);
  if (status == MERCER_OK) {
    status = mercer_map_kernel_error(map, X, MERCER_KERNEL_ERROR_PREDICTED, NULL, &predicted);
  }
  return status == MERCER_OK && measured > 0 && measured < 0.5 && predicted > 0 && predicted < 0.5;
}

/* ---- derivative.h ---- */

static int derivatives_of_features(const mercer_map* map, double* x, double* ones, double* dz,
                                   double* dx) {
  mercer_rows X = mercer_rows_f64(n, d, x);
  mercer_derivative what = {.struct_size = sizeof what, .kind = MERCER_DERIVATIVE_GRADIENT};
  mercer_matrix dZ = mercer_matrix_f64(n, d * D, dz);
  mercer_status status = mercer_map_derivative(map, X, &what, NULL, dZ);
  for (int64_t j = 0; j < n * D; ++j) ones[j] = 1;
  mercer_rows G = mercer_rows_f64(n, D, ones);
  mercer_matrix sums = mercer_matrix_f64(n, d, dx);
  if (status == MERCER_OK) {
    what.kind = MERCER_DERIVATIVE_VJP;
    what.vectors = G;
    status = mercer_map_derivative(map, X, &what, NULL, sums);
  }
  double sum = 0;
  for (int64_t j = 0; j < D; ++j) sum += dz[D + j];
  return status == MERCER_OK && fabs(sum - dx[1]) < 1e-12 * D;
}

static int derivatives_of_kernels(const mercer_kernel* kernel, double* x, double* k) {
  mercer_rows X = mercer_rows_f64(n, d, x);
  int32_t p[] = {1, 0, 0};
  int32_t q[] = {0, 1, 0};
  mercer_matrix K = mercer_matrix_f64(n, n, k);
  mercer_status status = mercer_kernel_derivative(kernel, X, X, p, q, NULL, K);
  return status == MERCER_OK && k[0] == 0 && k[1] != 0;
}

static int learning_from_derivatives(const mercer_map* map, double* x, double* y, double* dy,
                                     double* g) {
  for (int i = 0; i < n; ++i) dy[i] = 1;
  mercer_rows X = mercer_rows_f64(n, d, x);
  mercer_rows Y = mercer_rows_f64(n, 1, y);
  mercer_rows dY = mercer_rows_f64(n, 1, dy);
  int32_t first[] = {1, 0, 0};
  mercer_observations sets[] = {mercer_observations_of(NULL, 1.0, X, Y),
                                mercer_observations_of(first, 0.5, X, dY)};
  mercer_model* model = NULL;
  mercer_data data = {.struct_size = sizeof data, .sets = sets, .set_count = 2, .map = map};
  mercer_status status = mercer_model_fit("{\"lambda\":1e-6}", &data, NULL, &model);
  mercer_matrix gradient = mercer_matrix_f64(n, d, g);
  if (status == MERCER_OK)
    status = mercer_model_predict(model, X, "gradient", NULL, NULL, gradient);
  mercer_model_free(model);
  return status == MERCER_OK && fabs(g[0] - 1) < 0.1 && fabs(g[d] - 1) < 0.1;
}

/* ---- bound.h ---- */

static int frequencies_for_derivatives(void) {
  const char* json =
      "{\"bound\":\"derivative\",\"kernel\":{\"kernel\":\"gaussian\"},\"inputs\":3,"
      "\"p\":[1,0,0],\"diameter\":2,\"delta\":0.01,\"epsilon\":0.5}";
  char answer[1024];
  mercer_status status = mercer_bound(json, answer, sizeof answer, NULL);
  const char* found = status == MERCER_OK ? strstr(answer, "\"frequencies\":") : NULL;
  return found != NULL && strtod(found + 14, NULL) > 4096;
}

/* ---- kernel.h ---- */

static int field_kernel(double* x, double* u, double* values) {
  mercer_kernel* field = NULL;
  mercer_status status = mercer_kernel_from_spec(
      "{\"kernel\":\"curl_free\",\"scalar\":{\"kernel\":\"gaussian\",\"lengthscale\":0.7}}",
      &field);
  mercer_rows X = mercer_rows_f64(n, d, x);
  mercer_rows U = mercer_rows_f64(n, 2 * d, u);
  mercer_matrix f = mercer_matrix_f64(n, 2 * d, values);
  if (status == MERCER_OK) status = mercer_kernel_gram(field, X, X, U, NULL, f);
  mercer_kernel_free(field);
  return status == MERCER_OK && values[0] != 0;
}

static int field_without_sources(double* x) {
  static double theta[120], field[n * 3], divergence[n], sums[120];
  for (int i = 0; i < 120; ++i) theta[i] = cos(i);
  mercer_map* map = NULL;
  mercer_status status = mercer_map_from_spec(
      "{\"map\":\"fourier\",\"kernel\":{\"kernel\":\"divergence_free\"},"
      "\"inputs\":3,\"features\":120,\"seed\":1}",
      &map);
  mercer_rows X = mercer_rows_f64(n, 3, x);
  mercer_rows coefficients = mercer_rows_f64(120, 1, theta);
  mercer_matrix f = mercer_matrix_f64(n, 3, field);
  mercer_matrix sources = mercer_matrix_f64(n, 1, divergence);
  if (status == MERCER_OK)
    status = mercer_map_multiply(map, X, coefficients, MERCER_FIELD_VALUE, NULL, f);
  if (status == MERCER_OK)
    status = mercer_map_multiply(map, X, coefficients, MERCER_FIELD_DIVERGENCE, NULL, sources);
  mercer_rows Y = mercer_rows_f64(n, 3, field);
  mercer_matrix back = mercer_matrix_f64(120, 1, sums);
  if (status == MERCER_OK) status = mercer_map_adjoint(map, X, Y, NULL, back);
  mercer_map_free(map);
  /* theta'sum_i Phi_i f_i = sum_i |f_i|^2. */
  double inner = 0, squares = 0, most = 0;
  for (int i = 0; i < 120; ++i) inner += theta[i] * sums[i];
  for (int i = 0; i < n * 3; ++i) squares += field[i] * field[i];
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(divergence[i]));
  return status == MERCER_OK && fabs(inner - squares) < 1e-10 * squares && most < 1e-12;
}

/* ---- codes.h ---- */

static int codes_of_classes(void) {
  enum { T = 3 };
  double vectors[(T - 1) * T];
  mercer_matrix code = mercer_matrix_f64(T - 1, T, vectors);
  mercer_status status = mercer_simplex_code(code);
  return status == MERCER_OK && fabs(vectors[0] * vectors[1] + 0.5) < 1e-15;
}

static int binary_codes(const mercer_kernel* kernel, float* x, double* values) {
  static uint64_t codes[n * 16];
  static int32_t distances[n * n];
  const int64_t bits = 1024, words = 16;
  mercer_map_data of = {.struct_size = sizeof of, .kernel = kernel};
  const char* spec = "{\"map\":\"fourier\",\"form\":\"phase\",\"inputs\":3,\"features\":1024}";
  mercer_map* map = NULL;
  mercer_status status = mercer_map_fit(spec, &of, NULL, &map);
  mercer_rows X = mercer_rows_f32(n, d, x);
  if (status == MERCER_OK) status = mercer_map_codes(map, X, words, NULL, codes);
  if (status == MERCER_OK)
    status = mercer_codes_hamming(words, n, codes, n, codes, NULL, distances);
  if (status == MERCER_OK) status = mercer_codes_kernel(kernel, bits, n * n, distances, values);
  mercer_map_free(map);
  return status == MERCER_OK && values[0] == 1 && values[1] < 1 && distances[1] == distances[n];
}

/* ---- sketch.h ---- */

static int sketch_by_spec(void) {
  mercer_map* sketch = NULL;
  mercer_status status = mercer_map_from_spec(
      "{\"map\":\"tensor_srht\","
      "\"kernel\":{\"kernel\":\"polynomial\",\"degree\":3,\"offset\":1},"
      "\"inputs\":50,\"features\":1024}",
      &sketch);
  mercer_map_free(sketch);
  return status == MERCER_OK;
}

static int recommended_map(double* x) {
  mercer_rows X = mercer_rows_f64(n, d, x);
  mercer_map* best = NULL;
  char answer[16384];
  mercer_status status =
      mercer_map_recommend("{\"kernel\":{\"kernel\":\"gaussian\"},\"error\":0.05}", X, NULL, &best,
                           answer, sizeof answer, NULL);
  mercer_map_free(best);
  return status == MERCER_OK && strstr(answer, "\"maps\"") != NULL;
}

static int tested_rows(double* x, double* y) {
  enum { m = 10 };
  mercer_rows X = mercer_rows_f64(n, d, x);
  mercer_rows Y = mercer_rows_f64(m, d, y);
  char answer[16384];
  mercer_status status = mercer_rows_test("{\"test\":\"mmd\",\"witnesses\":5}", X, Y, NULL, answer,
                                          sizeof answer, NULL);
  return status == MERCER_OK && strstr(answer, "\"p_value\"") != NULL;
}

static int streamed_test(double* x, double* y) {
  enum { m = 10 };
  mercer_rows X0 = mercer_rows_f64(n / 2, d, x);
  mercer_rows X1 = mercer_rows_f64(n / 2, d, x + n / 2 * d);
  mercer_rows Y = mercer_rows_f64(m, d, y);
  static char answer[16384];
  const char* json = "{\"test\":\"mmd\"}";
  mercer_rows_sums* sums = NULL;
  mercer_status status = mercer_rows_sums_create(json, n, m, X0, Y, NULL, &sums);
  if (status == MERCER_OK) status = mercer_rows_sums_add(sums, 0, 0, X0, NULL);
  if (status == MERCER_OK) status = mercer_rows_sums_add(sums, 0, n / 2, X1, NULL);
  if (status == MERCER_OK) status = mercer_rows_sums_add(sums, 1, 0, Y, NULL);
  if (status == MERCER_OK)
    status = mercer_rows_sums_answer(sums, NULL, answer, sizeof answer, NULL);
  mercer_rows_sums_free(sums);
  return status == MERCER_OK && strstr(answer, "\"p_value\"") != NULL;
}

static int linear_attention(float* q, float* k, float* v, float* out) {
  mercer_map* map = NULL;
  char spec[200];
  snprintf(spec, sizeof spec,
           "{\"map\":\"positive\",\"kernel\":{\"kernel\":\"exponential\"},\"inputs\":%d,"
           "\"features\":32}",
           d);
  if (mercer_map_from_spec(spec, &map) != MERCER_OK) return 0;
  mercer_tokens tokens = {.struct_size = sizeof tokens, .causal = 1, .heads = 8};
  tokens.Q = mercer_rows_f32(n, 8 * d, q);
  tokens.K = mercer_rows_f32(n, 8 * d, k);
  tokens.V = mercer_rows_f32(n, 8 * d, v);
  mercer_status status = mercer_attend(map, &tokens, NULL, mercer_matrix_f32(n, 8 * d, out));
  mercer_map_free(map);
  /* Causal: the first token sees itself alone. */
  return status == MERCER_OK && out[0] > 0.999f * v[0] - 1e-6f && out[0] < 1.001f * v[0] + 1e-6f;
}

static int token_by_token(float* q, float* k, float* v, float* out) {
  mercer_map* map = NULL;
  char spec[200];
  snprintf(spec, sizeof spec,
           "{\"map\":\"positive\",\"kernel\":{\"kernel\":\"exponential\"},\"inputs\":%d,"
           "\"features\":32}",
           d);
  if (mercer_map_from_spec(spec, &map) != MERCER_OK) return 0;
  mercer_attention* state = NULL;
  mercer_status status = mercer_attention_create(map, 1, 8, d, &state);
  mercer_tokens prompt = {.struct_size = sizeof prompt};
  prompt.K = mercer_rows_f32(n, 8 * d, k);
  prompt.V = mercer_rows_f32(n, 8 * d, v);
  mercer_matrix none = {0};
  if (status == MERCER_OK) status = mercer_attention_step(state, &prompt, NULL, none);
  mercer_tokens next = {.struct_size = sizeof next, .causal = 1};
  next.Q = mercer_rows_f32(1, 8 * d, q);
  next.K = mercer_rows_f32(1, 8 * d, k);
  next.V = mercer_rows_f32(1, 8 * d, v);
  mercer_matrix o = mercer_matrix_f32(1, 8 * d, out);
  if (status == MERCER_OK) status = mercer_attention_step(state, &next, NULL, o);
  mercer_attention_free(state);
  mercer_map_free(map);
  return status == MERCER_OK && out[0] == out[0];
}

static int self_tested(void) {
  char report[32768];
  if (mercer_self_test(NULL, report, sizeof report, NULL) == MERCER_OK) puts(report);
  return strstr(report, "\"passed\":true") != NULL;
}

static int bilinear_pooling(float* x, float* y, float* z) {
  mercer_map* map = NULL;
  mercer_status status = mercer_map_from_spec(
      "{\"map\":\"tensor_srht\",\"kernel\":{\"kernel\":\"bilinear\",\"left\":512},"
      "\"inputs\":768,\"features\":2048}",
      &map);
  mercer_rows X = mercer_rows_f32(49 * n, 512, x);
  mercer_rows Y = mercer_rows_f32(49 * n, 256, y);
  mercer_matrix Z = mercer_matrix_f32(n, 2048, z);
  mercer_transform_options options = {.struct_size = sizeof options};
  options.right = Y;
  options.locations = 49;
  if (status == MERCER_OK) status = mercer_map_transform(map, X, &options, NULL, Z);
  mercer_map_free(map);
  return status == MERCER_OK && z[0] != 0;
}

/* ---- transform.h ---- */

static int walsh_hadamard(void) {
  double x[2][4] = {{1, 0, 0, 0}, {1, 2, 3, 4}};
  mercer_matrix X = mercer_matrix_f64(2, 4, x[0]);
  mercer_status status = mercer_fwht(X, NULL);
  return status == MERCER_OK && x[0][3] == 1 && x[1][0] == 10;
}

/* ---- statistics.h ---- */

static int row_statistics(void) {
  float* z[] = {z32, z32 + 100 * n};
  double* y[] = {y64, y64};
  mercer_statistics* statistics = NULL;
  mercer_status status = mercer_statistics_create(100, 1, &statistics);
  for (int block = 0; block < 2 && status == MERCER_OK; ++block) {
    mercer_rows Z = mercer_rows_f32(n, 100, z[block]);
    mercer_rows Y = mercer_rows_f64(n, 1, y[block]);
    status = mercer_statistics_add(statistics, 1, Z, Y, NULL);
  }
  mercer_shape shape = {.struct_size = sizeof shape};
  if (status == MERCER_OK) status = mercer_statistics_shape(statistics, &shape);
  mercer_statistics_free(statistics);
  return status == MERCER_OK && shape.rows == 2 * n;
}

/* ---- ridge.h ---- */

static int ridge_path(const mercer_statistics* statistics, double* w) {
  double b[1] = {0};
  mercer_ridge* ridge = NULL;
  mercer_status status = mercer_ridge_create(statistics, 1, NULL, &ridge);
  double few = 0, many = 0;
  mercer_matrix gcv = mercer_matrix_f64(1, 1, &few);
  if (status == MERCER_OK) status = mercer_ridge_error(ridge, 1e-6, NULL, gcv, NULL);
  gcv.data = &many;
  if (status == MERCER_OK) status = mercer_ridge_error(ridge, 1e-3, NULL, gcv, NULL);
  double penalty = few < many ? 1e-6 : 1e-3;
  mercer_matrix weights = mercer_matrix_f64(D, 1, w);
  mercer_matrix intercept = mercer_matrix_f64(1, 1, b);
  if (status == MERCER_OK) status = mercer_ridge_solve(ridge, penalty, weights, intercept);
  mercer_ridge_free(ridge);
  return status == MERCER_OK && w[0] != 0 && b[0] != 0;
}

/* ---- model.h ---- */

static int models(float* x, double* y, double* f, mercer_model** out) {
  mercer_rows X = mercer_rows_f32(n, d, x);
  mercer_rows Y = mercer_rows_f64(n, 1, y);
  mercer_data data = mercer_data_of(X, Y);
  mercer_matrix scores = mercer_matrix_f64(n, 1, f);
  mercer_model* model = NULL;
  mercer_status status = mercer_model_fit("{}", &data, NULL, &model);
  if (status == MERCER_OK) status = mercer_model_predict(model, X, "value", NULL, NULL, scores);
  *out = model;
  return status == MERCER_OK && fabs(f[0] - y[0]) < 0.5;
}

static int parts_of_a_model(mercer_model* model) {
  mercer_status status = mercer_model_set_metadata(model, "{\"columns\":[\"x\",\"y\"]}");
  mercer_model_info info = {.struct_size = sizeof info};
  if (status == MERCER_OK) status = mercer_model_shape(model, &info);
  return status == MERCER_OK && info.outputs == 1 && info.penalty > 0;
}

/* ---- data.h ---- */

struct reader {
  int read;
};

static int32_t rewind_rows(void* user) {
  ((struct reader*)user)->read = 0;
  return 0;
}

static int32_t next_rows(void* user, mercer_rows* X, mercer_rows* Y) {
  struct reader* reader = user;
  if (reader->read) return 0;
  reader->read = 1;
  *X = mercer_rows_f64(n, d, x64);
  *Y = mercer_rows_f64(n, 1, y64);
  return 0;
}

static int rows_from_a_source(struct reader* file) {
  mercer_row_source source = {.struct_size = sizeof source, .d = d, .m = 1, .rewind = rewind_rows,
                              .next = next_rows, .user = file};
  mercer_data data = {.struct_size = sizeof data, .source = &source};
  mercer_model* model = NULL;
  mercer_status status = mercer_model_fit("{}", &data, NULL, &model);
  mercer_model_free(model);
  return status == MERCER_OK;
}

/* ---- score.h ---- */

static int metrics(double* f, double* y) {
  mercer_rows F = mercer_rows_f64(n, 1, f);
  mercer_rows Y = mercer_rows_f64(n, 1, y);
  mercer_score_options options = {sizeof options, MERCER_METRIC_MAE, 0, 0, NULL};
  double error = 0;
  mercer_status status = mercer_prediction_score(F, Y, 0, &options, NULL, &error);
  double expected = 0;
  for (int i = 0; i < n; ++i) expected += fabs(y[i] - f[i]) / n;
  return status == MERCER_OK && fabs(error - expected) < 1e-12 * (1 + expected);
}

/* ---- io.h ---- */

static int files(const mercer_model* model, const mercer_statistics* statistics, const char* path) {
  mercer_status status = mercer_model_write(model, path, NULL, 0, NULL);
  mercer_model* loaded = NULL;
  if (status == MERCER_OK) status = mercer_model_read(path, NULL, 0, &loaded);
  int64_t size = 0;
  if (status == MERCER_OK) status = mercer_statistics_write(statistics, NULL, NULL, 0, &size);
  void* bytes = malloc((size_t)size);
  if (status == MERCER_OK) status = mercer_statistics_write(statistics, NULL, bytes, size, NULL);
  mercer_statistics* copy = NULL;
  if (status == MERCER_OK) status = mercer_statistics_read(NULL, bytes, size, &copy);
  mercer_shape shape = {.struct_size = sizeof shape};
  if (status == MERCER_OK) status = mercer_statistics_shape(copy, &shape);
  mercer_statistics_free(copy);
  mercer_model_free(loaded);
  free(bytes);
  return status == MERCER_OK && shape.rows == n && remove(path) == 0;
}

static int failed = 0;

static void expect(int worked, const char* example) {
  if (worked) return;
  fprintf(stderr, "%s: not what the header says; last error: %s\n", example, mercer_last_error());
  failed = 1;
}

#define RUN(example, arguments) expect(example arguments, #example)

/* ---- arrow.h ---- */

/* A table of columns x0, x1, x2 and y as a stream of one batch, without nulls. */
struct table {
  const void* buffers[d + 2][2];
  struct ArrowArray columns[d + 1];
  struct ArrowArray* arrays[d + 1];
  struct ArrowSchema schemas[d + 1];
  struct ArrowSchema* schema[d + 1];
  double x[d][n];
  int read;
};
static void release_schema(struct ArrowSchema* schema) { schema->release = NULL; }
static void release_array(struct ArrowArray* array) { array->release = NULL; }
static void release_stream(struct ArrowArrayStream* stream) { stream->release = NULL; }
static const char* no_error(struct ArrowArrayStream* stream) {
  (void)stream;
  return NULL;
}
static int table_schema(struct ArrowArrayStream* stream, struct ArrowSchema* out) {
  struct table* table = stream->private_data;
  struct ArrowSchema all = {"+s", "", NULL, 0, d + 1, table->schema, NULL, release_schema, NULL};
  *out = all;
  return 0;
}
static int table_next(struct ArrowArrayStream* stream, struct ArrowArray* out) {
  struct table* table = stream->private_data;
  struct ArrowArray all = {
      n, 0, 0, 1, d + 1, table->buffers[d + 1], table->arrays, NULL, release_array, NULL};
  if (table->read++ > 0) all.release = NULL;
  *out = all;
  return 0;
}
static int32_t scan(void* user, struct ArrowArrayStream* out) {
  struct ArrowArrayStream stream = {table_schema, table_next, no_error, release_stream, NULL};
  stream.private_data = user;
  ((struct table*)user)->read = 0;
  *out = stream;
  return 0;
}
static void fill_table(struct table* table) {
  static const char* const names[] = {"x0", "x1", "x2", "y"};
  for (int j = 0; j <= d; ++j) {
    struct ArrowSchema schema = {"g", names[j], NULL, 0, 0, NULL, NULL, release_schema, NULL};
    struct ArrowArray array = {n, 0, 0, 2, 0, table->buffers[j], NULL, NULL, release_array, NULL};
    for (int i = 0; j < d && i < n; ++i) table->x[j][i] = x64[i * d + j];
    table->buffers[j][1] = j < d ? table->x[j] : y64;
    table->schemas[j] = schema;
    table->columns[j] = array;
    table->schema[j] = &table->schemas[j];
    table->arrays[j] = &table->columns[j];
  }
}

static int rows_of_a_stream(struct table* table) {
  fill_table(table);
  const char* y = "y";
  mercer_arrow_source* arrow = NULL;
  mercer_row_source rows = {.struct_size = sizeof rows};
  mercer_status status = mercer_arrow_source_create(scan, table, 1, &y, NULL, &arrow, &rows);
  mercer_data data = {.struct_size = sizeof data, .source = &rows};
  mercer_model* model = NULL;
  if (status == MERCER_OK) status = mercer_model_fit("{}", &data, NULL, &model);
  mercer_arrow_source_free(arrow);
  const int fitted = status == MERCER_OK && model != NULL && rows.d == d;
  mercer_model_free(model);
  return fitted;
}

int main(void) {
  static double w[D], f[n * d], k[n * n], dz[n * d * D], ones[n * D];
  static float z[n * (4096 + 5)];
  mercer_context* context = NULL;
  char small_spec[120];
  mercer_kernel *kernel = NULL, *polynomial = NULL, *gaussian = NULL;
  mercer_map *map = NULL, *small = NULL;
  mercer_model* model = NULL;
  mercer_statistics* statistics = NULL;
  mercer_rows Z = mercer_rows_f64(n, D, z64), Y = mercer_rows_f64(n, 1, y64);
  struct reader file = {0};
  static struct table table;
  fill();
  snprintf(
      small_spec, sizeof small_spec,
      "{\"map\":\"fourier\",\"kernel\":{\"kernel\":\"gaussian\"},\"inputs\":%d,\"features\":%d}", d,
      D);
  expect(mercer_statistics_create(D, 1, &statistics) == MERCER_OK &&
             mercer_statistics_add(statistics, 1, Z, Y, NULL) == MERCER_OK &&
             mercer_kernel_from_spec("{\"kernel\":\"polynomial\"}", &polynomial) == MERCER_OK &&
             mercer_kernel_from_spec("{\"kernel\":\"gaussian\"}", &gaussian) == MERCER_OK &&
             mercer_map_from_spec(small_spec, &small) == MERCER_OK,
         "what the examples need");
  RUN(status_and_error_text, ());
  RUN(execution_context, (&context));
  RUN(custom_kernel, ());
  RUN(kernel_by_spec, (&kernel));
  RUN(sparse_rows, (kernel));
  RUN(gram_matrix, (x64, k));
  RUN(fourier_features, (&map));
  RUN(map_by_spec, ());
  RUN(views, (map, x32, z, 4096 + 5));
  RUN(features_of_rows, (map, x32, z));
  RUN(errors_of_the_estimate, (map, x64));
  RUN(derivatives_of_features, (small, x64, ones, dz, f));
  RUN(derivatives_of_kernels, (gaussian, x64, k));
  RUN(frequencies_for_derivatives, ());
  RUN(learning_from_derivatives, (small, x64, y64, ones, f));
  RUN(field_kernel, (x64, z64, k));
  RUN(field_without_sources, (x64));
  RUN(codes_of_classes, ());
  RUN(binary_codes, (gaussian, x32, k));
  RUN(sketch_by_spec, ());
  RUN(recommended_map, (x64));
  RUN(tested_rows, (x64, z64));
  RUN(streamed_test, (x64, z64));
  RUN(linear_attention, (z32, z32 + 8 * n * d, z32 + 16 * n * d, pooled));
  RUN(token_by_token, (z32, z32 + 8 * n * d, z32 + 16 * n * d, pooled));
  RUN(self_tested, ());
  RUN(bilinear_pooling, (z32, z32, pooled));
  RUN(walsh_hadamard, ());
  RUN(row_statistics, ());
  RUN(ridge_path, (statistics, w));
  RUN(models, (x32, y64, f, &model));
  RUN(metrics, (f, y64));
  RUN(parts_of_a_model, (model));
  RUN(rows_from_a_source, (&file));
  RUN(rows_of_a_stream, (&table));
  RUN(files, (model, statistics, "header_example.mercer"));
  mercer_statistics_free(statistics);
  mercer_model_free(model);
  mercer_map_free(map);
  mercer_map_free(small);
  mercer_kernel_free(gaussian);
  mercer_kernel_free(polynomial);
  mercer_kernel_free(kernel);
  mercer_context_free(context);
  return failed;
}
