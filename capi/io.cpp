// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/io.h: files of maps, models and statistics.
#include "mercer/io.h"

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

std::string check_path(const char* path) {
  check_not_null("path", path, "the name of a file");
  require(*path != '\0', MERCER_INVALID_ARGUMENT, "path = \"\", expected the name of a file");
  return path;
}

}  // namespace

mercer_status mercer_map_save(const mercer_map* map, const char* path) {
  return guard("mercer_map_save", [&] { io::save(*object_of("map", map), check_path(path)); });
}

mercer_status mercer_map_load(const char* path, mercer_map** out) {
  return guard_create("mercer_map_load", out,
                      [&] { return mercer_map{io::load_map(check_path(path))}; });
}

mercer_status mercer_model_save(const mercer_model* model, const char* path) {
  return guard("mercer_model_save", [&] { io::save(object_of("model", model), check_path(path)); });
}

mercer_status mercer_model_load(const char* path, mercer_model** out) {
  return guard_create("mercer_model_load", out,
                      [&] { return mercer_model{std::move(*io::load_model(check_path(path)))}; });
}

mercer_status mercer_statistics_save(const mercer_statistics* statistics, const char* path) {
  return guard("mercer_statistics_save",
               [&] { io::save(object_of("statistics", statistics), check_path(path)); });
}

mercer_status mercer_statistics_load(const char* path, mercer_statistics** out) {
  return guard_create("mercer_statistics_load", out, [&] {
    return mercer_statistics{std::move(*io::load_statistics(check_path(path)))};
  });
}

mercer_status mercer_file_info(const char* path, char* buffer, int64_t capacity, int64_t* needed) {
  return guard("mercer_file_info",
               [&] { copy_text(io::describe_file(check_path(path)), buffer, capacity, needed); });
}
