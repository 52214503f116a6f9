/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The mercer authors */
#ifndef MERCER_ARROW_H
#define MERCER_ARROW_H

#include "mercer/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arrow's C interfaces. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema*);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray*);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
#endif

/* ==== Rows of Arrow streams ====
 *
 * Example: rows with target y, for mercer_data.
 *
 *   const char* y = "y";
 *   mercer_arrow_source* arrow = NULL;
 *   mercer_row_source rows = {.struct_size = sizeof rows};
 *   mercer_status status = mercer_arrow_source_create(scan, table, 1, &y, NULL, &arrow, &rows);
 */

/** Opens the stream anew, for each pass. Returns 0 on success. */
typedef int32_t (*mercer_arrow_open)(void* user, struct ArrowArrayStream* out);

/** Reads a table. Threads: one fit at a time. */
typedef struct mercer_arrow_source mercer_arrow_source;

/** Fills in rows, to be used until the free; its `sum` may then be set. Columns that are neither
 *  targets (m names) nor weights (NULL: none) are inputs: floats, integers, booleans, dictionaries
 *  of these; nulls are NaN. A dictionary of texts is an input of 0 and 1 for each of its levels, the
 *  texts of all batches, sorted by bytes; as the only target it is class numbers. Keeps user.
 *  Errors: MERCER_UNSUPPORTED (plain text, other types), MERCER_IO (the stream's). Cost: with
 *  texts a pass; at most 65,536 levels. */
MERCER_API mercer_status mercer_arrow_source_create(mercer_arrow_open open, void* user, int64_t m,
                                                    const char* const* targets, const char* weights,
                                                    mercer_arrow_source** out,
                                                    mercer_row_source* rows);

/** For mercer_model_set_metadata: names and levels, and after a fit whether inputs were missing, as
 *  JSON that the command reads. Convention 9 of mercer/base.h. */
MERCER_API mercer_status mercer_arrow_source_metadata(const mercer_arrow_source* arrow,
                                                      char* buffer, int64_t capacity,
                                                      int64_t* needed);

/** Frees it. */
MERCER_API void mercer_arrow_source_free(mercer_arrow_source* arrow);

#ifdef __cplusplus
}
#endif
#endif
