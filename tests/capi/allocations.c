/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 *
 * Every allocation and every start of a thread of a script of calls fails, each in a process of its
 * own: the call ends in a status, or goes on where it needs none, but in no signal; the script then
 * works, and holds no more memory than before. Exempt, by name: what libopenblas asks for itself
 * (cblas_dgemm of small matrices writes to a null pointer; it interrupts the process for want of a
 * thread), the memory of libtbb (it ends the process),
 * and reports of searches as texts and in files, since the destructor of nlohmann::json allocates.
 * Usage: allocations WHAT STRIDE [THEN_ON], which tries every STRIDE-th; WHAT is memory or threads.
 * With THEN_ON all later ones fail, too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <mercer/mercer.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);
static volatile long fail_at, seen, live;
static int of_threads, then_on;

/* Whether a library of this name asks, itself or by operator new. */
static int is_asked_by(const char* library) {
  void* callers[5];
  const int count = backtrace(callers, 5);
  for (int k = 2; k < count; ++k) {
    Dl_info found;
    if (dladdr(callers[k], &found) != 0 && found.dli_fname != NULL &&
        strstr(found.dli_fname, library) != NULL)
      return 1;
  }
  return 0;
}
static int is_due(void) {
  if (fail_at == 0) return 0;
  const long now = __sync_add_and_fetch(&seen, 1);
  return now == fail_at || (then_on && now > fail_at);
}
static int fails(void) {
  if (of_threads || !is_due() || is_asked_by("blas") || is_asked_by("libtbb")) return 0;
  errno = ENOMEM;
  return 1;
}
static void* counted(void* p) {
  if (p != NULL) __sync_add_and_fetch(&live, 1);
  return p;
}
void* malloc(size_t n) { return fails() ? NULL : counted(__libc_malloc(n)); }
void* calloc(size_t n, size_t size) { return fails() ? NULL : counted(__libc_calloc(n, size)); }
void* realloc(void* p, size_t n) {
  if (fails()) return NULL;
  return p == NULL ? counted(__libc_realloc(p, n)) : __libc_realloc(p, n);
}
void* aligned_alloc(size_t a, size_t n) { return fails() ? NULL : counted(__libc_memalign(a, n)); }
int posix_memalign(void** p, size_t a, size_t n) {
  if (fails()) return ENOMEM;
  *p = counted(__libc_memalign(a, n));
  return *p == NULL ? ENOMEM : 0;
}
void free(void* p) {
  if (p != NULL) __sync_sub_and_fetch(&live, 1);
  __libc_free(p);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  static int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "pthread_create");
  return of_threads && !is_asked_by("blas") && is_due() ? EAGAIN
                                                        : real(thread, attributes, start, argument);
}

enum { kRows = 30, kInputs = 3, kFeatures = 32 };
static double X[kRows * kInputs], y[kRows], labels[kRows], Z[kRows * kFeatures];
static char text[1 << 20], bytes[1 << 20];

static mercer_rows inputs(void) { return mercer_rows_f64(kRows, kInputs, X); }

static mercer_status kernels(void) {
  mercer_kernel* kernel = NULL;
  int64_t needed = 0;
  mercer_status status = mercer_kernel_from_spec(
      "{\"kernel\":\"sum\",\"parts\":[{\"kernel\":\"matern\",\"nu\":1.5,\"lengthscale\":[1,2,3]},"
      "{\"kernel\":\"spectral_mixture\",\"weights\":[0.5,0.5],\"means\":[[1,2,3],[2,3,4]],"
      "\"variances\":[[1,1,1],[1,2,1]]}]}",
      &kernel);
  if (status == MERCER_OK) status = mercer_kernel_spec(kernel, text, sizeof text, &needed);
  mercer_kernel_free(kernel);
  return status;
}

static mercer_status maps_of(const char* spec) {
  mercer_map *map = NULL, *again = NULL;
  int64_t needed = 0;
  mercer_status status = mercer_map_from_spec(spec, &map);
  if (status == MERCER_OK)
    status = mercer_map_apply_f64(map, kRows, X, kInputs, NULL, Z, kFeatures);
  if (status == MERCER_OK) status = mercer_map_spec(map, text, sizeof text, &needed);
  if (status == MERCER_OK) status = mercer_map_write(map, NULL, bytes, sizeof bytes, &needed);
  if (status == MERCER_OK) status = mercer_map_read(NULL, bytes, needed, &again);
  mercer_map_free(map);
  mercer_map_free(again);
  return status;
}
static mercer_status maps(void) {
  return maps_of(
      "{\"map\":\"fourier\",\"kernel\":{\"kernel\":\"matern\",\"nu\":1.5,\"lengthscale\":[1,2,3]},"
      "\"inputs\":3,\"features\":32,\"projection\":\"orthogonal\"}");
}
static mercer_status sketches(void) {
  return maps_of(
      "{\"map\":\"tensor_srht\",\"kernel\":{\"kernel\":\"polynomial\",\"degree\":3},\"inputs\":3,"
      "\"features\":32}");
}

static mercer_status models_of(const char* spec, const double* targets, const char* what) {
  mercer_model *model = NULL, *again = NULL;
  int64_t needed = 0, columns = 1;
  mercer_data data = mercer_data_of(inputs(), mercer_rows_f64(kRows, 1, targets));
  mercer_status status = mercer_model_fit(spec, &data, NULL, &model);
  if (status == MERCER_OK) status = mercer_model_text(model, "spec", text, sizeof text, &needed);
  if (status == MERCER_OK) status = mercer_model_text(model, "report", text, sizeof text, &needed);
  if (status == MERCER_OK) status = mercer_model_write(model, NULL, bytes, sizeof bytes, &needed);
  if (status == MERCER_OK) status = mercer_model_read(NULL, bytes, needed, &again);
  if (strcmp(what, "probability") == 0) columns = 2;
  if (status == MERCER_OK)
    status = mercer_model_predict(again, inputs(), what, NULL, NULL,
                                  mercer_matrix_f64(kRows, columns, Z));
  mercer_model_free(model);
  mercer_model_free(again);
  return status;
}
static mercer_status ridge(void) {
  return models_of("{\"search\":false,\"lengthscale\":1,\"map\":{\"features\":32}}", y, "value");
}
static mercer_status process(void) {
  return models_of(
      "{\"model\":\"gp\",\"search\":false,\"lengthscale\":1,\"map\":{\"features\":32}}", y,
      "predictive_variance");
}
static mercer_status classes(void) {
  return models_of(
      "{\"model\":\"logistic\",\"search\":false,\"lengthscale\":1,\"task\":\"classification\","
      "\"map\":{\"map\":\"nystroem\",\"features\":16}}",
      labels, "probability");
}
static mercer_status searched(void) {
  mercer_model* model = NULL;
  mercer_data data = mercer_data_of(inputs(), mercer_rows_f64(kRows, 1, y));
  mercer_status status = mercer_model_fit(
      "{\"assess\":false,\"ard\":\"off\",\"map\":{\"features\":16}}", &data, NULL, &model);
  if (status == MERCER_OK)
    status =
        mercer_model_predict(model, inputs(), "value", NULL, NULL, mercer_matrix_f64(kRows, 1, Z));
  mercer_model_free(model);
  return status;
}

static mercer_status questions(void) {
  int64_t needed = 0;
  double lengthscale = 0;
  mercer_status status = mercer_bound("{\"bound\":\"ridge\",\"rows\":1000,\"r\":0.5,\"gamma\":0.5}",
                                      text, sizeof text, &needed);
  if (status == MERCER_OK) status = mercer_specs("gaussian", text, sizeof text, &needed);
  if (status == MERCER_OK)
    status = mercer_rows_test("{\"test\":\"mmd\",\"features\":16,\"permutations\":20}",
                              mercer_rows_f64(kRows / 2, kInputs, X),
                              mercer_rows_f64(kRows / 2, kInputs, X + kRows / 2 * kInputs), NULL,
                              text, sizeof text, &needed);
  if (status == MERCER_OK) status = mercer_lengthscale_median(inputs(), 100, 0, NULL, &lengthscale);
  return status;
}

static mercer_status attends(void) {
  mercer_map* map = NULL;
  mercer_status status = mercer_map_from_spec(
      "{\"map\":\"positive\",\"kernel\":{\"kernel\":\"exponential\"},\"inputs\":3,\"features\":16}",
      &map);
  mercer_tokens tokens;
  memset(&tokens, 0, sizeof tokens);
  tokens.struct_size = sizeof tokens;
  tokens.Q = tokens.K = inputs();
  tokens.V = mercer_rows_f64(kRows, 1, y);
  if (status == MERCER_OK)
    status = mercer_attend(map, &tokens, NULL, mercer_matrix_f64(kRows, 1, Z));
  mercer_map_free(map);
  return status;
}

static const struct {
  const char* name;
  mercer_status (*run)(void);
} kScript[] = {{"kernels", kernels}, {"maps", maps},           {"sketches", sketches},
               {"ridge", ridge},     {"gp", process},          {"logistic on nystroem", classes},
               {"search", searched}, {"questions", questions}, {"attention", attends}};

/* What a failure came to, and whether the script works afterwards and gives back what it took:
 * threads of oneTBB and the text of the last error are kept, but a leak grows with every turn. */
static int failed_at(mercer_status (*run)(void), long k) {
  enum { kTurns = 6 };
  mercer_status ended = MERCER_OK;
  int grown = 0;
  for (int turn = 0; turn < (of_threads ? 1 : kTurns); ++turn) {
    const long before = live;
    seen = 0;
    fail_at = k;
    ended = run();
    fail_at = 0;
    if (seen < k) return 98;
    grown = live > before ? grown + 1 : 0;
  }
  if (grown >= kTurns - 2) return 97;
  return run() != MERCER_OK ? 96 : (int)ended;
}

/* 98: there was no such allocation; 97: memory is lost; 96: the next calls fail. */
static int in_a_process(mercer_status (*run)(void), long k) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) _exit(failed_at(run, k));
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int count, char** arguments) {
  const long stride = count > 2 ? atol(arguments[2]) : 1;
  of_threads = count > 1 && strcmp(arguments[1], "threads") == 0;
  then_on = count > 3;
  int bad = 0;
  is_asked_by(""); /* loads what it needs */
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kInputs; ++j) X[i * kInputs + j] = (i * 7 + j * 13) % 11 / 5.0 - 1;
    y[i] = X[i * kInputs] * X[i * kInputs + 1] + 0.01 * (i % 3);
    labels[i] = i % 2;
  }
  for (size_t s = 0; s < sizeof kScript / sizeof *kScript; ++s) {
    long k = 1, refused = 0;
    const int plain = in_a_process(kScript[s].run, 1L << 60);
    if (plain != 98) {
      printf("%s: ends with %d when nothing fails\n", kScript[s].name, plain);
      ++bad;
      continue;
    }
    for (;; k += stride) {
      const int ended = in_a_process(kScript[s].run, k);
      if (ended == 98) break;
      refused += ended == MERCER_OUT_OF_MEMORY;
      if (ended < 0 || ended == 97 || ended == 96 || ended == MERCER_INTERNAL ||
          (of_threads && ended != MERCER_OK)) {
        printf("%s: %s %ld fails and the call ends with %d\n", kScript[s].name, arguments[1], k,
               ended);
        ++bad;
      }
    }
    printf("%s: about %ld of %s, of those that failed %ld were told\n", kScript[s].name, k - 1,
           arguments[1], refused);
    bad += !of_threads && refused == 0;
  }
  return bad > 0;
}
