// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Checks of what a caller passes: sizes, pointers, leading dimensions, overlap, strings, option
// structs. All throw Error(MERCER_INVALID_ARGUMENT) naming the argument, its value and what was
// expected.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/views.h"
#include "mercer/rows.h"

namespace mercer::capi {

/// value >= least.
void check_at_least(const char* name, int64_t value, int64_t least);
/// least <= value <= most.
void check_range(const char* name, int64_t value, int64_t least, int64_t most);
/// The enumerator with that number.
template <class Enum>
Enum read_choice(const char* name, int32_t number, const Choice<Enum>& choice) {
  check_range(name, number, 0, choice.count() - 1);
  return static_cast<Enum>(number);
}
/// value is finite and >= 0.
void check_not_negative(const char* name, double value);

void check_not_null(const char* name, const void* pointer, const char* expected);

/// The object behind a handle, which must not be NULL.
template <class Handle>
Handle& checked(const char* name, Handle* handle) {
  check_not_null(name, handle, "a handle");
  return *handle;
}

/// NULL, or aligned for a number or a pointer of `size` bytes.
void check_aligned(const char* name, const void* pointer, int64_t size);

/// A struct of the caller's: neither NULL nor misaligned.
template <class T>
void check_struct(const char* name, const T* pointer, const char* expected) {
  check_not_null(name, pointer, expected);
  check_aligned(name, pointer, alignof(T));
}

/// Where one number goes: neither NULL nor misaligned.
template <class T>
void check_place(const char* name, const T* pointer) {
  check_not_null(name, pointer, "a place for a number");
  check_aligned(name, pointer, sizeof(T));
}
/// As above, where NULL means that the number is not wanted.
template <class T>
void check_optional_place(const char* name, const T* pointer) {
  check_aligned(name, pointer, sizeof(T));
}

/// One number of an answer: its name, where the caller wants it (NULL: nowhere), and what it is.
template <class T>
struct Answer {
  const char* name;
  T* place;
  std::type_identity_t<T> value;
};
template <class T, class Value>  // clang 14 deduces no aggregates
Answer(const char*, T*, Value)->Answer<T>;
/// INVALID_ARGUMENT for an answer that is not finite, named: of finite arguments, it left the range
/// of numbers on its way.
void check_answer(const char* name, double value);
/// As above, for rows of numbers, as floats if they become such.
void check_answers(const char* name, MatrixView<const double> numbers, bool narrow = false);

/// Writes those that are wanted; nothing if a place is misaligned or a number is not finite.
template <class... T>
void write_answers(const Answer<T>&... answers) {
  (check_optional_place(answers.name, answers.place), ...);
  (check_answer(answers.name, static_cast<double>(answers.value)), ...);
  ((answers.place != nullptr ? void(*answers.place = answers.value) : void()), ...);
}

/// A C string that must not be NULL.
std::string_view check_text(const char* name, const char* text);

/// The name of a file: neither NULL nor empty.
std::string check_path(const char* path);

/// What a matrix or vector argument occupies: rows x cols elements of `size` bytes, ld elements
/// apart.
struct Extent {
  const char* name;
  const void* data;
  int64_t rows, cols, ld, size;
};
/// Non-empty data: not NULL, aligned, ld >= cols, last byte within the address space. rows >= 0 and
/// cols >= 0 are checked. data_name: where it is not that of the argument.
void check_extent(const Extent& extent, const char* rows_name, const char* ld_name,
                  const char* data_name = nullptr);
/// As above, for a view whose members are called name.data, name.rows, name.ld.
void check_view_extent(const Extent& extent, const char* data, const char* rows, const char* ld);
/// The output shares no element with the input.
void check_disjoint(const Extent& output, const Extent& input);

/// A matrix argument, remembered with its name so that overlap can be reported.
template <class T>
struct Argument {
  const char* name;
  MatrixView<T> view;

  Extent extent() const {
    return {name, view.data, view.rows, view.cols, view.ld, static_cast<int64_t>(sizeof(T))};
  }
  operator MatrixView<T>() const { return view; }
  operator MatrixView<const T>() const requires(!std::is_const_v<T>) { return view; }
  std::span<T> values() const { return {view.data, static_cast<size_t>(view.rows * view.cols)}; }
};

template <class T>
Argument<T> matrix(const char* name, T* data, const char* rows_name, int64_t rows, int64_t cols,
                   const char* ld_name, int64_t ld) {
  const Argument<T> argument{name, {data, rows, cols, ld}};
  check_extent(argument.extent(), rows_name, ld_name);
  return argument;
}

/// count contiguous numbers, as one row.
template <class T>
Argument<T> vector(const char* name, T* data, const char* count_name, int64_t count) {
  check_at_least(count_name, count, 0);
  const Argument<T> argument{name, {data, 1, count, count}};
  check_extent(argument.extent(), count_name, count_name);
  return argument;
}

template <class Output, class... Inputs>
void check_no_overlap(const Argument<Output>& output, const Argument<Inputs>&... inputs) {
  (check_disjoint(output.extent(), inputs.extent()), ...);
}

/// Checks an out-buffer for `size` bytes: needed may be NULL and gets the size, a NULL buffer of
/// capacity 0 only asks. Says whether the bytes are to be written.
bool check_buffer(int64_t size, const void* buffer, int64_t capacity, int64_t* needed);
/// Copies text with its final NUL into such a buffer.
void copy_text(std::string_view text, char* buffer, int64_t capacity, int64_t* needed);

/// A struct_size no real struct reaches: larger ones are uninitialised memory.
inline constexpr uint32_t kLargestOptions = 4096;

/// Checks struct_size and, past known_size, that the unknown tail is zero; copies what both sides
/// know over `known`.
void read_struct(const char* name, const void* options, uint32_t first_size, uint32_t known_size,
                 void* known);
/// Writes the defaults into the caller's struct, no byte past its struct_size, which is kept; the
/// unknown tail becomes zero.
void write_defaults(const void* defaults, uint32_t first_size, uint32_t known_size, void* options,
                    const char* name = "options");

/// Fills in a caller's mercer_shape.
void write_shape(int64_t rows, int64_t columns, int64_t outputs, mercer_shape* shape);

/// The caller's options with missing ones at their defaults; NULL means all defaults. first_size:
/// of the first release.
template <class Options>
Options read_options(const char* name, const Options* options, const Options& defaults,
                     uint32_t first_size) {
  Options known = defaults;
  if (options != nullptr) read_struct(name, options, first_size, sizeof(Options), &known);
  return known;
}

/// As above, for options that may not be NULL; `what` names their kind, such as "a
/// mercer_derivative".
template <class Options>
Options read_required(const char* name, const Options* options, const char* what,
                      const Options& defaults, uint32_t first_size) {
  check_struct(name, options, what);
  return read_options(name, options, defaults, first_size);
}

}  // namespace mercer::capi
