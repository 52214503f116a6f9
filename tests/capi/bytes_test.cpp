// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps, models and statistics as bytes in memory: those of their files, and whatever else comes in.
#include <random>

#include "fixture.h"
#include "support/mutation.h"

using namespace mercer::test;

namespace {

/// One kind of object: how it is written and read.
template <class Handle>
struct Kind {
  mercer_status (*write)(const Handle*, const char*, void*, int64_t, int64_t*);
  mercer_status (*read)(const char*, const void*, int64_t, Handle**);
  void (*free)(Handle*);
};
constexpr Kind<mercer_map> kMap = {mercer_map_write, mercer_map_read, mercer_map_free};
constexpr Kind<mercer_model> kModel = {mercer_model_write, mercer_model_read, mercer_model_free};
constexpr Kind<mercer_statistics> kStatistics = {mercer_statistics_write, mercer_statistics_read,
                                                 mercer_statistics_free};

template <class Handle>
std::string bytes_of(const Kind<Handle>& kind, const Handle* handle) {
  int64_t needed = 0;
  if (kind.write(handle, nullptr, nullptr, 0, &needed) != MERCER_OK) return "?";
  std::string bytes(static_cast<size_t>(needed), '#');
  if (kind.write(handle, nullptr, bytes.data(), needed, nullptr) != MERCER_OK) return "?";
  return bytes;
}

template <class Handle>
mercer_status read(const Kind<Handle>& kind, const std::string& bytes, Handle** out) {
  return kind.read(nullptr, bytes.data(), static_cast<int64_t>(bytes.size()), out);
}

template <class Handle>
void check_round_trip(const Kind<Handle>& kind, const Handle* handle) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("object");
  REQUIRE(kind.write(handle, path.c_str(), nullptr, 0, nullptr) == MERCER_OK);
  // One byte past the start: no alignment is needed.
  const std::string bytes = bytes_of(kind, handle), moved = '-' + bytes;
  CHECK(bytes == directory.read(path));
  Handle* again = nullptr;
  REQUIRE(kind.read(nullptr, moved.data() + 1, static_cast<int64_t>(bytes.size()), &again) ==
          MERCER_OK);
  CHECK(bytes_of(kind, again) == bytes);
  kind.free(again);
}

template <class Handle>
void check_refusals(const Kind<Handle>& kind, const Handle* handle, const char* name) {
  const std::string bytes = bytes_of(kind, handle);
  const auto size = static_cast<int64_t>(bytes.size());
  std::string small(bytes.size() - 1, '#');
  int64_t needed = 0;
  CHECK(refused(kind.write(handle, nullptr, small.data(), size - 1, &needed),
                "capacity = " + std::to_string(size - 1), std::to_string(size)) == "");
  CHECK(needed == size);
  CHECK(small == std::string(bytes.size() - 1, '#'));
  CHECK(refused(kind.write(nullptr, nullptr, nullptr, 0, &needed), name, "NULL") == "");
  CHECK(refused(kind.write(handle, nullptr, nullptr, size, &needed), "buffer = NULL") == "");
  CHECK(refused(kind.write(handle, nullptr, small.data(), -1, &needed), "capacity = -1") == "");
  Slot<Handle> slot;
  CHECK(slot.refused(kind.read(nullptr, nullptr, 1, slot.out()), "path and data are NULL") == "");
  CHECK(slot.refused(kind.read(nullptr, bytes.data(), -1, slot.out()), "size = -1") == "");
  CHECK(slot.fault(kind.read(nullptr, bytes.data(), 0, slot.out()), MERCER_CORRUPT_FILE,
                   "data: 0 bytes") == "");
  CHECK(refused(kind.read(nullptr, bytes.data(), size, nullptr), "out = NULL") == "");
  int64_t wrong = 0;
  for (int64_t length = 0; length < size; ++length) {
    wrong += kind.read(nullptr, bytes.data(), length, slot.out()) != MERCER_CORRUPT_FILE ||
             slot.handle != nullptr;
  }
  CHECK(wrong == 0);
}

/// Damaged bytes are refused with a documented status, or they are the original.
template <class Handle>
void check_damage(const Kind<Handle>& kind, const Handle* handle) {
  const std::string bytes = bytes_of(kind, handle);
  std::mt19937_64 words(3);
  std::string what;
  for (int trial = 0; trial < 2000 && what.empty(); ++trial) {
    const std::string damaged = mutated({bytes}, words);
    Slot<Handle> slot;
    const mercer_status status = read(kind, damaged, slot.out());
    if (damaged == bytes && status == MERCER_OK) {
      kind.free(slot.handle);
    } else if ((status != MERCER_CORRUPT_FILE && status != MERCER_NEWER_VERSION) ||
               slot.handle != nullptr) {
      what = "trial " + std::to_string(trial) + ": " + mercer_status_name(status);
    }
  }
  CHECK(what == "");
}

MapHandle small_field() {
  mercer_map* map = nullptr;
  REQUIRE(
      mercer_map_from_spec(
          R"({"kernel":{"kernel":"curl_free","scalar":{"kernel":"gaussian"}},"inputs":3,"features":8})",
          &map) == MERCER_OK);
  return MapHandle(map);
}

ModelHandle small_field_model() {
  return fitted(R"({"lambda":0.1})", data_of(rows_of(numbers(12, 3), 3), rows_of(numbers(12, 3), 3),
                                             small_field().get()));
}

TEST_CASE("objects go through memory as through files, byte by byte", "[capi]") {
  check_round_trip(kMap, fourier(3, 8).get());
  const auto W = numbers(4, 3);
  mercer_map* supplied = nullptr;
  REQUIRE(make_supplied(gaussian().get(), rows_of(W, 3), nullptr, {}, "", &supplied) == MERCER_OK);
  check_round_trip(kMap, MapHandle(supplied).get());
  check_round_trip(kModel, small_model().get());
  check_round_trip(kModel, small_classifier().get());
  check_round_trip(kMap, small_field().get());
  check_round_trip(kModel, small_field_model().get());
  check_round_trip(kStatistics, small_statistics().get());
  check_round_trip(kStatistics, small_statistics(0, 3, 0).get());
}

TEST_CASE("what is no place, or no object, is refused", "[capi]") {
  check_refusals(kMap, fourier(3, 8).get(), "map");
  check_refusals(kModel, small_model().get(), "model");
  check_refusals(kMap, small_field().get(), "map");
  check_refusals(kModel, small_field_model().get(), "model");
  check_refusals(kStatistics, small_statistics().get(), "statistics");
  const std::string map = bytes_of(kMap, fourier(3, 8).get());
  Slot<mercer_model> slot;
  CHECK(slot.refused(read(kModel, map, slot.out()), "mercer_model_read",
                     "data: holds a map, expected a model") == "");
}

TEST_CASE("damaged bytes are refused", "[capi]") {
  check_damage(kMap, fourier(3, 8).get());
  check_damage(kModel, small_model().get());
  check_damage(kMap, small_field().get());
  check_damage(kModel, small_field_model().get());
  check_damage(kStatistics, small_statistics().get());
}

}  // namespace
