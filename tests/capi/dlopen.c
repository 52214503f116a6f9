/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 * Opening the library at run time, using it, closing it and opening it again: no undefined symbol,
 * no thread that outlives its code. Usage: dlopen LIBMERCER.SO */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef void (*function)(void);
typedef int (*map_from_spec)(const char*, void**);
typedef int (*map_apply)(const void*, int64_t, const double*, int64_t, void*, double*, int64_t);
typedef void (*map_free)(void*);

static function find(void* library, const char* name) {
  function found = NULL;
  void* symbol = dlsym(library, name);
  memcpy(&found, &symbol, sizeof found); /* the conversion POSIX promises and ISO C lacks */
  return found;
}

static int use(const char* path) {
  static double X[20000], Z[20000 * 8];
  const char* spec =
      "{\"map\":\"fourier\",\"kernel\":{\"kernel\":\"gaussian\"},\"inputs\":1,\"features\":8}";
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* map = NULL;
  int status;
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  status = ((map_from_spec)find(library, "mercer_map_from_spec"))(spec, &map);
  if (status == 0)
    status = ((map_apply)find(library, "mercer_map_apply_f64"))(map, 20000, X, 1, NULL, Z, 8);
  ((map_free)find(library, "mercer_map_free"))(map);
  if (dlclose(library) != 0) return 1;
  return status == 0 && Z[0] == 0.5 ? 0 : 1; /* cos(0)/sqrt(F), F = 4 */
}

int main(int argc, char** argv) {
  const struct timespec moment = {0, 50000000}; /* in which a worker would run code that is gone */
  int failures = 0, i;
  if (argc != 2) return 2;
  for (i = 0; i < 3; ++i) {
    failures += use(argv[1]);
    nanosleep(&moment, NULL);
  }
  return failures;
}
