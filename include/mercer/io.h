/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_IO_H
#define MERCER_IO_H

/* Maps, models, operator maps and models, and statistics as bytes, in files and in memory:
 * versioned, checksummed, little-endian; the same on every machine. */

#include "mercer/map.h"
#include "mercer/model.h"
#include "mercer/operator.h"
#include "mercer/operator_learn.h"
#include "mercer/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Files ====
 *
 * Saving writes a temporary file beside the target and renames it: a file appears whole or not at
 * all. A file that is replaced keeps its permissions; a symbolic link is followed to its end, where
 * a file may be or not yet; only regular files are read or replaced. Paths are passed to the system
 * as they are. Of temporary files that a killed process left behind: "Files" in capi/GUIDE.md.
 *
 * Errors of this section: MERCER_IO (naming path and reason), MERCER_CORRUPT_FILE (truncated,
 * checksum, impossible sizes, options that no fit accepts), MERCER_NEWER_VERSION (newer format),
 * MERCER_INVALID_ARGUMENT (a file of another kind, an empty path). Threads and cost: any number at
 * once; one pass over the numbers.
 *
 * Example: a model out of one process and into another.
 *
 *   mercer_status status = mercer_model_save(model, path);
 *   mercer_model* loaded = NULL;
 *   if (status == MERCER_OK) status = mercer_model_load(path, &loaded);
 */

/** Writes an object to a file. */
MERCER_API mercer_status mercer_map_save(const mercer_map* map, const char* path);
MERCER_API mercer_status mercer_model_save(const mercer_model* model, const char* path);
MERCER_API mercer_status mercer_statistics_save(const mercer_statistics* statistics,
                                                const char* path);

/** An object from a file: the same bits as the one that was saved. */
MERCER_API mercer_status mercer_map_load(const char* path, mercer_map** out);
MERCER_API mercer_status mercer_model_load(const char* path, mercer_model** out);
MERCER_API mercer_status mercer_statistics_load(const char* path, mercer_statistics** out);

/** What a file holds, as JSON: {"kind":"map"|"model"|"operator_model"|"statistics",
 *  "version":1,"bytes":n, ...} with, for a map of either kind, "spec" and "numbers" (how many
 *  beside the spec); for an operator model "spec" and "coefficients" (their number); for a model
 *  "spec", "rows", "hashed" (where it is: "inputs", and the "buckets" that the map sees),
 *  "outputs", "classes" (0: regression), "selection", "path_lambda", "path_error" (what
 *  lambdas were compared by, less is better; null: not finite), "report" (of a search: the text of
 *  mercer_model_report) and "metadata"; for statistics "features", "outputs" and "rows".
 *  Errors: those of loading, with the same status; convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_file_info(const char* path, char* buffer, int64_t capacity,
                                          int64_t* needed);

/* ==== Bytes in memory ====
 *
 * What _save would write, for messages between processes, databases, archives of other programs.
 *
 * Example: statistics to memory and back.
 *
 *   int64_t size = 0;
 *   mercer_status status = mercer_statistics_to_bytes(statistics, NULL, 0, &size);
 *   void* bytes = malloc((size_t)size);
 *   if (status == MERCER_OK) {
 *     status = mercer_statistics_to_bytes(statistics, bytes, size, NULL);
 *   }
 *   mercer_statistics* copy = NULL;
 *   if (status == MERCER_OK) status = mercer_statistics_from_bytes(bytes, size, &copy);
 */

/** Writes what _save would to the caller's memory. needed (may be NULL) gets the number of bytes;
 *  buffer NULL with capacity 0 only asks.
 *  Errors: too small a capacity; nothing is written then but needed.
 *  Threads and cost: any number at once; one pass over the numbers, 8 bytes for each. */
MERCER_API mercer_status mercer_map_to_bytes(const mercer_map* map, void* buffer, int64_t capacity,
                                             int64_t* needed);
MERCER_API mercer_status mercer_model_to_bytes(const mercer_model* model, void* buffer,
                                               int64_t capacity, int64_t* needed);
MERCER_API mercer_status mercer_operator_model_to_bytes(const mercer_operator_model* model,
                                                        void* buffer, int64_t capacity,
                                                        int64_t* needed);
MERCER_API mercer_status mercer_statistics_to_bytes(const mercer_statistics* statistics,
                                                    void* buffer, int64_t capacity,
                                                    int64_t* needed);

/** An object from `size` such bytes, or those of a file: data is read only, needs no alignment, and
 *  may come from anywhere.
 *  Errors: those of _load (messages say "data" where there is no path); NULL data of size > 0, a
 *  negative size. */
MERCER_API mercer_status mercer_map_from_bytes(const void* data, int64_t size, mercer_map** out);
MERCER_API mercer_status mercer_model_from_bytes(const void* data, int64_t size,
                                                 mercer_model** out);
MERCER_API mercer_status mercer_operator_model_from_bytes(const void* data, int64_t size,
                                                          mercer_operator_model** out);
MERCER_API mercer_status mercer_statistics_from_bytes(const void* data, int64_t size,
                                                      mercer_statistics** out);

#ifdef __cplusplus
}
#endif
#endif
