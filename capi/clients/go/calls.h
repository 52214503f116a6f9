/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * Views and options of C hold pointers: they are made here, from numbers, and pointers that Go passes by value. Those of this struct
 * are of numbers, which Go passes without looking for further pointers beside them. */
#ifndef MERCER_GO_CALLS_H
#define MERCER_GO_CALLS_H

#include <mercer/mercer.h>
#include <stdlib.h>
#include <unistd.h>

/* Callbacks of Go; each is given a cgo.Handle. */
int32_t mercerGoProgress(uintptr_t, int64_t, int64_t);
void mercerGoTrial(uintptr_t, char*);
int32_t mercerGoRewind(uintptr_t);
int32_t mercerGoNext(uintptr_t, mercer_rows*, mercer_rows*);
int32_t mercerGoSum(uintptr_t, int64_t, double*);

/* Whether there is memory for a large array of Go's heap, which grows by 64 MB; what malloc gives is not touched. */
static inline int32_t go_room(double bytes) {
  if (bytes < (64 << 20)) return 1;
  if (bytes > (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE)) return 0;
  void* volatile room = malloc((size_t)bytes + (64 << 20));
  free(room);
  return room != NULL;
}

/* Dense, or CSR where there are offsets; d = 0: absent. */
typedef struct go_rows {
  int32_t number;
  int64_t n, d, nnz;
  const char* values;
  const int64_t *offsets, *indices;
} go_rows;

static inline mercer_rows go_view(go_rows rows) {
  mercer_rows absent = {0};
  if (rows.d == 0) return absent;
  if (rows.offsets == NULL) return mercer_rows_dense(rows.number, rows.n, rows.d, rows.values);
  return mercer_rows_csr(rows.number, MERCER_INDEX_I64, rows.n, rows.d, rows.nnz, rows.offsets, rows.indices, rows.values);
}

static inline int32_t go_progress(void* user, int64_t done, int64_t total) {
  return mercerGoProgress(*(const uintptr_t*)user, done, total);
}
static inline void go_trial(void* user, const char* json) { mercerGoTrial(*(const uintptr_t*)user, (char*)json); }

/* user: memory of C for the handle of a call; NULL: no callbacks. */
static inline mercer_status go_context(int32_t threads, int64_t memory_cap, uintptr_t* user, mercer_context** out) {
  mercer_context_options options = {.struct_size = sizeof options, .threads = threads, .memory_cap = memory_cap, .user = user};
  if (user != NULL) options.progress = go_progress, options.trial = go_trial;
  return mercer_context_create(&options, out);
}

static inline mercer_status go_gram(const mercer_kernel* kernel, go_rows X, go_rows Y, mercer_context* context, double* K) {
  mercer_rows none = {0};
  return mercer_kernel_gram(kernel, go_view(X), go_view(Y), none, context, mercer_matrix_f64(X.n, Y.n, K));
}

static inline mercer_status go_lengthscale_median(go_rows X, int64_t max_pairs, uint64_t seed, mercer_context* context, double* median) {
  return mercer_lengthscale_median(go_view(X), max_pairs, seed, context, median);
}

static inline mercer_status go_rows_test(const char* json, go_rows X, go_rows Y, mercer_context* context, char* buffer, int64_t capacity,
                                         int64_t* needed) {
  return mercer_rows_test(json, go_view(X), go_view(Y), context, buffer, capacity, needed);
}

static inline mercer_status go_map_fit(const char* json, go_rows X, go_rows Y, mercer_context* context, mercer_map** out) {
  mercer_map_data data = {.struct_size = sizeof data, .X = go_view(X), .Y = go_view(Y)};
  return mercer_map_fit(json, &data, context, out);
}

static inline mercer_status go_transform(const mercer_map* map, go_rows X, mercer_context* context, int32_t number, int64_t rows,
                                         int64_t cols, char* Z) {
  return mercer_map_transform(map, go_view(X), NULL, context, mercer_matrix_of(number, rows, cols, Z));
}

static inline mercer_status go_transform_csr(const mercer_map* map, go_rows X, mercer_context* context, int64_t* offsets, int64_t* indices,
                                             double* values, int64_t capacity, int64_t* needed) {
  return mercer_map_transform_csr(map, go_view(X), context, offsets, indices, values, capacity, needed);
}

static inline mercer_status go_frequencies(const mercer_map* map, int64_t count, int64_t d, double* omega) {
  return mercer_map_frequencies(map, NULL, mercer_matrix_f64(count, d, omega));
}

static inline mercer_status go_weights(const mercer_model* model, int64_t rows, int64_t outputs, double* w, double* intercept) {
  return mercer_model_weights(model, mercer_matrix_f64(rows, outputs, w), mercer_matrix_f64(1, outputs, intercept));
}

static inline mercer_status go_kernel_error(const mercer_map* map, go_rows X, int32_t which, mercer_context* context, double* error) {
  return mercer_map_kernel_error(map, go_view(X), which, context, error);
}

static inline mercer_status go_derivative(const mercer_map* map, go_rows X, int32_t kind, go_rows V, mercer_context* context, int32_t number,
                                          int64_t rows, int64_t cols, char* out) {
  mercer_derivative what = {.struct_size = sizeof what, .kind = kind, .vectors = go_view(V)};
  return mercer_map_derivative(map, go_view(X), &what, context, mercer_matrix_of(number, rows, cols, out));
}

static inline int32_t go_rewind(void* user) { return mercerGoRewind((uintptr_t)user); }
static inline int32_t go_next(void* user, mercer_rows* X, mercer_rows* Y) { return mercerGoNext((uintptr_t)user, X, Y); }

static inline int32_t go_sum(void* user, int64_t n, double* numbers) { return mercerGoSum((uintptr_t)user, n, numbers); }

/* A source by its handle, 0: none; sets: memory of C. */
static inline mercer_status go_model_fit(const char* json, go_rows X, go_rows Y, const double* weights, go_rows groups,
                                         const mercer_map* map, uintptr_t source, int64_t d, int64_t m, int32_t weighted, int32_t shared,
                                         int64_t set_count, const mercer_observations* sets, mercer_context* context,
                                         mercer_model** out) {
  mercer_row_source rows = {sizeof rows, weighted, d, m, go_rewind, go_next, (void*)source, shared ? go_sum : NULL, 0};
  mercer_data data = {.struct_size = sizeof data, .X = go_view(X), .Y = go_view(Y), .groups = go_view(groups)};
  data.weights = weights, data.map = map;
  data.set_count = set_count, data.sets = sets;
  if (source != 0) data.source = &rows;
  return mercer_model_fit(json, &data, context, out);
}

static inline mercer_status go_model_update(const mercer_model* model, const char* json, go_rows X, go_rows Y, const double* weights,
                                            go_rows groups, mercer_context* context, mercer_model** out) {
  mercer_data data = {.struct_size = sizeof data, .X = go_view(X), .Y = go_view(Y), .groups = go_view(groups)};
  data.weights = weights;
  return mercer_model_update(model, json, &data, context, out);
}

/* outside: NULL, or room for 3 + d counts: of rows, values, limited predictions, and rows by input. columns: NULL, or where the number of
 * columns goes, in place of predictions. */
static inline mercer_status go_predict(const mercer_model* model, go_rows X, const char* what, int32_t extrapolation, int64_t* outside,
                                       int64_t partial_count, const int32_t* partials, int64_t quantile_count, const double* quantiles,
                                       int64_t samples, uint64_t seed, mercer_context* context, int64_t* columns, int64_t cols, double* f) {
  mercer_matrix none = {0};
  mercer_predict_options options = {.struct_size = sizeof options, .extrapolation = extrapolation};
  if (outside != NULL) {
    options.rows_outside = outside, options.values_outside = outside + 1;
    options.predictions_limited = outside + 2, options.inputs_outside = outside + 3;
  }
  options.partial_count = partial_count, options.partials = partials;
  options.quantile_count = quantile_count, options.quantiles = quantiles;
  options.sample_count = samples, options.seed = seed, options.columns = columns;
  return mercer_model_predict(model, go_view(X), what, &options, context, columns ? none : mercer_matrix_f64(X.n, cols, f));
}

#endif
