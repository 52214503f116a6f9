// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Plain and gzip bytes: what is read is what was written, and damage is named.
#include "cli_files.h"
#include "read/table.h"
#include "support/catch.h"

namespace mercer::test::bytes_test {
namespace {

std::string long_text() {
  std::string text;
  for (int i = 0; i < 200000; ++i)
    text += std::to_string(i * 7919 % 100003) + (i % 9 == 0 ? "\n" : ",");
  return text;
}

TEST_CASE("bytes are the same plain, gzipped and in several gzip members", "[cli]") {
  const TemporaryDirectory folder;
  const std::string text = long_text();
  const std::string half = text.substr(0, text.size() / 2);
  const std::string plain = folder.write("plain", text);
  const std::string packed = folder.write("packed", gzip(text));
  const std::string members =
      folder.write("members", gzip(half) + gzip("") + gzip(text.substr(half.size())));
  const std::string padded = folder.write("padded", gzip(text) + std::string(512, '\0'));
  for (const std::string& path : {plain, packed, members, padded})
    CHECK(cli::read_unpacked(path) == text);
  CHECK(cli::read_bytes(packed) == gzip(text));
}

TEST_CASE("a gzip file cut anywhere is called truncated", "[cli]") {
  const TemporaryDirectory folder;
  const std::string packed = gzip("1,2\n3,4\n");
  for (size_t length = 2; length < packed.size(); ++length) {
    const std::string path = folder.write("cut.gz", packed.substr(0, length));
    const std::string message = refusal([&] { cli::read_unpacked(path); });
    INFO(length);
    CHECK(message.find("cut.gz: truncated gzip") != message.npos);
  }
}

TEST_CASE("damaged gzip is called malformed", "[cli]") {
  const TemporaryDirectory folder;
  std::string packed = gzip(long_text());
  const auto message = [&](const std::string& content) {
    const std::string path = folder.write("bad.gz", content);
    return refusal([&] { cli::read_unpacked(path); });
  };
  std::string damaged = packed;
  damaged[packed.size() - 6] =
      static_cast<char>(damaged[packed.size() - 6] ^ 1);  // in the checksum
  CHECK(message(damaged).find("malformed gzip: incorrect data check") != std::string::npos);
  CHECK(message(packed + "tail").find("malformed gzip: other data after the end") !=
        std::string::npos);
  CHECK(message("\x1f\x8bzzzzzzzzzzzzzzzzzzzz").find("malformed gzip") != std::string::npos);
}

TEST_CASE("a missing file is named with the reason", "[cli]") {
  CHECK(refusal([] { cli::read_bytes("/nowhere/at.csv"); }) ==
        "/nowhere/at.csv: No such file or directory");
  CHECK(refusal([] { cli::read_table("/", no_text); }).find("/: Is a directory") == 0);
}

}  // namespace
}  // namespace mercer::test::bytes_test
