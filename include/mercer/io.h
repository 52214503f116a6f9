/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_IO_H
#define MERCER_IO_H

/* Maps, models and statistics as bytes: versioned, checksummed, little-endian; the same on every
 * machine. First as files. Saving writes a temporary file beside the target and renames it: a file appears whole or
 * not at all. A file that is replaced keeps its permissions; a symbolic link is followed to its
 * end, where a file may be or not yet; only regular files are read or replaced. Errors: MERCER_IO
 * (naming path and reason), MERCER_CORRUPT_FILE (truncated, checksum, impossible sizes, options
 * that no fit accepts), MERCER_NEWER_VERSION (newer format), MERCER_INVALID_ARGUMENT (a file of another
 * kind). Paths are passed to the system as they are.
 *
 * The temporary file is called .mercer-XXXXXX.tmp, six letters or digits, in the directory of the
 * target (of what a link points to), and is removed when saving fails. Only a process that ends
 * meanwhile (SIGKILL, a crash, power) leaves it; nothing uses it again, so that it can be removed.
 * To find such files, here those older than an hour, which no saving still writes to:
 *   find DIRECTORY -name '.mercer-??????.tmp' -mmin +60 */

#include "mercer/learn.h"

#ifdef __cplusplus
extern "C" {
#endif

MERCER_API mercer_status mercer_map_save(const mercer_map* map, const char* path);
MERCER_API mercer_status mercer_map_load(const char* path, mercer_map** out);
MERCER_API mercer_status mercer_model_save(const mercer_model* model, const char* path);
MERCER_API mercer_status mercer_model_load(const char* path, mercer_model** out);
MERCER_API mercer_status mercer_statistics_save(const mercer_statistics* statistics,
                                                const char* path);
MERCER_API mercer_status mercer_statistics_load(const char* path, mercer_statistics** out);

/* The same bytes in memory: for messages between processes, databases, archives of other programs. */

/** Writes what _save would to the caller's memory. needed (may be NULL) gets the number of bytes; buffer
 * NULL with capacity 0 only asks. Errors: MERCER_INVALID_ARGUMENT (capacity too small: nothing is
 * written then but needed; NULL). Any number of threads at once. Cost: one pass over the numbers, 8
 * bytes for each. */
MERCER_API mercer_status mercer_map_to_bytes(const mercer_map* map, void* buffer, int64_t capacity,
                                             int64_t* needed);
MERCER_API mercer_status mercer_model_to_bytes(const mercer_model* model, void* buffer,
                                               int64_t capacity, int64_t* needed);
MERCER_API mercer_status mercer_statistics_to_bytes(const mercer_statistics* statistics,
                                                    void* buffer, int64_t capacity,
                                                    int64_t* needed);
/** An object from `size` such bytes, or those of a file: data is read only, needs no alignment, and may
 * come from anywhere. Errors: those of _load (messages say "data" where there is no path), and
 * MERCER_INVALID_ARGUMENT (NULL data of size > 0, a negative size). */
MERCER_API mercer_status mercer_map_from_bytes(const void* data, int64_t size, mercer_map** out);
MERCER_API mercer_status mercer_model_from_bytes(const void* data, int64_t size,
                                                 mercer_model** out);
MERCER_API mercer_status mercer_statistics_from_bytes(const void* data, int64_t size,
                                                      mercer_statistics** out);

/** What a file holds, as JSON: {"kind":"map"|"model"|"statistics","version":1,"bytes":n, ...} with,
 * for a map, "spec" and "numbers" (how many beside the spec); for a model "spec", "rows",
 * "outputs", "classes" (0: regression), "selection", "path_lambda", "path_score" (null: not finite)
 * and "metadata"; for statistics "features", "outputs" and "rows". Refuses what loading refuses,
 * with the same status. */
MERCER_API mercer_status mercer_file_info(const char* path, char* buffer, int64_t capacity,
                                          int64_t* needed);

#ifdef __cplusplus
}
#endif
#endif
