/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * Ridge whose features the processes of mpirun divide: the answer of one process by another route, the
 * same bits again, criteria by closed forms, what travels, and an end for all, by name, where one
 * fails. Usage: mpirun -n P scalapack_test [measure FEATURES ROWS [PENALTIES [METHOD]]: of generated
 * rows of 20 inputs, seconds, memory and how well the normal equations hold] */
#include <math.h>
#include <mercer/mercer.h>
#include <mercer/scalapack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { n = 240, d = 4, m = 2, most_features = 64, most_penalties = 5 };

static int ranks = 1, rank = 0, failures = 0, is_mpi_broken = 0;
static double x[n * d], y[n * m], weights[n];

static void check(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "rank %d of %d, line %d: %s\n", rank, ranks, line, what);
}
#define CHECK(holds) check((holds) != 0, #holds, __LINE__)

/* The library's call of MPI comes here, and fails where that is asked for. */
int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int counts[],
                   const int starts[], MPI_Datatype other, MPI_Comm comm) {
  const int code = PMPI_Allgatherv(from, count, type, to, counts, starts, other, comm);
  return is_mpi_broken ? MPI_ERR_OTHER : code;
}

static double drawn(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

static void draw_rows(void) {
  uint64_t state = 7;
  int64_t i, j;
  for (i = 0; i < n; ++i) {
    for (j = 0; j < d; ++j) x[i * d + j] = 4 * drawn(&state) - 2;
    y[i * m] = sin(2 * x[i * d]) + x[i * d + 1] * x[i * d + 2] + 2 * drawn(&state);
    y[i * m + 1] = 1000 + cos(x[i * d] + x[i * d + 3]) + 2 * drawn(&state);
    weights[i] = (double)(i % 4);
  }
}

static mercer_map* map_of(const char* spec) {
  mercer_map* map = NULL;
  CHECK(mercer_map_from_spec(spec, &map) == MERCER_OK);
  return map;
}

static int64_t features_of(const mercer_map* map) {
  mercer_map_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  CHECK(mercer_map_shape(map, &info) == MERCER_OK);
  return info.features;
}

/* ---- Rows of a process. ---- */

/* way 0: unequal parts; 1: the first of several processes has none. */
static void part_of(int way, int64_t rows, int64_t* first, int64_t* last) {
  const int64_t shares = way == 0 ? (int64_t)ranks * (ranks + 1) / 2 : ranks > 1 ? ranks - 1 : 1;
  const int64_t before = way == 0 ? (int64_t)rank * (rank + 1) / 2 : ranks > 1 ? rank - 1 : 0;
  const int64_t own = way == 0 ? rank + 1 : 1;
  *first = before < 0 ? 0 : rows * before / shares;
  *last = before < 0 ? 0 : rows * (before + own) / shares;
}

static mercer_data own_data(int way, int64_t rows, int is_weighted) {
  int64_t first, last;
  mercer_data data;
  part_of(way, rows, &first, &last);
  data = mercer_data_of(mercer_rows_f64(last - first, d, x + first * d),
                        mercer_rows_f64(last - first, m, y + first * m));
  data.weights = is_weighted ? weights + first : NULL;
  return data;
}

/* ---- One answer. ---- */

typedef struct Answer {
  double w[most_features * m], intercept[m], scores[most_penalties * m];
  mercer_scalapack_result result;
} Answer;

static mercer_scalapack_options options_of(const double* penalties, int64_t count) {
  mercer_scalapack_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.penalties = penalties;
  options.penalty_count = count;
  return options;
}

static mercer_status answer_of(mercer_mpi* all, const mercer_map* map, const mercer_data* data,
                               const mercer_scalapack_options* options,
                               const mercer_context_options* run, Answer* answer) {
  const int64_t D = map == NULL ? 1 : features_of(map);
  memset(answer, 0, sizeof *answer);
  answer->result.struct_size = sizeof answer->result;
  return mercer_scalapack_ridge(all, map, data, options, run, mercer_matrix_f64(D, m, answer->w),
                                mercer_matrix_f64(1, m, answer->intercept), &answer->result);
}

static int fit(const mercer_map* map, const mercer_data* data, mercer_scalapack_options options,
               int is_scored, Answer* answer) {
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  mercer_status status;
  if (is_scored) options.scores = answer->scores;
  memset(answer, 0, sizeof *answer);
  answer->result.struct_size = sizeof answer->result;
  status = mercer_scalapack_ridge(&all, map, data, &options, NULL,
                                  mercer_matrix_f64(features_of(map), m, answer->w),
                                  mercer_matrix_f64(1, m, answer->intercept), &answer->result);
  if (status != MERCER_OK) fprintf(stderr, "rank %d: %s\n", rank, all.error);
  CHECK(status == MERCER_OK);
  return status == MERCER_OK;
}

/* But for what this process alone received. */
static int is_same_everywhere(const Answer* answer) {
  static Answer own, first;
  int same, everywhere = 0;
  own = first = *answer;
  own.result.row_bytes = first.result.row_bytes = 0;
  MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
  same = memcmp(&first, &own, sizeof first) == 0;
  MPI_Allreduce(&same, &everywhere, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return everywhere;
}

/* The largest difference of predictions, in units of the largest deviation of a target's. */
static double difference(const mercer_map* map, const Answer* a, const double* w,
                         const double* intercept) {
  static double f[n * m], g[n * m];
  const int64_t D = features_of(map);
  double worst = 0, largest[m] = {0, 0};
  int64_t i;
  const mercer_rows X = mercer_rows_f64(n, d, x);
  CHECK(mercer_map_multiply(map, X, mercer_rows_f64(D, m, a->w), MERCER_FIELD_VALUE, NULL,
                            mercer_matrix_f64(n, m, f)) == MERCER_OK);
  CHECK(mercer_map_multiply(map, X, mercer_rows_f64(D, m, w), MERCER_FIELD_VALUE, NULL,
                            mercer_matrix_f64(n, m, g)) == MERCER_OK);
  for (i = 0; i < n * m; ++i)
    largest[i % m] =
        fmax(largest[i % m], fabs(g[i] + intercept[i % m] - g[i % m] - intercept[i % m]));
  for (i = 0; i < n * m; ++i)
    worst =
        fmax(worst, fabs(f[i] + a->intercept[i % m] - g[i] - intercept[i % m]) / largest[i % m]);
  return worst;
}

/* ---- The answer of one process, from statistics of all features. ---- */

static mercer_statistics* statistics_of(const mercer_map* map, int is_weighted) {
  static double Z[n * most_features], Zs[4 * n * most_features], Ys[4 * n * m];
  const int64_t D = features_of(map);
  mercer_statistics* statistics = NULL;
  int64_t i, rows = 0, copy;
  CHECK(D <= most_features && mercer_map_apply_f64(map, n, x, d, NULL, Z, D) == MERCER_OK);
  for (i = 0; i < n; ++i) {
    const int64_t copies = is_weighted ? (int64_t)weights[i] : 1;
    for (copy = 0; copy < copies; ++copy, ++rows) {
      memcpy(Zs + rows * D, Z + i * D, (size_t)D * sizeof *Z);
      memcpy(Ys + rows * m, y + i * m, m * sizeof *y);
    }
  }
  CHECK(mercer_statistics_create(D, m, &statistics) == MERCER_OK);
  CHECK(mercer_statistics_add(statistics, 1, mercer_rows_f64(rows, D, Zs),
                              mercer_rows_f64(rows, m, Ys), NULL) == MERCER_OK);
  return statistics;
}

typedef struct Case {
  const char* spec;
  int method, center, is_weighted, block, block_rows, grid_rows, way;
} Case;

/* The answer of all rows, in repeated rows in place of weights, which leaves n lambda as it is. */
static void check_case(const Case* one) {
  static Answer answer, again;
  static double w[most_features * m];
  double intercept[m];
  const double penalty = 1e-4;
  mercer_map* const map = map_of(one->spec);
  const int64_t D = features_of(map);
  const mercer_data data = own_data(one->way, n, one->is_weighted);
  mercer_scalapack_options options = options_of(&penalty, 1);
  mercer_statistics* const statistics = statistics_of(map, one->is_weighted);
  const int by_passes = one->method >= MERCER_SCALAPACK_CG;
  const double bound = by_passes ? 1e-9 : 1e-10;
  int64_t first, last, row_bytes;
  double worst;
  CHECK(mercer_ridge_weights(statistics, (mercer_rows){0}, (mercer_rows){0}, one->center, penalty,
                             NULL, mercer_matrix_f64(D, m, w),
                             mercer_matrix_f64(1, m, intercept)) == MERCER_OK);
  options.center = one->center;
  options.block = one->block;
  options.block_rows = one->block_rows;
  options.grid_rows = ranks % 2 == 0 ? one->grid_rows : 0;
  options.method = one->method;
  if (by_passes) options.tolerance = 1e-12;
  if (!fit(map, &data, options, 0, &answer) || !fit(map, &data, options, 0, &again)) return;
  worst = difference(map, &answer, w, intercept);
  if (rank == 0)
    printf("%.1e of %.0e, %ld iterations: %s\n", worst, bound, (long)answer.result.iterations,
           one->spec);
  CHECK(worst <= bound);
  CHECK(memcmp(&answer, &again, sizeof answer) == 0);
  CHECK(is_same_everywhere(&answer));
  part_of(one->way, n, &first, &last);
  row_bytes = 8 * (n - (last - first)) * (d + m + 1); /* of a pass */
  CHECK(by_passes ? answer.result.row_bytes >= (answer.result.iterations + 2) * row_bytes
                  : answer.result.row_bytes == row_bytes);
  CHECK(by_passes ? answer.result.iterations > 0 && answer.result.iterations < 40
                  : answer.result.iterations == 0);
  CHECK(answer.result.rows == (one->is_weighted ? n * 3 / 4 : n));
  CHECK(answer.result.penalty == penalty && answer.result.bytes > (1 << 24));
  CHECK(answer.result.grid_rows * answer.result.grid_columns == ranks);
  mercer_statistics_free(statistics);
  mercer_map_free(map);
}

static void check_cases(void) {
  const char* const fourier =
      "{\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":1.5},\"inputs\":4,\"features\":50,"
      "\"seed\":3}";
  const char* const sorf =
      "{\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":1.5},\"inputs\":4,\"features\":50,"
      "\"projection\":\"sorf\",\"seed\":3}";
  const char* const small =
      "{\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":1.5},\"inputs\":4,\"features\":2}";
  const char* const sketch =
      "{\"map\":\"tensor_sketch\",\"kernel\":{\"kernel\":\"polynomial\",\"degree\":2,\"offset\":9}"
      ",\"inputs\":4,\"features\":32,\"seed\":3}";
  enum {
    by_factors = MERCER_SCALAPACK_FACTORS,
    by_values = MERCER_SCALAPACK_EIGENVALUES,
    by_cg = MERCER_SCALAPACK_CG,
    mixed = MERCER_SCALAPACK_MIXED
  };
  const Case cases[] = {
      {fourier, by_factors, 1, 0, 0, 0, 0, 0},    {fourier, by_factors, 0, 0, 7, 0, 1, 1},
      {fourier, by_factors, 1, 1, 16, 100, 2, 0}, {fourier, by_values, 0, 1, 20, 0, 1, 0},
      {sorf, by_factors, 1, 0, 0, 60, 0, 1},      {sketch, by_values, 1, 0, 32, 1000, 0, 0},
      {small, by_values, 1, 0, 0, 0, 0, 1},       {fourier, by_cg, 1, 0, 0, 0, 0, 0},
      {fourier, by_cg, 0, 1, 7, 100, 2, 1},       {sorf, by_cg, 1, 1, 16, 30, 1, 0},
      {small, by_cg, 1, 0, 0, 0, 0, 1},           {fourier, mixed, 1, 0, 0, 0, 0, 0},
      {sketch, mixed, 1, 1, 7, 100, 1, 1},        {small, mixed, 1, 1, 0, 0, 0, 0}};
  size_t i;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) check_case(&cases[i]);
}

/* ---- Criteria. ---- */

static double relative(double a, double b) { return fabs(a - b) / fmax(fabs(a), fabs(b)); }

/* Each target's mean square about its mean. */
static double variance_of(int64_t k, int64_t rows) {
  double mean = 0, sum = 0;
  int64_t i;
  for (i = 0; i < rows; ++i) mean += y[i * m + k] / (double)rows;
  for (i = 0; i < rows; ++i) sum += (y[i * m + k] - mean) * (y[i * m + k] - mean);
  return sum / (double)rows;
}

/* Generalised cross-validation, by both methods, beside that of one process. */
static void check_gcv(void) {
  static Answer answer;
  const double penalties[most_penalties] = {1e-9, 1e-6, 1e-4, 1e-2, 1};
  mercer_map* const map =
      map_of("{\"kernel\":{\"kernel\":\"gaussian\"},\"inputs\":4,\"features\":40,\"seed\":1}");
  mercer_statistics* const statistics = statistics_of(map, 0);
  mercer_ridge* ridge = NULL;
  const mercer_data data = own_data(0, n, 0);
  mercer_scalapack_options options = options_of(penalties, most_penalties);
  int which, at;
  options.center = 1;
  CHECK(mercer_ridge_create(statistics, 1, NULL, &ridge) == MERCER_OK);
  for (which = 1; which <= 6; ++which) { /* 3 and 4: as many probes as features; 5 and 6: 16 */
    double least = HUGE_VAL, chosen = 0;
    options.method = which > 4 ? which - 2 : which;
    options.probes = which == 3 || which == 4 ? 1000 : 0;
    options.tolerance = which > 2 ? 1e-12 : 0;
    if (!fit(map, &data, options, 1, &answer)) break;
    for (at = 0; at < most_penalties; ++at) {
      const double total = answer.scores[at * m] + answer.scores[at * m + 1];
      double gcv[m], dimension, of_dimension = 1e-8, of_scores = 1e-8;
      CHECK(mercer_ridge_error(ridge, penalties[at], NULL, mercer_matrix_f64(1, m, gcv),
                               &dimension) == MERCER_OK);
      if (which > 4) { /* three standard errors of Tr H */
        of_dimension = 3 * sqrt(2 / (16 * dimension));
        of_scores = 2 * of_dimension * dimension / ((double)n - dimension);
      }
      CHECK(relative(answer.scores[at * m], gcv[0] / variance_of(0, n)) <= of_scores);
      CHECK(relative(answer.scores[at * m + 1], gcv[1] / variance_of(1, n)) <= of_scores);
      if (total < least) chosen = penalties[at], least = total;
      if (penalties[at] == answer.result.penalty)
        CHECK(relative(answer.result.dimension, dimension) <= of_dimension);
    }
    CHECK(chosen > penalties[0] && chosen < penalties[most_penalties - 1]);
    CHECK(answer.result.penalty == chosen && is_same_everywhere(&answer));
  }
  mercer_ridge_free(ridge);
  mercer_statistics_free(statistics);
  mercer_map_free(map);
}

/* Mean squared errors of rows left out, in units of the mean square, by the residuals of one process. */
static void left_out_of(const mercer_ridge* ridge, const mercer_map* map, double penalty,
                        double* scores) {
  static double Z[n * most_features], residuals[n * m];
  const int64_t D = features_of(map);
  int64_t i;
  CHECK(mercer_map_apply_f64(map, n, x, d, NULL, Z, D) == MERCER_OK);
  CHECK(mercer_ridge_leave_one_out(ridge, penalty, mercer_rows_f64(n, D, Z),
                                   mercer_rows_f64(n, m, y), NULL,
                                   mercer_matrix_f64(n, m, residuals)) == MERCER_OK);
  scores[0] = scores[1] = 0;
  for (i = 0; i < n * m; ++i)
    scores[i % m] += residuals[i] * residuals[i] / ((double)n * variance_of(i % m, n));
}

/* Exact of as many probes as features. Of fewer a leverage h has a relative standard error of at most
 * sqrt(2/probes), and one of all leverages together changes a score by 2 h/(1 - h) times it. Three times
 * that at the mean h: errors of different rows cancel, so that it is some ten of a score's own. */
static void check_left_out(void) {
  static Answer answer;
  static double w[most_features * m];
  double intercept[m];
  const double penalties[] = {1e-5, 1e-3, 1e-1};
  mercer_map* const map =
      map_of("{\"kernel\":{\"kernel\":\"gaussian\"},\"inputs\":4,\"features\":40,\"seed\":1}");
  mercer_statistics* const statistics = statistics_of(map, 0);
  mercer_ridge* ridge = NULL;
  const mercer_data data = own_data(0, n, 0);
  mercer_scalapack_options options = options_of(penalties, 3);
  int which, at;
  options.center = 1;
  options.criterion = MERCER_SCALAPACK_LEAVE_ONE_OUT;
  CHECK(mercer_ridge_create(statistics, 1, NULL, &ridge) == MERCER_OK);
  for (which = 0; which < 4; ++which) {
    double least = HUGE_VAL, chosen = 0;
    options.method = 1 + which % 2;
    options.probes = which < 2 ? 1000 : 32;
    if (!fit(map, &data, options, 1, &answer)) break;
    for (at = 0; at < 3; ++at) {
      double exact[m], dimension = 1, tolerance = 1e-8;
      const double total = answer.scores[at * m] + answer.scores[at * m + 1];
      left_out_of(ridge, map, penalties[at], exact);
      CHECK(mercer_ridge_error(ridge, penalties[at], NULL, (mercer_matrix){0}, &dimension) ==
            MERCER_OK);
      if (which >= 2) tolerance = 3 * 2 * dimension / ((double)n - dimension) * sqrt(2. / 32);
      CHECK(relative(answer.scores[at * m], exact[0]) <= tolerance);
      CHECK(relative(answer.scores[at * m + 1], exact[1]) <= tolerance);
      if (rank == 0)
        printf("left out: %.1e of %.0e\n", relative(answer.scores[at * m], exact[0]), tolerance);
      if (total < least) least = total, chosen = penalties[at];
    }
    CHECK(answer.result.penalty == chosen && is_same_everywhere(&answer));
    CHECK(mercer_ridge_solve(ridge, chosen, mercer_matrix_f64(40, m, w),
                             mercer_matrix_f64(1, m, intercept)) == MERCER_OK);
    CHECK(difference(map, &answer, w, intercept) <= 1e-8);
  }
  mercer_ridge_free(ridge);
  mercer_statistics_free(statistics);
  mercer_map_free(map);
}

/* y'K^{-1}y and log |K| of the first rows by a Cholesky factor of K = ZZ' + n lambda I. */
static double evidence_of(const mercer_map* map, int64_t rows, double penalty, int64_t k) {
  static double Z[n * most_features], K[n * n], v[n];
  const int64_t D = features_of(map);
  double quadratic = 0, determinant = 0;
  int64_t i, j, l;
  CHECK(mercer_map_apply_f64(map, rows, x, d, NULL, Z, D) == MERCER_OK);
  for (i = 0; i < rows; ++i) {
    for (j = 0; j <= i; ++j) {
      double sum = i == j ? (double)rows * penalty : 0;
      for (l = 0; l < D; ++l) sum += Z[i * D + l] * Z[j * D + l];
      for (l = 0; l < j; ++l) sum -= K[i * rows + l] * K[j * rows + l];
      K[i * rows + j] = i == j ? sqrt(sum) : sum / K[j * rows + j];
    }
    v[i] = y[i * m + k];
    for (l = 0; l < i; ++l) v[i] -= K[i * rows + l] * v[l];
    v[i] /= K[i * rows + i];
    quadratic += v[i] * v[i];
    determinant += 2 * log(K[i * rows + i]);
  }
  return log(quadratic) / 2 + determinant / (2 * (double)rows);
}

/* Of more features than rows, too. */
static void check_evidence(void) {
  static Answer answer;
  const double penalties[] = {1e-5, 1e-3, 1e-1};
  mercer_map* const map =
      map_of("{\"kernel\":{\"kernel\":\"gaussian\"},\"inputs\":4,\"features\":40,\"seed\":1}");
  const int64_t rows[] = {30, 200};
  int method, which, at;
  for (which = 0; which < 2; ++which) {
    const mercer_data data = own_data(0, rows[which], 0);
    mercer_scalapack_options options = options_of(penalties, 3);
    options.criterion = MERCER_SCALAPACK_EVIDENCE;
    for (method = 1; method <= 2; ++method) {
      double least = HUGE_VAL, chosen = 0;
      options.method = method;
      if (!fit(map, &data, options, 1, &answer)) break;
      for (at = 0; at < 3; ++at) {
        const double first = evidence_of(map, rows[which], penalties[at], 0),
                     second = evidence_of(map, rows[which], penalties[at], 1);
        CHECK(fabs(answer.scores[at * m] - first) <= 1e-8);
        CHECK(fabs(answer.scores[at * m + 1] - second) <= 1e-8);
        if (first + second < least) least = first + second, chosen = penalties[at];
      }
      CHECK(answer.result.penalty == chosen && isnan(answer.result.dimension));
    }
  }
  mercer_map_free(map);
}

/* ---- Rows of other kinds. ---- */

typedef struct Part {
  int64_t first, last, at;
  int fails; /* 1: in rewind, 2: at its second block */
} Part;

static int32_t rewind_part(void* user) {
  Part* const part = user;
  part->at = part->first;
  return part->fails == 1 ? 5 : 0;
}

static int32_t next_part(void* user, mercer_rows* X, mercer_rows* Y) {
  Part* const part = user;
  const int64_t left = part->last - part->at, rows = left < 37 ? left : 37;
  if (part->fails == 2 && part->at > part->first) return 6;
  if (rows == 0) return 0;
  *X = mercer_rows_f64(rows, d, x + part->at * d);
  *Y = mercer_rows_f64(rows, m, y + part->at * m);
  part->at += rows;
  return 0;
}

static mercer_row_source source_of(Part* part) {
  mercer_row_source source;
  memset(&source, 0, sizeof source);
  source.struct_size = sizeof source;
  source.d = d;
  source.m = m;
  source.rewind = rewind_part;
  source.next = next_part;
  source.user = part;
  return source;
}

static mercer_data data_from(const mercer_row_source* source) {
  const mercer_rows none = {0};
  mercer_data data = mercer_data_of(none, none);
  data.source = source;
  return data;
}

/* A source gives the bits of rows in memory, rows of float those of the same numbers as double. */
static void check_sources(const mercer_map* map) {
  static Answer of_memory, of_source, of_single, of_double;
  static float narrow[n * d], narrow_y[n * m];
  static double wide[n * d], wide_y[n * m];
  const double penalty = 1e-3;
  const mercer_scalapack_options options = options_of(&penalty, 1);
  const mercer_data memory = own_data(0, n, 0);
  Part part = {0, 0, 0, 0};
  mercer_row_source source = source_of(&part);
  mercer_data data = data_from(&source), single = memory, twice = memory;
  int64_t i;
  part_of(0, n, &part.first, &part.last);
  if (fit(map, &memory, options, 0, &of_memory) && fit(map, &data, options, 0, &of_source))
    CHECK(memcmp(&of_memory, &of_source, sizeof of_memory) == 0);
  for (i = 0; i < n * d; ++i) wide[i] = narrow[i] = (float)x[i];
  for (i = 0; i < n * m; ++i) wide_y[i] = narrow_y[i] = (float)y[i];
  single.X = mercer_rows_f32(memory.X.n, d, narrow + part.first * d);
  single.Y = mercer_rows_f32(memory.X.n, m, narrow_y + part.first * m);
  twice.X = mercer_rows_f64(memory.X.n, d, wide + part.first * d);
  twice.Y = mercer_rows_f64(memory.X.n, m, wide_y + part.first * m);
  if (fit(map, &single, options, 0, &of_single) && fit(map, &twice, options, 0, &of_double))
    CHECK(memcmp(&of_single, &of_double, sizeof of_single) == 0);
}

/* Every process by itself, then two groups of them at a time. */
static void check_communicators(const mercer_map* map) {
  static Answer together, apart;
  const double penalty = 1e-3;
  const mercer_scalapack_options options = options_of(&penalty, 1);
  const mercer_data data = own_data(0, n, 0);
  const mercer_data whole = mercer_data_of(mercer_rows_f64(n, d, x), mercer_rows_f64(n, m, y));
  const mercer_rows none = mercer_rows_f64(0, d, NULL);
  mercer_data first = mercer_data_of(none, mercer_rows_f64(0, m, NULL));
  mercer_mpi self = mercer_mpi_of(MPI_COMM_SELF), half;
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
  half = mercer_mpi_of(comm);
  if (rank < 2) first = whole;
  CHECK(fit(map, &data, options, 0, &together));
  CHECK(answer_of(&self, map, &whole, &options, NULL, &apart) == MERCER_OK);
  CHECK(difference(map, &apart, together.w, together.intercept) <= 1e-10);
  CHECK(answer_of(&half, map, &first, &options, NULL, &apart) == MERCER_OK);
  CHECK(difference(map, &apart, together.w, together.intercept) <= 1e-10);
  MPI_Comm_free(&comm);
}

/* ---- One process fails. ---- */

/* In every process the same status and a text with the rank and what it says. */
static void check_refused(mercer_mpi* all, const mercer_map* map, const mercer_data* data,
                          const mercer_scalapack_options* options,
                          const mercer_context_options* run, mercer_status expected, int by,
                          const char* says) {
  static Answer answer;
  char who[32];
  const mercer_status status = answer_of(all, map, data, options, run, &answer);
  snprintf(who, sizeof who, "rank %d: ", by);
  CHECK(status == expected && strncmp(all->error, who, strlen(who)) == 0);
  CHECK(strstr(all->error, says) != NULL);
  if (status != expected || strstr(all->error, says) == NULL)
    fprintf(stderr, "rank %d: status %d, \"%s\", expected %d, %s\"%s\"\n", rank, (int)status,
            all->error, (int)expected, who, says);
}

/* Asked so often, it stops. */
typedef struct Watch {
  int64_t calls, limit, last;
  int falls;
} Watch;

static int32_t watch(void* user, int64_t done, int64_t total) {
  Watch* const seen = user;
  seen->falls += done < seen->last || done > total;
  seen->last = done;
  return ++seen->calls == seen->limit;
}

static mercer_context_options run_of(Watch* seen) {
  mercer_context_options run;
  memset(&run, 0, sizeof run);
  run.struct_size = sizeof run;
  run.progress = watch;
  run.user = seen;
  return run;
}

/* Cancelled by one process after the first block, after a later one, and while a factor is made, or
 * in a further pass. */
static void check_progress(const mercer_map* map, int32_t method) {
  static Answer answer;
  const double penalties[] = {1e-3, 1e-2};
  mercer_scalapack_options options = options_of(penalties, 2);
  const mercer_data data = own_data(0, n, 0);
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  Watch seen = {0, 0, 0, 0};
  mercer_context_options run = run_of(&seen);
  int64_t limit, calls;
  options.block_rows = 80;
  options.method = method;
  CHECK(answer_of(&all, map, &data, &options, &run, &answer) == MERCER_OK);
  CHECK(seen.falls == 0 && seen.last == 1000000);
  calls = seen.calls;
  CHECK(calls >= 6);
  for (limit = 1; limit < calls; limit += calls / 3) {
    Watch stopped = {0, 0, 0, 0};
    run.user = &stopped;
    stopped.limit = rank == ranks - 1 ? limit : 0;
    check_refused(&all, map, &data, &options, &run, MERCER_CANCELLED, ranks - 1, "cancelled");
  }
}

static void check_failing_rows(const mercer_map* map) {
  static double spoilt[n * d], spoilt_weights[n], none[n * d];
  const double penalty = 1e-3, zero = 0;
  const mercer_scalapack_options options = options_of(&penalty, 1), least = options_of(&zero, 1);
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  const int last = ranks - 1;
  mercer_data data = own_data(0, n, 0), wrong = data;
  int fails;
  int64_t first, end;
  part_of(0, n, &first, &end);
  memcpy(spoilt, x, sizeof x);
  if (rank == last) spoilt[(first + 1) * d + 2] = NAN;
  wrong.X = mercer_rows_f64(end - first, d, spoilt + first * d);
  check_refused(&all, map, &wrong, &options, NULL, MERCER_INVALID_ARGUMENT, last,
                "X: row 1, column 2 is nan");
  memcpy(spoilt_weights, weights, sizeof weights);
  if (rank == last) spoilt_weights[first + 3] = -1;
  wrong = data;
  wrong.weights = spoilt_weights + first;
  check_refused(&all, map, &wrong, &options, NULL, MERCER_INVALID_ARGUMENT, last,
                "weights: row 3, column 0 is -1");
  for (fails = 1; fails <= 2; ++fails) {
    Part part = {first, end, 0, rank == last ? fails : 0};
    const mercer_row_source source = source_of(&part);
    const mercer_data from = data_from(&source);
    check_refused(&all, map, &from, &options, NULL, MERCER_IO, last,
                  fails == 1 ? "source->rewind returned 5" : "source->next returned 6");
  }
  wrong = data;
  wrong.weights = none;
  check_refused(&all, map, &wrong, &options, NULL, MERCER_INVALID_ARGUMENT, 0, "positive weight");
  /* The sines of rows of zeros are zeros. */
  wrong = data;
  wrong.X = mercer_rows_f64(end - first, d, none);
  check_refused(&all, map, &wrong, &least, NULL, MERCER_NOT_POSITIVE_DEFINITE, 0, "pivot ");
}

static void check_refusals(const mercer_map* map) {
  const double penalty = 1e-3, negative = -1;
  const mercer_scalapack_options options = options_of(&penalty, 1);
  mercer_scalapack_options other = options;
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  const int is_last = rank == ranks - 1, last = ranks - 1;
  mercer_data data = own_data(0, n, 0), wrong = data;
  mercer_context_options run;
  mercer_scalapack_result result;
  const mercer_matrix nothing = {0};
  memset(&run, 0, sizeof run);
  run.struct_size = sizeof run;
  run.memory_cap = is_last ? 1000000 : 0;
  check_refused(&all, map, &data, &options, &run, MERCER_OUT_OF_MEMORY, last,
                "bytes are needed in a process");
  memset(&result, 0, sizeof result);
  result.struct_size = sizeof result;
  CHECK(mercer_scalapack_ridge(&all, map, &data, &options, &run, nothing, nothing, &result) ==
        MERCER_OUT_OF_MEMORY);
  CHECK(result.bytes > 1000000 && result.rows == 0);
  check_refused(&all, is_last ? NULL : map, &data, &options, NULL, MERCER_INVALID_ARGUMENT, last,
                "map = NULL");
  check_refused(&all, map, is_last ? NULL : &data, &options, NULL, MERCER_INVALID_ARGUMENT, last,
                "data = NULL");
  check_refused(&all, map, &data, is_last ? NULL : &options, NULL, MERCER_INVALID_ARGUMENT, last,
                "options = NULL");
  if (is_last) other.penalties = &negative;
  check_refused(&all, map, &data, &other, NULL, MERCER_INVALID_ARGUMENT, last,
                "options->penalties[0] = -1");
  other = options;
  if (is_last) other.grid_rows = ranks + 1;
  check_refused(&all, map, &data, &other, NULL, MERCER_INVALID_ARGUMENT, last,
                ranks > 1 ? "other options than in rank 0" : "grid_rows = 2");
  if (is_last) wrong.X = mercer_rows_f64(data.X.n, d - 1, x);
  check_refused(&all, map, &wrong, &options, NULL, MERCER_DIMENSION_MISMATCH, last,
                "rows have 3 inputs");
}

/* In one process, which the others learn of. */
static void check_mpi_errors(const mercer_map* map) {
  const double penalty = 1e-3;
  const mercer_scalapack_options options = options_of(&penalty, 1);
  const mercer_data data = own_data(0, n, 0);
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  is_mpi_broken = rank == ranks - 1;
  check_refused(&all, map, &data, &options, NULL, MERCER_IO, ranks - 1, "MPI_Allgatherv: ");
  is_mpi_broken = 0;
}

/* Maps whose columns do not divide, by their names. */
static void check_maps(void) {
  const double penalty = 1e-3;
  const mercer_scalapack_options options = options_of(&penalty, 1);
  const mercer_data data = own_data(0, n, 0);
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  mercer_map_data rows;
  mercer_map *landmarks = NULL, *of_two;
  memset(&rows, 0, sizeof rows);
  rows.struct_size = sizeof rows;
  rows.X = mercer_rows_f64(n, d, x);
  CHECK(mercer_map_fit("{\"map\":\"nystroem\",\"kernel\":{\"kernel\":\"gaussian\"},\"inputs\":4,"
                       "\"features\":20}",
                       &rows, NULL, &landmarks) == MERCER_OK);
  check_refused(&all, landmarks, &data, &options, NULL, MERCER_UNSUPPORTED, 0, "map nystroem");
  of_two = map_of("{\"kernel\":{\"kernel\":\"curl_free\"},\"inputs\":4,\"features\":20}");
  check_refused(&all, of_two, &data, &options, NULL, MERCER_UNSUPPORTED, 0, "a map of 4 outputs");
  mercer_map_free(of_two);
  of_two = map_of(
      "{\"kernel\":{\"kernel\":\"gaussian\"},\"form\":\"complex\",\"inputs\":4,\"features\":20}");
  check_refused(&all, of_two, &data, &options, NULL, MERCER_UNSUPPORTED, 0, "a complex map");
  mercer_map_free(of_two);
  mercer_map_free(landmarks);
}

/* The model of the answer, which all processes get, and its file: values of a fit in one process. */
static void check_model(const mercer_map* map) {
  static Answer answer;
  static double f[n * m], g[n * m], of_file[n * m];
  static char bytes[1 << 20];
  const char* const spec =
      "{\"lambda\":0.001,\"precision\":\"f64\",\"prepare\":{\"standardize\":false}}";
  const double penalty = 1e-3;
  const mercer_rows X = mercer_rows_f64(n, d, x);
  mercer_data data = own_data(0, n, 0), whole = mercer_data_of(X, mercer_rows_f64(n, m, y));
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  mercer_scalapack_options options = options_of(&penalty, 1);
  mercer_model *model = NULL, *one = NULL, *loaded = NULL;
  mercer_model_info info;
  mercer_predict_options refusing;
  int64_t size = 0, i;
  options.center = 1;
  if (!fit(map, &data, options, 0, &answer)) return;
  data.map = whole.map = map;
  data.w = answer.w;
  data.intercept = answer.intercept;
  CHECK(mercer_mpi_fit(&all, spec, &data, NULL, &model) == MERCER_OK);
  CHECK(mercer_model_fit(spec, &whole, NULL, &one) == MERCER_OK);
  CHECK(mercer_model_write(model, NULL, bytes, sizeof bytes, &size) == MERCER_OK);
  CHECK(mercer_model_read(NULL, bytes, size, &loaded) == MERCER_OK);
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  CHECK(mercer_model_shape(model, &info) == MERCER_OK && info.rows == n);
  memset(&refusing, 0, sizeof refusing);
  refusing.struct_size = sizeof refusing;
  refusing.extrapolation = MERCER_EXTRAPOLATION_REFUSE; /* ranges are of the rows of all */
  CHECK(mercer_model_predict(model, X, NULL, &refusing, NULL, mercer_matrix_f64(n, m, f)) ==
        MERCER_OK);
  CHECK(mercer_model_predict(one, X, NULL, NULL, NULL, mercer_matrix_f64(n, m, g)) == MERCER_OK);
  CHECK(mercer_model_predict(loaded, X, NULL, NULL, NULL, mercer_matrix_f64(n, m, of_file)) ==
        MERCER_OK);
  CHECK(memcmp(f, of_file, sizeof f) == 0);
  for (i = 0; i < n * m; ++i) CHECK(fabs(f[i] - g[i]) <= 1e-12 * 1000); /* a target is near 1000 */
  mercer_model_free(loaded);
  mercer_model_free(one);
  mercer_model_free(model);
  if (rank == ranks - 1) answer.w[3] += 1;
  if (ranks > 1) CHECK(mercer_mpi_fit(&all, spec, &data, NULL, &model) == MERCER_INVALID_ARGUMENT);
}

static void check_without_mpi(void) {
  static Answer answer;
  const double penalty = 1e-3;
  const mercer_scalapack_options options = options_of(&penalty, 1);
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  mercer_map* const map =
      map_of("{\"kernel\":{\"kernel\":\"gaussian\"},\"inputs\":4,\"features\":20}");
  const mercer_data data = mercer_data_of(mercer_rows_f64(n, d, x), mercer_rows_f64(n, m, y));
  CHECK(answer_of(&all, map, &data, &options, NULL, &answer) == MERCER_INVALID_ARGUMENT);
  CHECK(strstr(all.error, "MPI is not running") != NULL);
  CHECK(answer_of(NULL, map, &data, &options, NULL, &answer) == MERCER_INVALID_ARGUMENT);
  mercer_map_free(map);
}

/* ---- Measurements. ---- */

enum { measured_inputs = 20, measured_block = 1000 };

/* Rows of a process, drawn again in each pass. */
typedef struct Drawn {
  int64_t count, at;
  uint64_t state;
  double X[measured_block * measured_inputs], Y[measured_block];
} Drawn;

static int32_t rewind_drawn(void* user) {
  Drawn* const rows = user;
  rows->at = 0;
  rows->state = 1000 + (uint64_t)rank;
  return 0;
}

static int32_t next_drawn(void* user, mercer_rows* X, mercer_rows* Y) {
  Drawn* const rows = user;
  const int64_t left = rows->count - rows->at,
                count = left < measured_block ? left : measured_block;
  int64_t i, j;
  for (i = 0; i < count; ++i) {
    double* const row = rows->X + i * measured_inputs;
    for (j = 0; j < measured_inputs; ++j) row[j] = 4 * drawn(&rows->state) - 2;
    rows->Y[i] = sin(2 * row[0]) + row[1] * row[2] + 0.2 * drawn(&rows->state);
  }
  rows->at += count;
  if (count == 0) return 0;
  *X = mercer_rows_f64(count, measured_inputs, rows->X);
  *Y = mercer_rows_f64(count, 1, rows->Y);
  return 0;
}

/* |Z'(Zw - y) + n lambda w| / |Z'y|, rows block by block. */
static double residual_of(const mercer_map* map, Drawn* rows, const double* w, int64_t D,
                          double shift) {
  double* const sums = calloc(4 * (size_t)D, sizeof *sums);
  double norms[2] = {0, 0};
  mercer_rows X, Y;
  int64_t i, k;
  rewind_drawn(rows);
  for (;;) {
    X.n = 0;
    next_drawn(rows, &X, &Y);
    if (X.n == 0) break;
    for (k = 0; k < 2; ++k) { /* first of the targets, then of the residuals */
      double f[measured_block];
      CHECK(mercer_map_adjoint(map, X, mercer_rows_f64(X.n, 1, rows->Y), NULL,
                               mercer_matrix_f64(D, 1, sums + 2 * D)) == MERCER_OK);
      for (i = 0; i < D; ++i) sums[k * D + i] += sums[2 * D + i];
      CHECK(mercer_map_multiply(map, X, mercer_rows_f64(D, 1, w), MERCER_FIELD_VALUE, NULL,
                                mercer_matrix_f64(X.n, 1, f)) == MERCER_OK);
      for (i = 0; i < X.n; ++i) rows->Y[i] = f[i] - rows->Y[i];
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, (int)(2 * D), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < D; ++i) {
    norms[0] += sums[i] * sums[i];
    norms[1] += (sums[D + i] + shift * w[i]) * (sums[D + i] + shift * w[i]);
  }
  free(sums);
  return sqrt(norms[1] / norms[0]);
}

static mercer_row_source drawn_source(Drawn* rows, int64_t count) {
  mercer_row_source source = source_of(NULL);
  source.d = measured_inputs;
  source.m = 1;
  source.rewind = rewind_drawn;
  source.next = next_drawn;
  source.user = rows;
  rows->count = count * (rank + 1) / ranks - count * rank / ranks;
  return source;
}

/* More features than the sketch's rank, and rows than it takes: iterations come to the factor's
 * answer, or end with what they reached. */
static void check_passes(void) {
  enum { D = 400, rows = 16800 };
  static const int32_t methods[] = {MERCER_SCALAPACK_CG, MERCER_SCALAPACK_MIXED};
  static Drawn own;
  static double w[D], exact[D];
  const double penalty = 1e-5;
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  mercer_map* const map = map_of(
      "{\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":3},\"inputs\":20,\"features\":400}");
  const mercer_row_source source = drawn_source(&own, rows);
  const mercer_data data = data_from(&source);
  const mercer_matrix none = {0}, W = mercer_matrix_f64(D, 1, w);
  mercer_scalapack_options options = options_of(&penalty, 1);
  mercer_scalapack_result of_factor, result;
  size_t k, i;
  memset(&of_factor, 0, sizeof of_factor);
  of_factor.struct_size = sizeof of_factor;
  result = of_factor;
  options.center = 1;
  options.method = MERCER_SCALAPACK_FACTORS;
  CHECK(mercer_scalapack_ridge(&all, map, &data, &options, NULL, mercer_matrix_f64(D, 1, exact),
                               none, &of_factor) == MERCER_OK);
  for (k = 0; k < 2; ++k) {
    double error = 0, norm = 0;
    options.method = methods[k];
    options.tolerance = 1e-12;
    options.iterations = 0;
    CHECK(mercer_scalapack_ridge(&all, map, &data, &options, NULL, W, none, &result) == MERCER_OK);
    for (i = 0; i < D; ++i) {
      error += (w[i] - exact[i]) * (w[i] - exact[i]);
      norm += exact[i] * exact[i];
    }
    if (rank == 0)
      printf("%.1e of 1e-09, %ld iterations, %ld bytes of %ld\n", sqrt(error / norm),
             (long)result.iterations, (long)result.bytes, (long)of_factor.bytes);
    CHECK(error <= 1e-18 * norm && result.iterations > 1 && result.iterations < 100);
    options.iterations = 1;
    CHECK(mercer_scalapack_ridge(&all, map, &data, &options, NULL, W, none, &result) ==
          MERCER_NOT_CONVERGED);
    CHECK(strstr(all.error, "after 1 iterations, expected at most 1e-12") != NULL);
  }
  mercer_map_free(map);
}

/* What passes do not serve, and what others do not read. */
static void check_pass_refusals(const mercer_map* map) {
  static Answer answer;
  const double penalties[] = {1e-3, 1e-2};
  const mercer_data data = own_data(0, n, 0);
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  mercer_scalapack_options options = options_of(penalties, 2), other = options;
  other.tolerance = 1e-6;
  check_refused(&all, map, &data, &other, NULL, MERCER_UNSUPPORTED, 0, "tolerance or iterations");
  other.struct_size = 64; /* of programs that know no tolerance */
  CHECK(answer_of(&all, map, &data, &other, NULL, &answer) == MERCER_OK);
  other = options;
  options.method = other.method = MERCER_SCALAPACK_CG;
  other.tolerance = 1;
  check_refused(&all, map, &data, &other, NULL, MERCER_INVALID_ARGUMENT, 0, "tolerance = 1.0");
  options.criterion = MERCER_SCALAPACK_EVIDENCE;
  check_refused(&all, map, &data, &options, NULL, MERCER_UNSUPPORTED, 0, "EVIDENCE or LEAVE");
}

static int64_t resident_bytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024 * (int64_t)usage.ru_maxrss;
}

static void measure(int64_t D, int64_t rows, int64_t penalty_count, int32_t method) {
  static Drawn own;
  const int64_t before = resident_bytes();
  double penalties[64], residual;
  double* const w = calloc((size_t)D, sizeof *w);
  char spec[200];
  mercer_map* map;
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  mercer_scalapack_options options = options_of(penalties, penalty_count);
  mercer_scalapack_result result;
  const mercer_row_source source = drawn_source(&own, rows);
  const mercer_data data = data_from(&source);
  const mercer_matrix none = {0};
  double seconds;
  int64_t i, peak, largest;
  for (i = 0; i < penalty_count && i < 64; ++i) penalties[i] = 1e-6 * pow(10, (double)i / 4);
  snprintf(spec, sizeof spec,
           "{\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":5},\"inputs\":20,"
           "\"features\":%ld,\"seed\":1}",
           (long)D);
  map = map_of(spec);
  options.method = method;
  memset(&result, 0, sizeof result);
  result.struct_size = sizeof result;
  MPI_Barrier(MPI_COMM_WORLD);
  seconds = -MPI_Wtime();
  CHECK(mercer_scalapack_ridge(&all, map, &data, &options, NULL, mercer_matrix_f64(D, 1, w), none,
                               &result) == MERCER_OK);
  seconds += MPI_Wtime();
  peak = resident_bytes() - before;
  MPI_Allreduce(&peak, &largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  residual = residual_of(map, &own, w, D, result.penalty * (double)rows);
  CHECK(residual < 1e-9);
  if (rank == 0)
    printf(
        "D = %ld, n = %ld, %d processes, %ld penalties: %.1f s, %.3f GB more in a process "
        "at most, %.3f GB planned; lambda = %g, %ld iterations, residual %.1e\n",
        (long)D, (long)rows, ranks, (long)penalty_count, seconds, 1e-9 * (double)largest,
        1e-9 * (double)result.bytes, result.penalty, (long)result.iterations, residual);
  mercer_map_free(map);
  free(w);
}

static void check_all(void) {
  mercer_map* const map =
      map_of("{\"kernel\":{\"kernel\":\"gaussian\"},\"inputs\":4,\"features\":40,\"seed\":1}");
  int32_t method;
  check_cases();
  check_gcv();
  check_left_out();
  check_evidence();
  check_sources(map);
  check_communicators(map);
  for (method = MERCER_SCALAPACK_FACTORS; method <= MERCER_SCALAPACK_MIXED; ++method)
    if (method != MERCER_SCALAPACK_EIGENVALUES) check_progress(map, method);
  check_failing_rows(map);
  check_refusals(map);
  check_mpi_errors(map);
  check_maps();
  check_model(map);
  check_pass_refusals(map);
  check_passes();
  mercer_map_free(map);
}

int main(int argc, char** argv) {
  int level, own;
  draw_rows();
  check_without_mpi();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 3)
    measure(atol(argv[2]), atol(argv[3]), argc > 4 ? atol(argv[4]) : 1,
            argc > 5 ? atoi(argv[5]) : 0);
  else
    check_all();
  own = failures;
  MPI_Allreduce(&own, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
