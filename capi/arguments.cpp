// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Checks of a caller's arguments.
#include "arguments.h"

#include <cmath>
#include <limits>

namespace mercer::capi {
namespace {

uint32_t struct_size_of(const char* name, const void* options, uint32_t first_size,
                        uint32_t known_size) {
  uint32_t size = 0;
  std::memcpy(&size, options, sizeof size);
  require(size >= first_size && size <= kLargestOptions, MERCER_INVALID_ARGUMENT,
          "%s->struct_size = %u, expected sizeof the struct: %u in this version (%u to %u)", name,
          size, known_size, first_size, kLargestOptions);
  return size;
}

/// Bytes from the first to the last element; the extent was checked not to overflow.
int64_t span_bytes(const Extent& e) { return ((e.rows - 1) * e.ld + e.cols) * e.size; }

bool is_empty(const Extent& e) { return e.rows == 0 || e.cols == 0; }

/// Rows of one stride that interleave without sharing an element, such as X and Z as columns of one
/// wide array.
bool interleaves(const Extent& a, const Extent& b) {
  const int64_t stride = a.ld * a.size;
  if (stride != b.ld * b.size) return false;
  const int64_t distance = static_cast<int64_t>(reinterpret_cast<uintptr_t>(b.data)) -
                           static_cast<int64_t>(reinterpret_cast<uintptr_t>(a.data));
  const int64_t offset = ((distance % stride) + stride) % stride;  // of b's rows within a's stride
  return offset >= a.cols * a.size && offset + b.cols * b.size <= stride;
}

}  // namespace

void check_at_least(const char* name, int64_t value, int64_t least) {
  require(value >= least, MERCER_INVALID_ARGUMENT, "%s = %ld, expected at least %ld", name, value,
          least);
}

void check_range(const char* name, int64_t value, int64_t least, int64_t most) {
  require(value >= least && value <= most, MERCER_INVALID_ARGUMENT, "%s = %ld, expected %ld to %ld",
          name, value, least, most);
}

void check_answer(const char* name, double value) {
  require(std::isfinite(value), MERCER_INVALID_ARGUMENT,
          "%s would be %g, expected arguments whose answer is a finite number", name, value);
}

void check_answers(const char* name, MatrixView<const double> numbers, bool narrow) {
  const double most =
      narrow ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();
  for (int64_t i = 0; i < numbers.rows; ++i)
    for (int64_t j = 0; j < numbers.cols; ++j)
      require(std::abs(numbers(i, j)) <= most, MERCER_INVALID_ARGUMENT, at(i, j),
              "%s would be %g, expected arguments whose answer is a finite %s", name, numbers(i, j),
              narrow ? "float" : "number");
}

void check_not_negative(const char* name, double value) {
  require(std::isfinite(value) && value >= 0, MERCER_INVALID_ARGUMENT,
          "%s = %g, expected a finite number >= 0", name, value);
}

void check_not_null(const char* name, const void* pointer, const char* expected) {
  require(pointer != nullptr, MERCER_INVALID_ARGUMENT, "%s = NULL, expected %s", name, expected);
}

void check_aligned(const char* name, const void* pointer, int64_t size) {
  const auto alignment = static_cast<uintptr_t>(std::min<int64_t>(size, 8));
  require(reinterpret_cast<uintptr_t>(pointer) % alignment == 0, MERCER_INVALID_ARGUMENT,
          "%s = %p, expected the natural alignment of %ld bytes", name, pointer, size);
}

std::string check_path(const char* path) {
  check_not_null("path", path, "the name of a file");
  require(*path != '\0', MERCER_INVALID_ARGUMENT, "path = \"\", expected the name of a file");
  return path;
}

std::string_view check_text(const char* name, const char* text) {
  check_not_null(name, text, "a string");
  return text;
}

void check_extent(const Extent& e, const char* rows_name, const char* ld_name,
                  const char* data_name) {
  if (data_name == nullptr) data_name = e.name;
  check_at_least(rows_name, e.rows, 0);
  check_at_least("columns", e.cols, 0);
  if (is_empty(e)) return;
  require(e.data != nullptr, MERCER_INVALID_ARGUMENT, "%s = NULL, expected %ld x %ld numbers",
          data_name, e.rows, e.cols);
  check_aligned(data_name, e.data, e.size);
  require(e.ld >= e.cols, MERCER_INVALID_ARGUMENT,
          "%s = %ld, expected at least the %ld columns of %s", ld_name, e.ld, e.cols, e.name);
  int64_t elements = 0;
  int64_t bytes = 0;
  const bool fits = !__builtin_mul_overflow(e.rows, e.ld, &elements) &&
                    !__builtin_mul_overflow(elements, e.size, &bytes);
  if (fits) return;
  if (rows_name == ld_name) {  // a vector, of which both are the length
    fail(MERCER_INVALID_ARGUMENT, "%s = %ld, expected %s to fit the address space", ld_name, e.ld,
         data_name);
  }
  fail(MERCER_INVALID_ARGUMENT, "%s = %ld and %s = %ld, expected %s to fit the address space",
       rows_name, e.rows, ld_name, e.ld, data_name);
}

void check_view_extent(const Extent& extent, const char* data, const char* rows, const char* ld) {
  const std::string prefix = std::string(extent.name) + ".";
  check_extent(extent, (prefix + rows).c_str(), (prefix + ld).c_str(), (prefix + data).c_str());
}

void check_disjoint(const Extent& output, const Extent& input) {
  if (is_empty(output) || is_empty(input)) return;
  const auto out = reinterpret_cast<uintptr_t>(output.data);
  const auto in = reinterpret_cast<uintptr_t>(input.data);
  const bool apart = out + static_cast<uintptr_t>(span_bytes(output)) <= in ||
                     in + static_cast<uintptr_t>(span_bytes(input)) <= out;
  require(apart || interleaves(input, output), MERCER_INVALID_ARGUMENT,
          "%s overlaps %s, expected separate arrays", output.name, input.name);
}

bool check_buffer(int64_t size, const void* buffer, int64_t capacity, int64_t* needed) {
  check_at_least("capacity", capacity, 0);
  check_optional_place("needed", needed);
  if (needed != nullptr) *needed = size;
  if (buffer == nullptr && capacity == 0) return false;
  check_not_null("buffer", buffer, "a buffer, or capacity 0 to ask for the size");
  require(capacity >= size, MERCER_INVALID_ARGUMENT, "capacity = %ld, expected at least %ld",
          capacity, size);
  return true;
}

void copy_text(std::string_view text, char* buffer, int64_t capacity, int64_t* needed) {
  if (!check_buffer(static_cast<int64_t>(text.size()) + 1, buffer, capacity, needed)) return;
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
}

void read_struct(const char* name, const void* options, uint32_t first_size, uint32_t known_size,
                 void* known) {
  const uint32_t size = struct_size_of(name, options, first_size, known_size);
  const auto* bytes = static_cast<const unsigned char*>(options);
  for (uint32_t i = known_size; i < size; ++i) {
    require(bytes[i] == 0, MERCER_INVALID_ARGUMENT,
            "%s->struct_size = %u, but byte %u is set and this library (%s) knows only %u", name,
            size, i, mercer_version(), known_size);
  }
  std::memcpy(known, options, std::min(size, known_size));
}

void write_defaults(const void* defaults, uint32_t first_size, uint32_t known_size, void* options,
                    const char* name) {
  check_not_null(name, options, "a struct");
  const uint32_t size = struct_size_of(name, options, first_size, known_size);
  std::memset(options, 0, size);
  std::memcpy(options, defaults, std::min(size, known_size));
  std::memcpy(options, &size, sizeof size);
}

void write_shape(int64_t rows, int64_t columns, int64_t outputs, mercer_shape* shape) {
  const mercer_shape known = {sizeof known, 0, rows, columns, outputs};
  write_defaults(&known, sizeof known, sizeof known, shape, "shape");
}

}  // namespace mercer::capi
