// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/io.h: maps, models, operator models and statistics as files and as bytes in
// memory.
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
#include "mercer/operator_learn.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

/// What a handle keeps: maps are shared, the others held.
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

io::MemoryInput check_bytes(const void* data, int64_t size) {
  check_at_least("size", size, 0);
  if (size > 0) check_not_null("data", data, "the bytes of an object");
  return io::MemoryInput({static_cast<const std::byte*>(data), static_cast<size_t>(size)});
}

}  // namespace

/// How an object, `name` in messages, is kept in files and bytes.
#define MERCER_KEPT(object, name)                                                       \
  mercer_status mercer_##object##_save(const mercer_##object* name, const char* path) { \
    return guard("mercer_" #object "_save",                                             \
                 [&] { io::save(kept(#name, name), check_path(path)); });               \
  }                                                                                     \
  mercer_status mercer_##object##_load(const char* path, mercer_##object** out) {       \
    return guard_create("mercer_" #object "_load", out, [&] {                           \
      return handle_of<mercer_##object>(io::load_##object(check_path(path)));           \
    });                                                                                 \
  }                                                                                     \
  mercer_status mercer_##object##_to_bytes(const mercer_##object* name, void* buffer,   \
                                           int64_t capacity, int64_t* needed) {         \
    return guard("mercer_" #object "_to_bytes", [&] {                                   \
      BufferOutput output(buffer, capacity, needed);                                    \
      io::save(kept(#name, name), output);                                              \
    });                                                                                 \
  }                                                                                     \
  mercer_status mercer_##object##_from_bytes(const void* data, int64_t size,            \
                                             mercer_##object** out) {                   \
    return guard_create("mercer_" #object "_from_bytes", out, [&] {                     \
      io::MemoryInput input = check_bytes(data, size);                                  \
      return handle_of<mercer_##object>(io::load_##object(input));                      \
    });                                                                                 \
  }

MERCER_KEPT(map, map)
MERCER_KEPT(model, model)
MERCER_KEPT(operator_model, model)
MERCER_KEPT(statistics, statistics)
#undef MERCER_KEPT

mercer_status mercer_file_info(const char* path, char* buffer, int64_t capacity, int64_t* needed) {
  return guard("mercer_file_info",
               [&] { copy_text(io::describe_file(check_path(path)), buffer, capacity, needed); });
}
