// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files and bytes of objects: what goes through them, what is absent, of another kind or damaged;
// string buffers.
#include <random>
#include <thread>

#include "fixture.h"
#include "support/mutation.h"

namespace files_test {
using namespace mercer::test;

TEST_CASE("files: absent, of another kind, corrupt, no place to write") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("map.mercer");
  const std::string absent = directory.file("absent/map.mercer");
  const auto map = fourier(2, 8);
  mercer_map* out = nullptr;
  mercer_model* model = nullptr;
  CHECK(fault(mercer_map_read(absent.c_str(), nullptr, 0, &out), MERCER_IO, "mercer_map_read",
              absent) == "");
  CHECK(fault(mercer_map_write(map.get(), absent.c_str(), nullptr, 0, nullptr), MERCER_IO,
              "mercer_map_write", "absent") == "");
  CHECK(refused(mercer_map_write(map.get(), "", nullptr, 0, nullptr), "path = \"\"") == "");
  REQUIRE(mercer_map_write(map.get(), path.c_str(), nullptr, 0, nullptr) == MERCER_OK);
  CHECK(refused(mercer_model_read(path.c_str(), nullptr, 0, &model), "mercer_model_read", "map") ==
        "");
  FILE* file = std::fopen(path.c_str(), "r+b");
  REQUIRE(file != nullptr);
  std::fseek(file, -3, SEEK_END);
  std::fputc('!', file);
  std::fclose(file);
  CHECK(fault(mercer_map_read(path.c_str(), nullptr, 0, &out), MERCER_CORRUPT_FILE,
              "mercer_map_read") == "");
  CHECK(out == nullptr);
}

TEST_CASE("string buffers: ask, too small, exact") {
  const auto kernel = gaussian();
  int64_t needed = 0;
  REQUIRE(mercer_kernel_spec(kernel.get(), nullptr, 0, &needed) == MERCER_OK);
  REQUIRE(needed > 10);
  std::vector<char> buffer(needed, '#');
  int64_t again = 0;
  CHECK(refused(mercer_kernel_spec(kernel.get(), buffer.data(), needed - 1, &again),
                "mercer_kernel_spec", "capacity = " + std::to_string(needed - 1),
                std::to_string(needed)) == "");
  CHECK(again == needed);
  CHECK(std::count(buffer.begin(), buffer.end(), '#') == needed);
  CHECK(mercer_kernel_spec(kernel.get(), buffer.data(), needed, nullptr) == MERCER_OK);
  CHECK(static_cast<int64_t>(std::strlen(buffer.data())) == needed - 1);
  CHECK(refused(mercer_kernel_spec(kernel.get(), nullptr, 5, &again), "buffer = NULL") == "");
  CHECK(refused(mercer_kernel_spec(kernel.get(), buffer.data(), -1, &again), "capacity = -1") ==
        "");
  CHECK(refused(mercer_specs("no such kernel", nullptr, 0, &again), "mercer_specs",
                "no such kernel") == "");
}

TEST_CASE("the last error survives success and a copy that is too small") {
  mercer_kernel* out = nullptr;
  CHECK(mercer_kernel_from_spec(nullptr, &out) == MERCER_INVALID_ARGUMENT);
  const std::string text = mercer_last_error();
  CHECK(gaussian() != nullptr);
  CHECK(mercer_last_error() == text);
  char small[4] = "abc";
  int64_t needed = 0;
  CHECK(mercer_context_error(nullptr, "text", small, 4, &needed) == MERCER_INVALID_ARGUMENT);
  CHECK(needed == static_cast<int64_t>(text.size()) + 1);
  CHECK(std::string(small) == "abc");
  std::string copy(text.size() + 1, '\0');
  CHECK(mercer_context_error(nullptr, "text", copy.data(), needed, nullptr) == MERCER_OK);
  CHECK(copy.c_str() == text);
}

TEST_CASE("a program reads the fields of an error, of its thread or of a context") {
  mercer_map* out = nullptr;
  const char* const spec =
      R"({"map":"fourier","kernel":{"kernel":"gaussian"},"inputs":2,"features":3})";
  CHECK(mercer_map_from_spec(spec, &out) == MERCER_INVALID_ARGUMENT);
  CHECK(last_fields() ==
        R"({"function":"mercer_map_from_spec","argument":"features","value":3,"problem":"= 3",)"
        R"("expected":"an even number for the form pair, such as 4"})");
  std::string elsewhere;
  std::thread([&] { elsewhere = last_fields(); }).join();
  CHECK(elsewhere == "{}");
  CHECK(refused(mercer_map_from_spec(R"({"map":"fourier","seeds":1})", &out),
                "unknown key \"seeds\" = 1") == "");
  CHECK(holds(last_fields(), {"\"choices\":[", "\"seed\"", "]}"}));
  ContextHandle context;
  {
    mercer_context* made = nullptr;
    REQUIRE(mercer_context_create(nullptr, &made) == MERCER_OK);
    context.reset(made);
  }
  std::array<char, 300> text{};
  const auto of_context = [&](const char* what) {
    return mercer_context_error(context.get(), what, text.data(), text.size(), nullptr);
  };
  CHECK(of_context("fields") == MERCER_OK);
  CHECK(std::string(text.data()) == "{}");
  const double X[] = {0, 1, 2, std::nan("")};
  double median = 0;
  CHECK(mercer_lengthscale_median(rows_of(X, 2, 2), 9, 0, context.get(), &median) ==
        MERCER_INVALID_ARGUMENT);
  CHECK(of_context("fields") == MERCER_OK);
  CHECK(std::string(text.data()) == last_fields());
  CHECK(says(last_fields(), "X: row 1, column 1 is nan, expected finite"));
  CHECK(refused(of_context("words"), "what = \"words\", expected text or fields") == "");
  CHECK(refused(of_context(nullptr), "what = NULL, expected text or fields") == "");
}

TEST_CASE("a message longer than the buffer is cut, not lost") {
  const std::string json = "{\"kernel\":\"" + std::string(5000, 'x') + "\"}";
  const std::string path(5000, 'y');
  mercer_map* out = nullptr;
  CHECK(mercer_map_read(path.c_str(), nullptr, 0, &out) == MERCER_IO);
  CHECK(std::strlen(mercer_last_error()) == 1023);
  CHECK(last_fields() == R"({"function":"mercer_map_read"})");
}

/// One kind of object: how it is written and read.
template <class Handle>
struct Kind {
  mercer_status (*write)(const Handle*, const char*, void*, int64_t, int64_t*);
  mercer_status (*read)(const char*, const void*, int64_t, Handle**);
  void (*free)(Handle*);
};
constexpr Kind<mercer_map> kMap = {mercer_map_write, mercer_map_read, mercer_map_free};
constexpr Kind<mercer_model> kModel = {mercer_model_write, mercer_model_read, mercer_model_free};
constexpr Kind<mercer_attention> kAttention = {mercer_attention_write, mercer_attention_read,
                                               mercer_attention_free};
constexpr Kind<mercer_rows_sums> kRowsSums = {mercer_rows_sums_write, mercer_rows_sums_read,
                                              mercer_rows_sums_free};
constexpr Kind<mercer_statistics> kStatistics = {mercer_statistics_write, mercer_statistics_read,
                                                 mercer_statistics_free};

template <class Handle>
std::string bytes_of(const Kind<Handle>& kind, const Handle* handle) {
  int64_t needed = 0;
  if (kind.write(handle, nullptr, nullptr, 0, &needed) != MERCER_OK) return "?";
  std::string bytes(needed, '#');
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

using AttentionHandle =
    std::unique_ptr<mercer_attention, Freed<mercer_attention, mercer_attention_free>>;

AttentionHandle small_attention() {
  mercer_attention* attention = nullptr;
  REQUIRE(mercer_attention_create(fourier(3, 8).get(), 2, 1, 2, &attention) == MERCER_OK);
  return AttentionHandle(attention);
}

using RowsSumsHandle =
    std::unique_ptr<mercer_rows_sums, Freed<mercer_rows_sums, mercer_rows_sums_free>>;

RowsSumsHandle small_rows_sums() {
  const auto x = numbers(4, 3);
  mercer_rows_sums* sums = nullptr;
  REQUIRE(mercer_rows_sums_create(R"({"test":"mmd"})", 4, 4, rows_of(x, 3), rows_of(x, 3), nullptr,
                                  &sums) == MERCER_OK);
  REQUIRE(mercer_rows_sums_add(sums, 1, 0, rows_of(x, 3), nullptr) == MERCER_OK);
  return RowsSumsHandle(sums);
}

ModelHandle small_field_model() {
  return fitted(R"({"lambda":0.1})", data_of(rows_of(numbers(12, 3), 3), rows_of(numbers(12, 3), 3),
                                             small_field().get()));
}

TEST_CASE("objects go through memory as through files, byte by byte") {
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
  check_round_trip(kAttention, small_attention().get());
  check_round_trip(kRowsSums, small_rows_sums().get());
}

TEST_CASE("what is no place, or no object, is refused") {
  check_refusals(kMap, fourier(3, 8).get(), "map");
  check_refusals(kModel, small_model().get(), "model");
  check_refusals(kMap, small_field().get(), "map");
  check_refusals(kModel, small_field_model().get(), "model");
  check_refusals(kStatistics, small_statistics().get(), "statistics");
  check_refusals(kAttention, small_attention().get(), "attention");
  check_refusals(kRowsSums, small_rows_sums().get(), "rows_sums");
  const std::string map = bytes_of(kMap, fourier(3, 8).get());
  Slot<mercer_model> slot;
  CHECK(slot.refused(read(kModel, map, slot.out()), "mercer_model_read",
                     "data: holds a map, expected a model") == "");
}

TEST_CASE("damaged bytes are refused") {
  check_damage(kMap, fourier(3, 8).get());
  check_damage(kModel, small_model().get());
  check_damage(kMap, small_field().get());
  check_damage(kModel, small_field_model().get());
  check_damage(kStatistics, small_statistics().get());
  check_damage(kAttention, small_attention().get());
}

}  // namespace files_test
