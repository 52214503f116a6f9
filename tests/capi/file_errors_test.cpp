// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented error of files and string buffers, and the text of the last one.
#include "fixture.h"

using namespace mercer::test;

namespace {

TEST_CASE("files: absent, of another kind, corrupt, no place to write", "[capi]") {
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

TEST_CASE("string buffers: ask, too small, exact", "[capi]") {
  const auto kernel = gaussian();
  int64_t needed = 0;
  REQUIRE(mercer_kernel_spec(kernel.get(), nullptr, 0, &needed) == MERCER_OK);
  REQUIRE(needed > 10);
  std::vector<char> buffer(static_cast<size_t>(needed), '#');
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

TEST_CASE("the last error survives success and a copy that is too small", "[capi]") {
  mercer_kernel* out = nullptr;
  CHECK(mercer_kernel_from_spec(nullptr, &out) == MERCER_INVALID_ARGUMENT);
  const std::string text = mercer_last_error();
  CHECK(gaussian() != nullptr);
  CHECK(mercer_last_error() == text);
  char small[4] = "abc";
  int64_t needed = 0;
  CHECK(mercer_context_error(nullptr, small, 4, &needed) == MERCER_INVALID_ARGUMENT);
  CHECK(needed == static_cast<int64_t>(text.size()) + 1);
  CHECK(std::string(small) == "abc");
  std::string copy(text.size() + 1, '\0');
  CHECK(mercer_context_error(nullptr, copy.data(), needed, nullptr) == MERCER_OK);
  CHECK(copy.c_str() == text);
}

TEST_CASE("a message longer than the buffer is cut, not lost", "[capi]") {
  const std::string json = "{\"kernel\":\"" + std::string(5000, 'x') + "\"}";
  const std::string path(5000, 'y');
  mercer_map* out = nullptr;
  CHECK(mercer_map_read(path.c_str(), nullptr, 0, &out) == MERCER_IO);
  CHECK(std::strlen(mercer_last_error()) == 1023);
}

}  // namespace
