/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_IO_H
#define MERCER_IO_H

/* Maps, models, statistics, states of attention and sums of tests as bytes, in files and in memory:
 * versioned, checksummed, little-endian, the same on every machine. */

#include "mercer/attention.h"
#include "mercer/map.h"
#include "mercer/model.h"
#include "mercer/rows_test.h"
#include "mercer/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Files and bytes ====
 *
 * Every function takes either `path`, or NULL and an array. A path is passed to the system as it
 * is. Writing makes a temporary file beside the target and renames it, so that a file appears whole
 * or not at all ("Files" in GUIDE.md); only regular files are read or replaced.
 *
 * Errors: MERCER_IO (naming path and reason), MERCER_CORRUPT_FILE (truncated, checksum, impossible
 * sizes, options that no fit accepts), MERCER_NEWER_VERSION, MERCER_INVALID_ARGUMENT (a file of
 * another kind, an empty path, both or neither of path and array). Threads and cost: any number at
 * once; one pass over the numbers, 8 bytes for each.
 *
 * Example: a model written by one process and read by another; statistics to memory and back.
 *
 *   mercer_status status = mercer_model_write(model, path, NULL, 0, NULL);
 *   mercer_model* loaded = NULL;
 *   if (status == MERCER_OK) status = mercer_model_read(path, NULL, 0, &loaded);
 *   int64_t size = 0;
 *   if (status == MERCER_OK) status = mercer_statistics_write(statistics, NULL, NULL, 0, &size);
 *   void* bytes = malloc((size_t)size);
 *   if (status == MERCER_OK)
 *     status = mercer_statistics_write(statistics, NULL, bytes, size, NULL);
 *   mercer_statistics* copy = NULL;
 *   if (status == MERCER_OK) status = mercer_statistics_read(NULL, bytes, size, &copy);
 */

/** Writes an object to the file `path`, with buffer NULL, capacity 0 and needed NULL; or, with path
 *  NULL, writes the bytes of that file to `buffer`, by convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_map_write(const mercer_map* map, const char* path, void* buffer,
                                          int64_t capacity, int64_t* needed);
MERCER_API mercer_status mercer_model_write(const mercer_model* model, const char* path,
                                            void* buffer, int64_t capacity, int64_t* needed);
MERCER_API mercer_status mercer_statistics_write(const mercer_statistics* statistics,
                                                 const char* path, void* buffer, int64_t capacity,
                                                 int64_t* needed);
MERCER_API mercer_status mercer_attention_write(const mercer_attention* attention, const char* path,
                                                void* buffer, int64_t capacity, int64_t* needed);
MERCER_API mercer_status mercer_rows_sums_write(const mercer_rows_sums* rows_sums, const char* path,
                                                void* buffer, int64_t capacity, int64_t* needed);

/** Reads an object from the file `path`, with data NULL and size 0; or, with path NULL, from `size`
 *  such bytes, which need no alignment. The object is bit for bit the one that was written. */
MERCER_API mercer_status mercer_map_read(const char* path, const void* data, int64_t size,
                                         mercer_map** out);
MERCER_API mercer_status mercer_model_read(const char* path, const void* data, int64_t size,
                                           mercer_model** out);
MERCER_API mercer_status mercer_statistics_read(const char* path, const void* data, int64_t size,
                                                mercer_statistics** out);
MERCER_API mercer_status mercer_attention_read(const char* path, const void* data, int64_t size,
                                               mercer_attention** out);
MERCER_API mercer_status mercer_rows_sums_read(const char* path, const void* data, int64_t size,
                                               mercer_rows_sums** out);

/** What a file or its bytes hold, as JSON: {"kind":"map"|"model"|"statistics"|"attention"|
 *  "rows_sums","version","bytes",...}; for a map "spec" and "numbers" (their count beside the
 *  spec); for a model "spec", "rows", "outputs", "classes", "selection", "path_lambda",
 *  "path_error", "report" and "metadata"; for statistics "features", "outputs" and "rows"; for
 *  attention "spec", "batch", "heads", "values" and "keys"; for sums of a test "spec", "inputs",
 *  "x_rows", "y_rows", "x_added" and "y_added". Errors: those of reading. */
MERCER_API mercer_status mercer_file_info(const char* path, const void* data, int64_t size,
                                          char* buffer, int64_t capacity, int64_t* needed);

#ifdef __cplusplus
}
#endif
#endif
