/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors
 *
 * Every call by which the library reads and writes files fails once, and from then on, for want of
 * space and by a broken disk; or is interrupted, or writes a byte at a time, which no caller notices.
 * An object of each kind replaces an earlier file: afterwards that is there whole, or the new one is;
 * no other file and no descriptor stays; the next call works. Usage: file_faults FOLDER */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mercer/mercer.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail_at, seen, error, then_on;
static int fails(void) {
  if (fail_at == 0 || (++seen != fail_at && !(then_on && seen > fail_at))) return 0;
  errno = error;
  return 1;
}
/* Only reads and writes are interrupted; an error of 0 stands for short ones. */
static int is_mild(void) { return error == EINTR || error == 0; }

ssize_t write(int file, const void* bytes, size_t size) {
  if (fails()) {
    if (error != 0) return -1;
    size = 1;
  }
  return syscall(SYS_write, file, bytes, size);
}
ssize_t read(int file, void* bytes, size_t size) {
  if (fails()) {
    if (error != 0) return -1;
    size = 1;
  }
  return syscall(SYS_read, file, bytes, size);
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
  va_end(rest);
  return !is_mild() && fails() ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int fsync(int file) { return !is_mild() && fails() ? -1 : (int)syscall(SYS_fsync, file); }
int fchmod(int file, mode_t mode) {
  return !is_mild() && fails() ? -1 : (int)syscall(SYS_fchmod, file, mode);
}
int rename(const char* from, const char* to) {
  return !is_mild() && fails() ? -1 : (int)syscall(SYS_rename, from, to);
}
int close(int file) { /* which is closed whatever it answers */
  const int answer = (int)syscall(SYS_close, file);
  return !is_mild() && fails() ? -1 : answer;
}

enum { kRows = 30, kMost = 1 << 20 };
static double X[kRows * 3], y[kRows];
static char target[4096], bytes[kMost], found[kMost];
static mercer_map* map;
static mercer_model* model;
static mercer_statistics* statistics;
static mercer_attention* attention;
static mercer_rows_sums* rows_sums;

#define KIND(name)                                                                               \
  static mercer_status write_##name(const char* path, void* to, int64_t size, int64_t* needed) { \
    return mercer_##name##_write(name, path, to, size, needed);                                  \
  }                                                                                              \
  static mercer_status read_##name(const char* path) {                                           \
    mercer_##name* made = NULL;                                                                  \
    const mercer_status status = mercer_##name##_read(path, NULL, 0, &made);                     \
    if ((status == MERCER_OK) != (made != NULL)) return MERCER_INTERNAL;                         \
    mercer_##name##_free(made);                                                                  \
    return status;                                                                               \
  }
KIND(map)
KIND(model)
KIND(statistics)
KIND(attention)
KIND(rows_sums)
#undef KIND

static const struct {
  const char* name;
  mercer_status (*write)(const char*, void*, int64_t, int64_t*);
  mercer_status (*read)(const char*);
} kKinds[] = {{"map", write_map, read_map},
              {"model", write_model, read_model},
              {"statistics", write_statistics, read_statistics},
              {"attention", write_attention, read_attention},
              {"sums", write_rows_sums, read_rows_sums}};

static void prepare(void) {
  mercer_rows rows = mercer_rows_f64(kRows, 3, X);
  mercer_data data = mercer_data_of(rows, mercer_rows_f64(kRows, 1, y));
  for (int i = 0; i < kRows * 3; ++i) X[i] = (i * 7 % 11) / 5.0 - 1;
  for (int i = 0; i < kRows; ++i) y[i] = X[3 * i] + 0.1 * (i % 3);
  mercer_map_from_spec(
      "{\"map\":\"positive\",\"kernel\":{\"kernel\":\"exponential\"},\"inputs\":3,\"features\":16}",
      &map);
  mercer_model_fit("{\"search\":false,\"lambda\":0.1,\"map\":{\"features\":16}}", &data, NULL,
                   &model);
  mercer_statistics_create(3, 1, &statistics);
  mercer_attention_create(map, 1, 1, 1, &attention);
  mercer_rows_sums_create("{\"test\":\"mmd\",\"features\":8}", kRows, kRows, rows, rows, NULL,
                          &rows_sums);
}

static int entries(const char* folder) {
  DIR* const open_folder = opendir(folder);
  int count = 0;
  while (open_folder != NULL && readdir(open_folder) != NULL) ++count;
  if (open_folder != NULL) closedir(open_folder);
  return count;
}
static size_t content(void) {
  FILE* const file = fopen(target, "rb");
  const size_t size = file == NULL ? 0 : fread(found, 1, kMost, file);
  if (file != NULL) fclose(file);
  return size;
}

static int complain(const char* kind, const char* what) {
  printf("%s, %s, call %d of error %d%s\n", kind, what, fail_at, error, then_on ? " and on" : "");
  return 1;
}

/* One failure of a write and of a read; 0 where there were not so many calls. */
static int try_one(size_t kind, const char* folder, int k, int* bad) {
  const char* const name = kKinds[kind].name;
  int64_t size = 0;
  kKinds[kind].write(NULL, NULL, 0, &size);
  kKinds[kind].write(NULL, bytes, size, NULL);
  FILE* const old = fopen(target, "wb");
  fputs("old", old);
  fclose(old);
  const int files = entries(folder), descriptors = entries("/proc/self/fd");
  seen = 0;
  fail_at = k;
  const mercer_status wrote = kKinds[kind].write(target, NULL, 0, NULL);
  const int calls = seen;
  fail_at = 0;
  const size_t there = content();
  const int is_new = there == (size_t)size && memcmp(bytes, found, there) == 0;
  fail_at = k; /* for messages */
  if (wrote != MERCER_OK && (wrote != MERCER_IO || is_mild()))
    *bad += complain(name, "another status");
  if (wrote == MERCER_OK && !is_new) *bad += complain(name, "not what was to be written");
  if (wrote != MERCER_OK && (there != 3 || memcmp(found, "old", 3) != 0))
    *bad += complain(name, "the old file is gone");
  if (entries(folder) != files) *bad += complain(name, "another file stays");
  fail_at = 0;
  if (kKinds[kind].write(target, NULL, 0, NULL) != MERCER_OK)
    *bad += complain(name, "the next write fails");
  seen = 0;
  fail_at = k;
  const mercer_status read = kKinds[kind].read(target);
  const int of_read = seen;
  if (read != MERCER_OK && (read != MERCER_IO || is_mild()))
    *bad += complain(name, "read: another status");
  fail_at = 0;
  if (kKinds[kind].read(target) != MERCER_OK) *bad += complain(name, "the next read fails");
  if (entries("/proc/self/fd") != descriptors) *bad += complain(name, "a descriptor stays");
  return calls >= k || of_read >= k;
}

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const int errors[] = {ENOSPC, EIO, EINTR, 0};
  int bad = 0, tried = 0;
  mkdir(arguments[1], 0777);
  snprintf(target, sizeof target, "%s/target", arguments[1]);
  prepare();
  for (size_t kind = 0; kind < sizeof kKinds / sizeof *kKinds; ++kind)
    for (int e = 0; e < 4; ++e)
      for (then_on = 0; then_on < (errors[e] == EINTR ? 1 : 2); ++then_on) {
        error = errors[e];
        for (int k = 1; try_one(kind, arguments[1], k, &bad); ++k) ++tried;
      }
  printf("%d failures of reading and writing, %d wrong\n", tried, bad);
  mercer_map_free(map);
  mercer_model_free(model);
  mercer_statistics_free(statistics);
  mercer_attention_free(attention);
  mercer_rows_sums_free(rows_sums);
  return bad > 0;
}
