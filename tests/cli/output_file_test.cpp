// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Results appear whole or not at all.
#include "output_file.h"

#include <fstream>

#include "cli_files.h"
#include "support/catch.h"

namespace mercer::test {
namespace {

TEST_CASE("a file appears at commit, complete", "[cli]") {
  const TemporaryDirectory folder;
  const std::string path = folder.file("out.csv");
  std::string expected;
  {
    cli::OutputFile file(path);
    for (int i = 0; i < 300000; ++i) {
      file.write("12345,67890\n");
      expected += "12345,67890\n";
    }
    CHECK_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  CHECK(folder.read(path) == expected);
  CHECK(folder.file_count() == 1);
}

TEST_CASE("without commit nothing appears and an old file stays", "[cli]") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("out.csv", "old");
  { cli::OutputFile(path).write("new"); }
  CHECK(folder.read(path) == "old");
  CHECK(folder.file_count() == 1);
  cli::OutputFile file(path);
  file.write("new");
  file.commit();
  CHECK(folder.read(path) == "new");
}

TEST_CASE("a place that cannot be written is named", "[cli]") {
  CHECK(refusal([] { cli::OutputFile file("/nowhere/out.csv"); }) ==
        "/nowhere/out.csv: No such file or directory");
}

TEST_CASE("devices are written to, not replaced", "[cli]") {
  cli::OutputFile file("/dev/null");
  file.write("text");
  file.commit();
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace mercer::test
