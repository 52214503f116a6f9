// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Plain and gzip bytes: what is read is what was written, and damage is named.
#include "read/byte_source.h"

#include "cli_files.h"
#include "support/catch.h"

namespace mercer::test {
namespace {

using cli::ByteSource;

std::string read_all(const std::string& path, size_t piece) {
  ByteSource source(path);
  std::string out;
  std::string buffer(piece, '\0');
  for (size_t got = 1; got > 0;) {
    got = source.read(buffer.data(), piece);
    out.append(buffer, 0, got);
  }
  return out;
}

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
  for (const size_t piece : {size_t{1} << 20, size_t{4099}}) {
    CHECK(read_all(plain, piece) == text);
    CHECK(read_all(packed, piece) == text);
    CHECK(read_all(members, piece) == text);
    CHECK(read_all(padded, piece) == text);
  }
}

TEST_CASE("peeking consumes nothing", "[cli]") {
  const TemporaryDirectory folder;
  ByteSource source(folder.write("packed", gzip("abcdef")));
  CHECK(source.peek(3) == "abc");
  CHECK(source.peek(100) == "abcdef");
  char four[4];
  CHECK(source.read(four, 4) == 4);
  CHECK(std::string(four, 4) == "abcd");
  CHECK(source.peek(9) == "ef");
  CHECK(source.bytes_read() == 4);
  CHECK_FALSE(source.at_end());
  CHECK(source.read(four, 4) == 2);
  CHECK(source.at_end());
}

TEST_CASE("a gzip file cut anywhere is called truncated", "[cli]") {
  const TemporaryDirectory folder;
  const std::string packed = gzip("1,2\n3,4\n");
  for (size_t length = 2; length < packed.size(); ++length) {
    const std::string path = folder.write("cut.gz", packed.substr(0, length));
    const std::string message = refusal([&] { read_all(path, 100); });
    INFO(length);
    CHECK(message.find("cut.gz: truncated gzip") != message.npos);
  }
}

TEST_CASE("damaged gzip is called malformed", "[cli]") {
  const TemporaryDirectory folder;
  std::string packed = gzip(long_text());
  const auto message = [&](const std::string& content) {
    const std::string path = folder.write("bad.gz", content);
    return refusal([&] { read_all(path, 1 << 16); });
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
  CHECK(refusal([] { ByteSource source("/nowhere/at.csv"); }) ==
        "/nowhere/at.csv: No such file or directory");
  CHECK(refusal([] { cli::read_table("/", no_text); }).find("/: Is a directory") == 0);
}

}  // namespace
}  // namespace mercer::test
