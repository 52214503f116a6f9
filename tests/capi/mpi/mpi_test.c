/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * Models and tests of rows that the processes of mpirun share: the answer of one process with all
 * rows, the same bits again, the bytes that travel, and an end for all, by name, where one fails.
 * Usage: mpirun -n P mpi_test [die: a process is killed in its second pass] */
#include <math.h>
#include <mercer/mercer.h>
#include <mercer/mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 1500, d = 4, D = 128, text_size = 16384 };

static int ranks = 1, rank = 0, failures = 0, is_mpi_broken = 0;
static double x[n * d], y[n], classes[n], weights[n];
static int64_t inputs = d; /* that models have, the first */
static mercer_map* map = NULL;

static void check(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "rank %d of %d, line %d: %s\n", rank, ranks, line, what);
}
#define CHECK(holds) check((holds) != 0, #holds, __LINE__)

/* The library's call of MPI comes here, and fails where that is asked for. */
int MPI_Alltoallv(const void* from, const int counts[], const int starts[], MPI_Datatype type,
                  void* to, const int more[], const int places[], MPI_Datatype other,
                  MPI_Comm comm) {
  if (is_mpi_broken) return MPI_ERR_OTHER;
  return PMPI_Alltoallv(from, counts, starts, type, to, more, places, other, comm);
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
    y[i] = sin(2 * x[i * d]) + x[i * d + 1] * x[i * d + 2] + 0.2 * drawn(&state);
    classes[i] = x[i * d] + 0.5 * drawn(&state) > 0.3 ? 2 : x[i * d + 1] > 0.4 ? 1 : 0;
    weights[i] = (double)(i % 4);
  }
}

/* ---- Rows of a process, in memory or by callbacks. ---- */

typedef struct Part {
  const double *X, *Y;
  int64_t first, last, at;
  int passes, failing_pass, failing_block; /* failing_pass < 0: none */
} Part;

/* way 0: unequal parts; 1: the first of several processes has none; 2: all rows in each. */
static Part part_of(int way, const double* Y) {
  Part part = {x, NULL, 0, n, 0, 0, -1, 0};
  const int64_t shares = way == 0 ? (int64_t)ranks * (ranks + 1) / 2 : ranks > 1 ? ranks - 1 : 1;
  const int64_t before = way == 0 ? (int64_t)rank * (rank + 1) / 2 : ranks > 1 ? rank - 1 : 0;
  const int64_t own = way == 0 ? rank + 1 : 1;
  part.Y = Y;
  if (way == 2) return part;
  part.first = before < 0 ? 0 : n * before / shares;
  part.last = before < 0 ? 0 : n * (before + own) / shares;
  return part;
}

static mercer_rows rows_of(int64_t rows, const double* X) {
  mercer_rows made = mercer_rows_f64(rows, d, X);
  made.d = inputs;
  return made;
}

static int32_t rewind_part(void* user) {
  Part* const part = user;
  part->at = part->first;
  return part->passes++ == part->failing_pass && part->failing_block == 0 ? 5 : 0;
}

static int32_t next_part(void* user, mercer_rows* X, mercer_rows* Y) {
  Part* const part = user;
  const int64_t left = part->last - part->at, rows = left < 100 ? left : 100;
  if (part->passes - 1 == part->failing_pass && part->at > part->first) {
    if (part->failing_block == 2) raise(SIGKILL);
    return 6;
  }
  if (rows == 0) return 0;
  *X = rows_of(rows, part->X + part->at * d);
  if (part->Y != NULL) *Y = mercer_rows_f64(rows, 1, part->Y + part->at);
  part->at += rows;
  return 0;
}

static mercer_row_source source_of(Part* part) {
  mercer_row_source source;
  memset(&source, 0, sizeof source);
  source.struct_size = sizeof source;
  source.d = inputs;
  source.m = part->Y == NULL ? 0 : 1;
  source.rewind = rewind_part;
  source.next = next_part;
  source.user = part;
  return source;
}

static mercer_data data_of(const Part* part, int is_weighted) {
  const mercer_rows none = {0};
  const int64_t rows = part->last - part->first;
  mercer_data data =
      mercer_data_of(rows_of(rows, part->X + part->first * d),
                     part->Y == NULL ? none : mercer_rows_f64(rows, 1, part->Y + part->first));
  data.weights = is_weighted && rows > 0 ? weights + part->first : NULL;
  data.map = map;
  return data;
}

static mercer_data data_from(const mercer_row_source* source) {
  const mercer_rows none = {0};
  mercer_data data = mercer_data_of(none, none);
  data.source = source;
  data.map = map;
  return data;
}

/* ---- One answer. ---- */

static uint64_t hash_of(const void* bytes, size_t count) {
  uint64_t hash = 14695981039346656037u;
  size_t i;
  for (i = 0; i < count; ++i) hash = (hash ^ ((const unsigned char*)bytes)[i]) * 1099511628211u;
  return hash;
}

static uint64_t hash_of_model(const mercer_model* model) {
  int64_t needed = 0;
  char* bytes;
  uint64_t hash;
  CHECK(mercer_model_write(model, NULL, NULL, 0, &needed) == MERCER_OK);
  bytes = malloc((size_t)needed);
  CHECK(mercer_model_write(model, NULL, bytes, needed, NULL) == MERCER_OK);
  hash = hash_of(bytes, (size_t)needed);
  free(bytes);
  return hash;
}

static int is_same_everywhere(uint64_t number) {
  uint64_t first = number;
  int same, all = 0;
  MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  same = first == number;
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all;
}

static double* predicted(const mercer_model* model, const char* what, int64_t* count) {
  mercer_predict_options options;
  const mercer_rows X = rows_of(n, x);
  int64_t columns = 0;
  double* values;
  const mercer_matrix none = {0};
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.columns = &columns;
  CHECK(mercer_model_predict(model, X, what, &options, NULL, none) == MERCER_OK);
  *count = n * columns;
  values = malloc((size_t)*count * sizeof(double));
  CHECK(mercer_model_predict(model, X, what, NULL, NULL, mercer_matrix_f64(n, columns, values)) ==
        MERCER_OK);
  return values;
}

/* The largest difference, in units of the largest number. */
static double difference(const mercer_model* a, const mercer_model* b, const char* what) {
  int64_t count = 0, other = 0, i;
  double *const of_a = predicted(a, what, &count), *const of_b = predicted(b, what, &other);
  double worst = 0, largest = 0;
  CHECK(count == other && count > 0);
  for (i = 0; i < count && i < other; ++i) {
    worst = fmax(worst, fabs(of_a[i] - of_b[i]));
    largest = fmax(largest, fabs(of_b[i]));
  }
  free(of_a);
  free(of_b);
  return worst / largest;
}

static mercer_model* fitted(mercer_mpi* all, const char* spec, const mercer_data* data) {
  mercer_model* model = NULL;
  const mercer_status status = mercer_mpi_fit(all, spec, data, NULL, &model);
  if (status != MERCER_OK) fprintf(stderr, "rank %d: %s: %s\n", rank, spec, all->error);
  CHECK(status == MERCER_OK && model != NULL);
  return model;
}

typedef struct Case {
  const char *spec, *what; /* what is compared besides values, or NULL */
  const double* Y;
  int is_weighted;
  double tolerance;
} Case;

/* The model of all rows in one process, by a source as well, which has another way than rows in
 * memory to few rows. */
static mercer_model* of_one_process(const Case* one) {
  mercer_mpi self = mercer_mpi_of(MPI_COMM_SELF);
  Part part = part_of(2, one->Y);
  const mercer_row_source source = source_of(&part);
  const mercer_data whole = data_of(&part, 1), plain = data_from(&source);
  mercer_model* model = NULL;
  if (one->is_weighted) return fitted(&self, one->spec, &whole);
  CHECK(mercer_model_fit(one->spec, &plain, NULL, &model) == MERCER_OK);
  return model;
}

static void check_case(const Case* one) {
  mercer_model* const alone = of_one_process(one);
  int way;
  for (way = 0; way < 2 && alone != NULL; ++way) {
    const Part part = part_of(way, one->Y);
    const mercer_data data = data_of(&part, one->is_weighted);
    mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
    mercer_model* const model = fitted(&all, one->spec, &data);
    mercer_model* const again = fitted(&all, one->spec, &data);
    double worst;
    if (model == NULL || again == NULL) return;
    CHECK(is_same_everywhere(hash_of_model(model)));
    CHECK(hash_of_model(model) == hash_of_model(again));
    worst = difference(model, alone, "value");
    if (one->what != NULL) worst = fmax(worst, difference(model, alone, one->what));
    if (rank == 0) printf("%.1e of %.0e: %s\n", worst, one->tolerance, one->spec);
    CHECK(worst <= one->tolerance);
    mercer_model_free(model);
    mercer_model_free(again);
  }
  mercer_model_free(alone);
}

static void check_models(void) {
  const Case cases[] = {
      {"{\"precision\":\"f64\",\"lambda\":1e-3}", NULL, y, 0, 1e-12},
      {"{\"precision\":\"f64\",\"lambda\":1e-3}", NULL, y, 1, 1e-12},
      {"{\"precision\":\"f64\",\"select\":{\"by\":\"leave_one_out\",\"smallest\":1e-4}}", NULL, y,
       0, 1e-12},
      {"{\"precision\":\"f64\",\"task\":\"classification\",\"classes\":3,\"lambda\":1e-3}",
       "probability", classes, 0, 1e-12},
      {"{\"precision\":\"f64\",\"model\":\"logistic\",\"task\":\"classification\",\"classes\":3,"
       "\"lambda\":1e-3,\"tolerance\":1e-15}",
       "probability", classes, 0, 1e-7},
      {"{\"precision\":\"f64\",\"model\":\"gp\",\"select\":{\"by\":\"evidence\",\"smallest\":1e-4}"
       "}",
       "latent_variance", y, 0, 1e-12},
      {"{\"precision\":\"f64\",\"model\":\"kernel_pca\",\"components\":4}", NULL, NULL, 0, 1e-12},
      {"{\"precision\":\"f64\",\"model\":\"kernel_pca\",\"components\":4}", NULL, NULL, 1, 1e-12},
      {"{\"precision\":\"f64\",\"model\":\"svgp\",\"task\":\"classification\",\"classes\":3,"
       "\"lambda\":1e-3}",
       NULL, classes, 0, 1e-12}};
  size_t i;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) check_case(&cases[i]);
}

/* Sums of a grid of frequencies and conjugate gradients on them, without features. The right-hand
 * sides differ by rounding, and so do the draws of a process, whose errors are far larger. */
static void check_grid(void) {
  const Case cases[] = {
      {"{\"precision\":\"f64\",\"solver\":\"cg\",\"lambda\":1e-4}", NULL, y, 0, 1e-12},
      {"{\"precision\":\"f64\",\"solver\":\"cg\",\"lambda\":1e-4}", NULL, y, 1, 1e-12},
      {"{\"precision\":\"f64\",\"model\":\"gp\",\"solver\":\"cg\",\"lambda\":1e-4}",
       "latent_variance", y, 0, 1e-12}};
  mercer_map* const of_all = map;
  size_t i;
  map = NULL;
  CHECK(mercer_map_from_spec(
            "{\"map\":\"fourier\",\"projection\":\"grid\",\"features\":400,\"inputs\":2,"
            "\"diameter\":4,\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":0.5}}",
            &map) == MERCER_OK);
  inputs = 2;
  for (i = 0; i < sizeof cases / sizeof cases[0] && map != NULL; ++i) check_case(&cases[i]);
  mercer_map_free(map);
  map = of_all;
  inputs = d;
}

/* Single precision, whose features round, and CSR rows: the same bits in all processes, and about
 * the same model. */
static void check_sparse_and_single(void) {
  static float narrow[n * d], targets[n];
  static double values[n * d];
  static int32_t columns[n * d], offsets[n + 1];
  const char* const spec = "{\"precision\":\"f64\",\"lambda\":1e-3}";
  const Part part = part_of(0, y);
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  mercer_data dense = data_of(&part, 1), sparse = dense, single = dense;
  mercer_model *of_dense, *of_sparse, *of_single;
  int64_t i;
  for (i = 0; i < n * d; ++i) {
    narrow[i] = (float)x[i];
    values[i] = x[i];
    columns[i] = (int32_t)(i % d);
  }
  for (i = 0; i <= n; ++i) offsets[i] = (int32_t)(i * d);
  for (i = 0; i < n; ++i) targets[i] = (float)y[i];
  sparse.X = mercer_rows_csr(MERCER_NUMBER_F64, MERCER_INDEX_I32, dense.X.n, d, n * d,
                             offsets + part.first, columns, values);
  single.X = mercer_rows_f32(dense.X.n, d, narrow + part.first * d);
  single.Y = mercer_rows_f32(dense.X.n, 1, targets + part.first);
  of_dense = fitted(&all, spec, &dense);
  of_sparse = fitted(&all, spec, &sparse);
  of_single = fitted(&all, spec, &single);
  if (of_dense != NULL && of_sparse != NULL && of_single != NULL) {
    CHECK(difference(of_sparse, of_dense, "value") <= 1e-12);
    CHECK(difference(of_single, of_dense, "value") <= 1e-4);
  }
  mercer_model_free(of_dense);
  mercer_model_free(of_sparse);
  mercer_model_free(of_single);
}

/* ---- Sums. ---- */

static double term(int of_rank, int64_t i) { return 1.0 / (double)(1 + (i * 37 + of_rank) % 1009); }

/* In the tree over ranks that the header promises. */
static double tree_sum(int64_t i) {
  double terms[64];
  int r, step;
  for (r = 0; r < ranks; ++r) terms[r] = term(r, i);
  for (step = 1; step < ranks; step *= 2)
    for (r = 0; r + step < ranks; r += 2 * step) terms[r] += terms[r + step];
  return terms[0];
}

/* Words of 24 bytes from each other process, then 2 (1 - 1/P) of the numbers in slices. */
static int64_t bytes_of_sum(int64_t count) {
  const int64_t chunk = (int64_t)1 << 21, words = 24 * (int64_t)(ranks - 1);
  int64_t first, bytes = words;
  for (first = 0; count > 1 && first < count; first += chunk) {
    const int64_t c = count - first < chunk ? count - first : chunk;
    const int64_t own = c * (rank + 1) / ranks - c * rank / ranks;
    bytes += 8 * (own * (ranks - 1) + c - own);
  }
  return bytes;
}

static void check_sums(void) {
  const int64_t counts[] = {1, 2, 3, 1000, 4200003}; /* the last in three chunks */
  size_t c;
  for (c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
    const int64_t count = counts[c], step = count > 5000 ? 997 : 1;
    mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
    double* const numbers = malloc((size_t)count * sizeof(double));
    int64_t i, wrong = 0;
    for (i = 0; i < count; ++i) numbers[i] = term(rank, i);
    CHECK(mercer_mpi_sum(&all, count, numbers) == 0);
    for (i = 0; i < count; i += step) wrong += numbers[i] != tree_sum(i);
    wrong += numbers[count - 1] != tree_sum(count - 1);
    CHECK(wrong == 0);
    CHECK(is_same_everywhere(hash_of(numbers, (size_t)count * sizeof(double))));
    CHECK(all.sums == 1 && all.numbers == count && all.bytes == bytes_of_sum(count));
    free(numbers);
  }
}

/* The sums that GUIDE.md lists for ridge at a given lambda, and what they cost. */
static void check_bytes_of_fit(void) {
  const int64_t m = 1;
  const int64_t after[] = {d + 3, 2 * d, 2 * m + 1, D + m + 1,
                           D * (D + 1) / 2 + D * m + D + 2 * m + 2};
  int64_t sums = 0, numbers = 0, bytes = 0, i;
  const Part part = part_of(0, y);
  const mercer_data data = data_of(&part, 0);
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  mercer_model* const model = fitted(&all, "{\"precision\":\"f64\",\"lambda\":1e-3}", &data);
#define COUNT(k) (++sums, numbers += (k), bytes += bytes_of_sum(k))
#define PAIR(k) (COUNT(1), COUNT(k))
  COUNT(3 + ranks); /* whether rows have weights or sources, and how many are in memory */
  PAIR(3);
  PAIR(5 * d + 2);
  for (i = 0; i < 16; ++i) PAIR(64 * d);
  PAIR(5 * m + 2);
  for (i = 0; i < 16; ++i) PAIR(64 * m);
  for (i = 0; i < 5; ++i) PAIR(after[i]);
  COUNT(1);
  bytes += 24 * (int64_t)(ranks - 1); /* whether all have a model */
  if (rank == 0)
    printf("ridge, d = %d, D = %d: %ld sums of %ld numbers, %ld bytes, expected %ld\n", d, D,
           (long)all.sums, (long)all.numbers, (long)all.bytes, (long)bytes);
  CHECK(all.sums == sums && all.numbers == numbers && all.bytes == bytes);
  mercer_model_free(model);
}

/* The guide's formula, but for the rounding of slices. Squares travel some 65,536 at a time. */
static void check_formula(int64_t features) {
  const int64_t m = 1, p = ranks;
  const double numbers = (double)(features * features + 5 * features + 2 * features * m + 2064 * d +
                                  2068 * m + 34 + 2 * p) /
                         2;
  char spec[200];
  const Part part = part_of(0, y);
  mercer_data data = data_of(&part, 0);
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  int64_t more;
  double formula;
  data.map = NULL;
  snprintf(spec, sizeof spec,
           "{\"map\":{\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":2},\"features\":%d},"
           "\"search\":false,\"lambda\":1e-2}",
           (int)features);
  mercer_model_free(fitted(&all, spec, &data));
  more = (all.sums - 82) / 2;
  CHECK((double)all.numbers == numbers + (double)(41 + more)); /* with the words for failures */
  CHECK(more >= 0 && (double)more <= numbers / 65536);
  formula = 16 * numbers / (double)p + 1992 + 48 * (double)more; /* from each other process */
  CHECK(fabs((double)all.bytes - (double)(p - 1) * formula) <= (double)((41 + more) * 8 * p));
  if (rank == 0)
    printf("ridge, d = %d, D = %d: %ld bytes, by the formula %.0f\n", d, (int)features,
           (long)all.bytes, (double)(p - 1) * formula);
}

/* The numbers of two texts are near each other, and all else is the same: differences of numbers
 * near 1 round by some 1e-16, which small standard errors divide. */
static int are_near(const char* a, const char* b) {
  while (*a != '\0' && *b != '\0') {
    char *a_end, *b_end;
    const double of_a = strtod(a, &a_end), of_b = strtod(b, &b_end);
    const double most = 1e-11 * fmax(1, fabs(of_b));
    if (a_end == a ? *a++ != *b++ : !(fabs(of_a - of_b) <= most)) {
      fprintf(stderr, "%.17g and %.17g, before %.40s\n", of_a, of_b, a_end);
      return 0;
    }
    if (a_end > a) a = a_end, b = b_end;
  }
  return *a == *b;
}

static void check_rows_sums(void) {
  static char shared[text_size], again[text_size], whole[text_size];
  const char* const json = "{\"test\":\"mmd\",\"permutations\":60,\"features\":64}";
  const int64_t half = n / 2;
  const mercer_rows X = mercer_rows_f64(half, d, x), Y = mercer_rows_f64(n - half, d, x + half * d);
  int run;
  CHECK(mercer_rows_test(json, X, Y, NULL, whole, text_size, NULL) == MERCER_OK);
  for (run = 0; run < 2; ++run) {
    const int64_t first = half * rank / ranks, last = half * (rank + 1) / ranks;
    mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
    mercer_rows_sums* sums = NULL;
    mercer_status status = mercer_rows_sums_create(json, half, n - half, X, Y, NULL, &sums);
    if (status == MERCER_OK)
      status = mercer_rows_sums_add(sums, 0, first, mercer_rows_f64(last - first, d, x + first * d),
                                    NULL);
    if (status == MERCER_OK && rank == ranks - 1)
      status = mercer_rows_sums_add(sums, 1, 0, Y, NULL);
    if (status == MERCER_OK) status = mercer_rows_sums_reduce(sums, mercer_mpi_sum, &all);
    CHECK(mercer_mpi_agree(&all, status, NULL) == MERCER_OK);
    CHECK(mercer_rows_sums_answer(sums, NULL, run == 0 ? shared : again, text_size, NULL) ==
          MERCER_OK);
    mercer_rows_sums_free(sums);
  }
  CHECK(are_near(shared, whole));
  CHECK(strcmp(shared, again) == 0);
  CHECK(is_same_everywhere(hash_of(shared, strlen(shared))));
}

/* ---- One process fails. ---- */

/* In every process the same status, no model, and a text with the rank and what it says. */
static void check_refused(mercer_mpi* all, const char* spec, const mercer_data* data,
                          mercer_context* context, mercer_status expected, int by,
                          const char* says) {
  char who[32];
  mercer_model* model = (mercer_model*)(void*)who;
  const mercer_status status = mercer_mpi_fit(all, spec, data, context, &model);
  snprintf(who, sizeof who, "rank %d: ", by);
  CHECK(status == expected && model == NULL);
  CHECK(strncmp(all->error, who, strlen(who)) == 0 && strstr(all->error, says) != NULL);
  if (status != expected || strstr(all->error, says) == NULL)
    fprintf(stderr, "rank %d: status %d, \"%s\", expected %d, %s\"%s\"\n", rank, (int)status,
            all->error, (int)expected, who, says);
}

static void check_failing_sources(void) {
  const char* const spec = "{\"precision\":\"f64\",\"select\":{\"by\":\"leave_one_out\"}}";
  int pass, block;
  for (pass = 0; pass < 3; ++pass) {
    for (block = 0; block < 2; ++block) {
      mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
      Part part = part_of(0, y);
      const mercer_row_source source = source_of(&part);
      const mercer_data data = data_from(&source);
      if (rank == ranks - 1) part.failing_pass = pass;
      part.failing_block = block;
      check_refused(&all, spec, &data, NULL, MERCER_IO, ranks - 1,
                    block == 0 ? "source->rewind returned 5" : "source->next returned 6");
    }
  }
}

/* mpirun ends the others. */
static void die(void) {
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  Part part = part_of(0, y);
  const mercer_row_source source = source_of(&part);
  const mercer_data data = data_from(&source);
  mercer_model* model = NULL;
  if (rank == ranks - 1) part.failing_pass = 1;
  part.failing_block = 2;
  mercer_mpi_fit(&all, "{\"lambda\":1e-3}", &data, NULL, &model);
}

static void check_bad_arguments(void) {
  static double spoilt[n * d];
  const char* const spec = "{\"precision\":\"f64\",\"lambda\":1e-3}";
  const int is_last = rank == ranks - 1, last = ranks - 1;
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  const mercer_rows none = {0};
  Part part = part_of(0, y);
  mercer_data data = data_of(&part, 0), with_nan, without_rows = data, differs = data;
  mercer_context *cancelled = NULL, *small = NULL;
  mercer_context_options options;
  mercer_model* model = NULL;
  memcpy(spoilt, x, sizeof x);
  if (is_last) spoilt[part.first * d + d + 2] = NAN;
  part.X = spoilt;
  with_nan = data_of(&part, 0);
  check_refused(&all, spec, &with_nan, NULL, MERCER_INVALID_ARGUMENT, last, "X: row 1, column 2");

  without_rows.X = none;
  check_refused(&all, spec, is_last ? NULL : &data, NULL, MERCER_INVALID_ARGUMENT, last,
                "data = NULL");
  check_refused(&all, spec, is_last ? &without_rows : &data, NULL, MERCER_INVALID_ARGUMENT, last,
                "data has no X");
  check_refused(&all, is_last ? "{\"center\":2}" : spec, &data, NULL, MERCER_INVALID_ARGUMENT, last,
                "center = 2");
  check_refused(&all, is_last ? NULL : spec, &data, NULL, MERCER_INVALID_ARGUMENT, last, "json");

  /* Calls that end before they sum: the others have come for a sum by then. */
  CHECK(mercer_context_create(NULL, &cancelled) == MERCER_OK);
  if (is_last) CHECK(mercer_context_cancel(cancelled, 1) == MERCER_OK);
  check_refused(&all, spec, &data, cancelled, MERCER_CANCELLED, last, "mercer_model_fit");
  mercer_context_free(cancelled);
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.memory_cap = is_last ? 20000 : 0;
  CHECK(mercer_context_create(&options, &small) == MERCER_OK);
  check_refused(&all, spec, &data, small, MERCER_OUT_OF_MEMORY, last, "mercer_model_fit");
  mercer_context_free(small);

  if (ranks > 1) {
    check_refused(&all, is_last ? "{\"precision\":\"f64\",\"lambda\":1e-2}" : spec, &data, NULL,
                  MERCER_INVALID_ARGUMENT, 0, "differ between");
    differs.weights = is_last ? weights : NULL;
    check_refused(&all, spec, &differs, NULL, MERCER_INVALID_ARGUMENT, 0, "in some processes");
  }
  CHECK(mercer_mpi_fit(&all, spec, &data, NULL, NULL) == MERCER_INVALID_ARGUMENT);
  model = fitted(&all, spec, &data); /* it is as usable as before */
  mercer_model_free(model);
}

static void check_agreement(void) {
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  double numbers[5] = {0, 0, 0, 0, 0};
  CHECK(mercer_mpi_agree(&all, MERCER_OK, NULL) == MERCER_OK);
  CHECK(mercer_mpi_agree(&all, rank == 0 ? MERCER_IO : MERCER_OK, "no part-0.csv") == MERCER_IO);
  CHECK(strcmp(all.error, "rank 0: no part-0.csv") == 0);
  if (ranks == 1) return;
  /* One has failed while the others sum. */
  if (rank == 1) {
    CHECK(mercer_mpi_agree(&all, MERCER_CORRUPT_FILE, "no number") == MERCER_CORRUPT_FILE);
  } else {
    CHECK(mercer_mpi_sum(&all, 5, numbers) == 1);
    CHECK(mercer_mpi_agree(&all, MERCER_IO, NULL) == MERCER_CORRUPT_FILE);
  }
  CHECK(strcmp(all.error, "rank 1: no number") == 0);
  CHECK(mercer_mpi_sum(&all, rank == 0 ? 3 : 5, numbers) == 1);
  CHECK(strstr(all.error, "numbers, expected ") != NULL);
  CHECK(mercer_mpi_agree(&all, MERCER_IO, NULL) == MERCER_IO);
  CHECK(strncmp(all.error, "rank 0: mercer_mpi_sum: ", 24) == 0);
}

static void check_mpi_errors(void) {
  const Part part = part_of(0, y);
  const mercer_data data = data_of(&part, 0);
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD), none = mercer_mpi_of(MPI_COMM_NULL);
  mercer_model* model = NULL;
  double number = 1;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  CHECK(mercer_mpi_fit(&none, "{}", &data, NULL, &model) == MERCER_INVALID_ARGUMENT);
  CHECK(strstr(none.error, "all->comm = MPI_COMM_NULL") != NULL);
  CHECK(mercer_mpi_fit(NULL, "{}", &data, NULL, &model) == MERCER_INVALID_ARGUMENT);
  if (ranks == 1) return;
  is_mpi_broken = 1;
  CHECK(mercer_mpi_fit(&all, "{\"lambda\":1e-3}", &data, NULL, &model) == MERCER_IO);
  is_mpi_broken = 0;
  MPI_Error_string(MPI_ERR_OTHER, text, &length);
  CHECK(model == NULL && strstr(all.error, "MPI_Alltoallv: ") != NULL);
  CHECK(strstr(all.error, text) != NULL);
  CHECK(mercer_mpi_sum(&all, 1, &number) == 1); /* that communicator is lost */
}

static void check_without_mpi(void) {
  mercer_mpi all = mercer_mpi_of(MPI_COMM_WORLD);
  mercer_model* model = NULL;
  const mercer_data data = mercer_data_of(mercer_rows_f64(n, d, x), mercer_rows_f64(n, 1, y));
  double number = 1;
  CHECK(mercer_mpi_fit(&all, "{}", &data, NULL, &model) == MERCER_INVALID_ARGUMENT);
  CHECK(strstr(all.error, "mercer_mpi_fit: MPI is not running") != NULL);
  CHECK(mercer_mpi_sum(&all, 1, &number) == 1 && mercer_mpi_agree(&all, MERCER_OK, NULL) != 0);
}

int main(int argc, char** argv) {
  int level, own;
  draw_rows();
  check_without_mpi();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(mercer_map_from_spec("{\"kernel\":{\"kernel\":\"gaussian\",\"lengthscale\":1.5},"
                             "\"inputs\":4,\"features\":128,\"seed\":3}",
                             &map) == MERCER_OK);
  if (argc > 1) die();
  check_sums();
  check_models();
  check_grid();
  check_sparse_and_single();
  check_bytes_of_fit();
  check_formula(128);
  check_formula(512);
  check_rows_sums();
  check_agreement();
  check_failing_sources();
  check_bad_arguments();
  check_mpi_errors();
  mercer_map_free(map);
  own = failures;
  MPI_Allreduce(&own, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  check_without_mpi();
  return failures == 0 ? 0 : 1;
}
