// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/io.h: maps, models, operator maps and models, and statistics as files and as bytes in
// memory.
#include "mercer/io.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "arguments.h"
#include "guard.h"
#include "handles.h"
#include "io/object_file.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

template <class Handle>
auto& object_of(const char* name, const Handle* handle) {
  return checked(name, handle).impl;
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

template <class Object>
mercer_status to_bytes(const char* function, const char* name, const Object* handle, void* buffer,
                       int64_t capacity, int64_t* needed) noexcept {
  return guard(function, [&] {
    BufferOutput output(buffer, capacity, needed);
    // Maps are shared, the others held.
    if constexpr (requires { *object_of(name, handle); }) {
      io::save(*object_of(name, handle), output);
    } else {
      io::save(object_of(name, handle), output);
    }
  });
}

io::MemoryInput check_bytes(const void* data, int64_t size) {
  check_at_least("size", size, 0);
  if (size > 0) check_not_null("data", data, "the bytes of an object");
  return io::MemoryInput({static_cast<const std::byte*>(data), static_cast<size_t>(size)});
}

// Of a file by its path, or of bytes.
constexpr auto load_map = [](auto&& from) { return mercer_map{io::load_map(from)}; };
constexpr auto load_model = [](auto&& from) {
  return mercer_model{std::move(*io::load_model(from))};
};
constexpr auto load_statistics = [](auto&& from) {
  return mercer_statistics{std::move(*io::load_statistics(from))};
};

constexpr auto load_operator_map = [](auto&& from) {
  return mercer_operator_map{io::load_operator_map(from)};
};
constexpr auto load_operator_model = [](auto&& from) {
  return mercer_operator_model{io::load_operator_model(from)};
};

template <class Object, class Load>
mercer_status from_bytes(const char* function, const void* data, int64_t size, Object** out,
                         const Load& load) noexcept {
  return guard_create(function, out, [&] {
    io::MemoryInput input = check_bytes(data, size);
    return load(input);
  });
}

}  // namespace

mercer_status mercer_map_save(const mercer_map* map, const char* path) {
  return guard("mercer_map_save", [&] { io::save(*object_of("map", map), check_path(path)); });
}

mercer_status mercer_map_load(const char* path, mercer_map** out) {
  return guard_create("mercer_map_load", out, [&] { return load_map(check_path(path)); });
}

mercer_status mercer_model_save(const mercer_model* model, const char* path) {
  return guard("mercer_model_save", [&] { io::save(object_of("model", model), check_path(path)); });
}

mercer_status mercer_model_load(const char* path, mercer_model** out) {
  return guard_create("mercer_model_load", out, [&] { return load_model(check_path(path)); });
}

mercer_status mercer_statistics_save(const mercer_statistics* statistics, const char* path) {
  return guard("mercer_statistics_save",
               [&] { io::save(object_of("statistics", statistics), check_path(path)); });
}

mercer_status mercer_statistics_load(const char* path, mercer_statistics** out) {
  return guard_create("mercer_statistics_load", out,
                      [&] { return load_statistics(check_path(path)); });
}

mercer_status mercer_map_to_bytes(const mercer_map* map, void* buffer, int64_t capacity,
                                  int64_t* needed) {
  return to_bytes("mercer_map_to_bytes", "map", map, buffer, capacity, needed);
}

mercer_status mercer_map_from_bytes(const void* data, int64_t size, mercer_map** out) {
  return from_bytes("mercer_map_from_bytes", data, size, out, load_map);
}

mercer_status mercer_model_to_bytes(const mercer_model* model, void* buffer, int64_t capacity,
                                    int64_t* needed) {
  return to_bytes("mercer_model_to_bytes", "model", model, buffer, capacity, needed);
}

mercer_status mercer_model_from_bytes(const void* data, int64_t size, mercer_model** out) {
  return from_bytes("mercer_model_from_bytes", data, size, out, load_model);
}

mercer_status mercer_operator_map_to_bytes(const mercer_operator_map* map, void* buffer,
                                           int64_t capacity, int64_t* needed) {
  return to_bytes("mercer_operator_map_to_bytes", "map", map, buffer, capacity, needed);
}

mercer_status mercer_operator_map_from_bytes(const void* data, int64_t size,
                                             mercer_operator_map** out) {
  return from_bytes("mercer_operator_map_from_bytes", data, size, out, load_operator_map);
}

mercer_status mercer_operator_model_to_bytes(const mercer_operator_model* model, void* buffer,
                                             int64_t capacity, int64_t* needed) {
  return to_bytes("mercer_operator_model_to_bytes", "model", model, buffer, capacity, needed);
}

mercer_status mercer_operator_model_from_bytes(const void* data, int64_t size,
                                               mercer_operator_model** out) {
  return from_bytes("mercer_operator_model_from_bytes", data, size, out, load_operator_model);
}

mercer_status mercer_statistics_to_bytes(const mercer_statistics* statistics, void* buffer,
                                         int64_t capacity, int64_t* needed) {
  return to_bytes("mercer_statistics_to_bytes", "statistics", statistics, buffer, capacity, needed);
}

mercer_status mercer_statistics_from_bytes(const void* data, int64_t size,
                                           mercer_statistics** out) {
  return from_bytes("mercer_statistics_from_bytes", data, size, out, load_statistics);
}

mercer_status mercer_file_info(const char* path, char* buffer, int64_t capacity, int64_t* needed) {
  return guard("mercer_file_info",
               [&] { copy_text(io::describe_file(check_path(path)), buffer, capacity, needed); });
}
