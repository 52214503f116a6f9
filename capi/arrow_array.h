// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Arrays of Arrow's C data interface: what their producer says of them is checked before a number or
// a text of them is read. Sizes of buffers it does not say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mercer/arrow.h"

namespace mercer::capi::arrow {

/// Columns of 0 and 1 that a table's texts become: more make no dense row.
inline constexpr int64_t kMostLevels = 65536;

/// Writes `count` numbers from place `first` on of a buffer to every stride-th of `to`.
using ReadNumbers = void (*)(const void* buffer, int64_t first, int64_t count, double* to,
                             int64_t stride);
/// The reader of a type; null: it is no number.
ReadNumbers reader_of(const std::string& format);
bool is_text(const std::string& format);
bool is_integer(const std::string& format);
/// What users call a type that is no number.
const char* kind_of(const std::string& format);

bool bit(const void* bits, int64_t i);
/// The bits of the values that are there; null: all are.
const void* validity(const ArrowArray& array);

/// Length, offset and null_count, whose sums are then places.
void check_sizes(const ArrowArray& array);
/// `array`, of which rows from `offset` on are those of a batch, holds numbers.
void check_column(const ArrowArray* array, int64_t offset, int64_t rows, bool has_dictionary);
/// Values of a type that has a reader, or at most kMostLevels texts.
void check_dictionary(const ArrowArray& dictionary, const std::string& format);

/// Text i, checked, of a dictionary that is.
std::string_view text_at(const ArrowArray& dictionary, const std::string& format, int64_t i);

}  // namespace mercer::capi::arrow
