// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/io.h: maps, models, statistics and attention as files and as bytes in memory.
#include "mercer/io.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "io/object_file.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

/// The object behind a handle: maps are shared, the others are members.
template <class Object>
const auto& kept(const char* name, const Object* handle) {
  const auto& impl = checked(name, handle).impl;
  if constexpr (requires { *impl; }) {
    return *impl;
  } else {
    return impl;
  }
}

/// A handle of what was loaded, which some loaders own by pointer.
template <class Object, class Loaded>
Object handle_of(Loaded loaded) {
  if constexpr (requires { Object{std::move(loaded)}; }) {
    return {std::move(loaded)};
  } else {
    return {std::move(*loaded)};
  }
}

/// The caller's memory, or the question how much of it is needed.
class BufferOutput final : public io::Output {
 public:
  BufferOutput(void* buffer, int64_t capacity, int64_t* needed)
      : next_(static_cast<std::byte*>(buffer)), capacity_(capacity), needed_(needed) {}
  bool begin(int64_t length) override { return check_buffer(length, next_, capacity_, needed_); }
  void write(std::span<const std::byte> bytes) override {
    next_ = std::ranges::copy(bytes, next_).out;
  }
  void commit() override {}

 private:
  std::byte* next_;
  int64_t capacity_;
  int64_t* needed_;
};

/// read(input) of the file, or of the bytes where there is no path.
template <class Read>
auto read_input(const char* path, const void* data, int64_t size, const Read& read) {
  check_at_least("size", size, 0);
  require((path == nullptr) != (data == nullptr), MERCER_INVALID_ARGUMENT,
          "path and data are %s, expected one of the two", path == nullptr ? "NULL" : "given");
  if (path != nullptr) {
    check_range("size", size, 0, 0);  // of a file it is the file's own
    io::InputFile input(check_path(path));
    return read(input);
  }
  io::MemoryInput input({static_cast<const std::byte*>(data), static_cast<size_t>(size)});
  return read(input);
}

template <class Object>
mercer_status write_object(const char* function, const char* name, const Object* object,
                           const char* path, void* buffer, int64_t capacity,
                           int64_t* needed) noexcept {
  return guard(function, [&] {
    const auto& impl = kept(name, object);
    if (path == nullptr) {
      BufferOutput output(buffer, capacity, needed);
      return io::save(impl, output);
    }
    require(buffer == nullptr && capacity == 0 && needed == nullptr, MERCER_INVALID_ARGUMENT,
            "path and buffer, capacity or needed are given, expected path or the others");
    io::save(impl, check_path(path));
  });
}

}  // namespace

/// How an object is written to and read from files and bytes.
#define MERCER_KEPT(object, type, write, read, load)                                        \
  mercer_status write(const type* object, const char* path, void* buffer, int64_t capacity, \
                      int64_t* needed) {                                                    \
    return write_object(#write, #object, object, path, buffer, capacity, needed);           \
  }                                                                                         \
  mercer_status read(const char* path, const void* data, int64_t size, type** out) {        \
    return guard_create(#read, out, [&] {                                                   \
      return read_input(path, data, size,                                                   \
                        [](io::Input& input) { return handle_of<type>(load(input)); });     \
    });                                                                                     \
  }

MERCER_KEPT(map, mercer_map, mercer_map_write, mercer_map_read, io::load_map)
MERCER_KEPT(model, mercer_model, mercer_model_write, mercer_model_read, io::load_model)
MERCER_KEPT(statistics, mercer_statistics, mercer_statistics_write, mercer_statistics_read,
            io::load_statistics)
MERCER_KEPT(attention, mercer_attention, mercer_attention_write, mercer_attention_read,
            io::load_attention)
MERCER_KEPT(rows_sums, mercer_rows_sums, mercer_rows_sums_write, mercer_rows_sums_read,
            io::load_rows_sums)
#undef MERCER_KEPT

mercer_status mercer_file_info(const char* path, const void* data, int64_t size, char* buffer,
                               int64_t capacity, int64_t* needed) {
  return guard("mercer_file_info", [&] {
    const std::string text =
        read_input(path, data, size, [](io::Input& input) { return io::describe_file(input); });
    copy_text(text, buffer, capacity, needed);
  });
}
