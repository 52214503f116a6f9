// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "io/input_file.h"

#include <sys/stat.h>

#include "support/refusal.h"
#include "support/temporary_directory.h"

using namespace mercer;
using mercer::test::refusal_fault;
using mercer::test::TemporaryDirectory;

TEST_CASE("the length is known and reading goes on where it stopped", "[io]") {
  const TemporaryDirectory directory;
  io::InputFile file(directory.write("a", "abcdef"));
  CHECK(file.length() == 6);
  std::array<std::byte, 4> four{};
  file.read(four);
  CHECK(std::memcmp(four.data(), "abcd", 4) == 0);
  file.read(std::span(four).first(2));
  CHECK(std::memcmp(four.data(), "ef", 2) == 0);
  CHECK_REFUSED(MERCER_CORRUPT_FILE, file.read(four), "ends before");
}

TEST_CASE("memory is read as a file is", "[io]") {
  const std::string text = "abcdef";
  io::MemoryInput data(std::as_bytes(std::span(text)));
  CHECK(data.length() == 6);
  CHECK(data.name() == "data");
  std::array<std::byte, 4> four{};
  data.read(four);
  CHECK(std::memcmp(four.data(), "abcd", 4) == 0);
  CHECK_REFUSED(MERCER_CORRUPT_FILE, data.read(four), "data: ends before");
  data.read(std::span(four).first(2));
  CHECK(std::memcmp(four.data(), "ef", 2) == 0);
}

TEST_CASE("what cannot be opened or is no regular file is IO naming path and reason", "[io]") {
  const TemporaryDirectory directory;
  const auto refused = [](const std::string& path, const char* reason) {
    return refusal_fault(
        MERCER_IO, [&] { io::InputFile file(path); }, path, reason);
  };
  CHECK(refused(directory.file("missing"), std::strerror(ENOENT)) == "");
  CHECK(refused(directory.path(), "not a regular file") == "");
  CHECK(refused("/dev/null", "not a regular file") == "");
  mkfifo(directory.file("pipe").c_str(),
         0600);  // without a writer: a plain open would wait for one
  CHECK(refused(directory.file("pipe"), "not a regular file") == "");
}
