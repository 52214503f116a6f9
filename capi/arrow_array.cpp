// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "arrow_array.h"

#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "arguments.h"
#include "spec/json.h"

namespace mercer::capi::arrow {
namespace {

// So that a place in an array is an address: of up to 16 bytes each.
constexpr int64_t kMostPlaces = std::numeric_limits<int64_t>::max() / 16;
constexpr int64_t kMostTextBytes = 65536;

/// The number at `place` of a buffer, which need not be aligned.
template <class T>
T number_at(const void* buffer, int64_t place) {
  T number;
  std::memcpy(&number, static_cast<const std::byte*>(buffer) + place * int64_t{sizeof number},
              sizeof number);
  return number;
}

template <class T>
void read_numbers(const void* buffer, int64_t first, int64_t count, double* to, int64_t stride) {
  for (int64_t i = 0; i < count; ++i)
    to[i * stride] = static_cast<double>(number_at<T>(buffer, first + i));
}

void read_bits(const void* buffer, int64_t first, int64_t count, double* to, int64_t stride) {
  for (int64_t i = 0; i < count; ++i) to[i * stride] = bit(buffer, first + i) ? 1 : 0;
}

struct NumberType {
  const char* format;
  ReadNumbers read;
};
constexpr NumberType kNumberTypes[] = {{"g", read_numbers<double>},
                                       {"f", read_numbers<float>},
                                       {"l", read_numbers<int64_t>},
                                       {"i", read_numbers<int32_t>},
                                       {"s", read_numbers<int16_t>},
                                       {"c", read_numbers<int8_t>},
                                       {"L", read_numbers<uint64_t>},
                                       {"I", read_numbers<uint32_t>},
                                       {"S", read_numbers<uint16_t>},
                                       {"C", read_numbers<uint8_t>},
                                       {"b", read_bits}};

/// An array that is there, of sound sizes.
void check_array(const ArrowArray* array) {
  require(array != nullptr && array->release != nullptr, MERCER_INVALID_ARGUMENT,
          "array = NULL or released, expected an array");
  check_sizes(*array);
}

void check_numbers(const ArrowArray& array) {
  require(array.n_buffers == 2, MERCER_INVALID_ARGUMENT,
          "n_buffers = %ld, expected 2: of nulls and of numbers", array.n_buffers);
  require(array.buffers != nullptr && array.buffers[1] != nullptr, MERCER_INVALID_ARGUMENT,
          "buffers[1] = NULL, expected %ld numbers", array.length);
}

void check_texts(const ArrowArray& array, const std::string& format) {
  require(array.length <= kMostLevels, MERCER_INVALID_ARGUMENT,
          "length = %ld, expected at most %ld texts: more are no levels", array.length,
          kMostLevels);
  if (format == "vu") {  // views, any number of buffers of bytes, and how many each of them has
    check_range("n_buffers", array.n_buffers, 3, 3 + kMostLevels);
  } else {
    require(array.n_buffers == 3, MERCER_INVALID_ARGUMENT,
            "n_buffers = %ld, expected 3: of nulls, of offsets and of bytes", array.n_buffers);
  }
  require(array.buffers != nullptr && array.buffers[1] != nullptr, MERCER_INVALID_ARGUMENT,
          "buffers[1] = NULL, expected the places of %ld texts", array.length);
}

void check_nulls(const ArrowArray& array) {
  require(array.null_count <= 0 || array.buffers[0] != nullptr, MERCER_INVALID_ARGUMENT,
          "buffers[0] = NULL, expected bits that tell %ld nulls", array.null_count);
}

std::string_view bytes_at(const ArrowArray& array, int64_t buffer, int64_t first, int64_t size) {
  check_range("the size of a text", size, 0, kMostTextBytes);
  if (size == 0) return {};
  require(array.buffers[buffer] != nullptr, MERCER_INVALID_ARGUMENT,
          "buffers[%ld] = NULL, expected bytes of texts", buffer);
  return {static_cast<const char*>(array.buffers[buffer]) + first, static_cast<size_t>(size)};
}

template <class Offset>
std::string_view text_by_offsets(const ArrowArray& array, int64_t place) {
  const auto first = number_at<Offset>(array.buffers[1], place);
  const auto last = number_at<Offset>(array.buffers[1], place + 1);
  require(0 <= first && first <= last, MERCER_INVALID_ARGUMENT,
          "the text from byte %ld to %ld, expected ascending offsets", int64_t{first},
          int64_t{last});
  return bytes_at(array, 2, first, int64_t{last} - first);
}

std::string_view text_by_view(const ArrowArray& array, int64_t place) {
  struct View {
    int32_t size, prefix, buffer, offset;  // a text of up to 12 bytes stands behind its size
  };
  const auto view = number_at<View>(array.buffers[1], place);
  const int64_t behind = place * int64_t{sizeof view} + 4;
  if (view.size <= 12) return bytes_at(array, 1, behind, view.size);
  const int64_t count = array.n_buffers - 3;
  require(view.buffer >= 0 && view.buffer < count, MERCER_INVALID_ARGUMENT,
          "buffer %d of a text, expected one of %ld", view.buffer, count);
  const void* const sizes = array.buffers[array.n_buffers - 1];
  require(sizes != nullptr, MERCER_INVALID_ARGUMENT, "buffers[%ld] = NULL, expected sizes",
          array.n_buffers - 1);
  const auto most = number_at<int64_t>(sizes, view.buffer);
  require(view.offset >= 0 && int64_t{view.offset} + view.size <= most, MERCER_INVALID_ARGUMENT,
          "the text of %d bytes from byte %d on, expected it within %ld", view.size, view.offset,
          most);
  return bytes_at(array, 2 + int64_t{view.buffer}, view.offset, view.size);
}

}  // namespace

ReadNumbers reader_of(const std::string& format) {
  for (const NumberType& type : kNumberTypes) {
    if (format == type.format) return type.read;
  }
  return nullptr;
}

bool is_text(const std::string& format) { return format == "u" || format == "U" || format == "vu"; }

bool is_integer(const std::string& format) {
  return format.size() == 1 && std::string_view("cCsSiIlL").find(format) != std::string::npos;
}

const char* kind_of(const std::string& format) {
  static constexpr std::pair<const char*, const char*> kKinds[] = {
      {"u", "text"},     {"U", "text"},    {"vu", "text"},      {"z", "bytes"},
      {"Z", "bytes"},    {"vz", "bytes"},  {"w:", "bytes"},     {"t", "dates, times"},
      {"d:", "decimal"}, {"e", "float16"}, {"n", "null alone"}, {"+", "nested"}};
  for (const auto& [begin, kind] : kKinds) {
    if (format.starts_with(begin)) return kind;
  }
  return "unknown";
}

bool bit(const void* bits, int64_t i) {
  return (static_cast<const uint8_t*>(bits)[i / 8] >> i % 8 & 1) != 0;
}

const void* validity(const ArrowArray& array) {
  const bool has = array.null_count != 0 && array.n_buffers > 0 && array.buffers != nullptr;
  return has ? array.buffers[0] : nullptr;
}

void check_sizes(const ArrowArray& array) {
  check_at_least("length", array.length, 0);
  check_range("offset", array.offset, 0, kMostPlaces);
  check_range("length", array.length, 0, kMostPlaces - array.offset);
  check_at_least("null_count", array.null_count, -1);
}

void check_column(const ArrowArray* array, int64_t offset, int64_t rows, bool has_dictionary) {
  check_array(array);
  require(array->length >= rows && array->length - rows >= offset, MERCER_INVALID_ARGUMENT,
          "length = %ld, expected %ld at least, for the %ld rows from %ld on of the batch",
          array->length, offset + rows, rows, offset);
  require((array->dictionary != nullptr) == has_dictionary, MERCER_INVALID_ARGUMENT,
          "dictionary is %s, expected %s, as in the schema", has_dictionary ? "NULL" : "there",
          has_dictionary ? "one" : "none");
  check_numbers(*array);
  check_nulls(*array);
}

void check_dictionary(const ArrowArray& dictionary, const std::string& format) {
  check_array(&dictionary);
  require(dictionary.dictionary == nullptr, MERCER_INVALID_ARGUMENT,
          "dictionary is there, expected none in a dictionary");
  if (dictionary.length == 0) return;  // of nulls alone; buffers may be NULL
  is_text(format) ? check_texts(dictionary, format) : check_numbers(dictionary);
  check_nulls(dictionary);
}

std::string_view text_at(const ArrowArray& dictionary, const std::string& format, int64_t i) {
  try {
    const int64_t place = dictionary.offset + i;
    const std::string_view text = format == "vu"  ? text_by_view(dictionary, place)
                                  : format == "u" ? text_by_offsets<int32_t>(dictionary, place)
                                                  : text_by_offsets<int64_t>(dictionary, place);
    require(spec::is_utf8(text), MERCER_INVALID_ARGUMENT,
            "bytes that are not UTF-8, expected text");
    return text;
  } catch (const Error& error) {
    throw error.within("text " + std::to_string(i));
  }
}

}  // namespace mercer::capi::arrow
