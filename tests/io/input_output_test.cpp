// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Files: read from where they stopped, replaced whole or not at all.
#include "io/input_output.h"

#include <fnmatch.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "support/refusal.h"
#include "support/temporary_directory.h"

namespace input_output_test {
using namespace mercer;
using mercer::test::refusal_fault, mercer::test::TemporaryDirectory;

TEST_CASE("the length is known and reading goes on where it stopped") {
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

TEST_CASE("memory is read as a file is") {
  const std::string text = "abcdef";
  io::MemoryInput data(std::as_bytes(std::span(text)));
  CHECK(data.length() == 6);
  CHECK(data.name() == "data");
  std::array<std::byte, 4> four{};
  data.read(four);
  CHECK(std::memcmp(four.data(), "abcd", 4) == 0);
  CHECK_REFUSED(MERCER_CORRUPT_FILE, data.read(four), "ends before");
  data.read(std::span(four).first(2));
  CHECK(std::memcmp(four.data(), "ef", 2) == 0);
}

TEST_CASE("what cannot be opened or is no regular file is IO naming path and reason") {
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

void write_text(const std::string& path, const std::string& text) {
  io::AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

/// Files of this process may not grow beyond `bytes` while it lives: writing more fails with EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_CASE("a file appears whole, alone, and readable as the umask says") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.mercer");
  const mode_t mask = umask(022);
  write_text(path, "hello");
  umask(mask);
  CHECK(directory.read(path) == "hello");
  CHECK(directory.file_count() == 1);
  CHECK(mode_of(path) == 0644);
}

TEST_CASE("a file that exists is replaced and keeps its permissions") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a.mercer", "a longer text than the new one");
  chmod(path.c_str(), 0600);
  write_text(path, "new");
  CHECK(directory.read(path) == "new");
  CHECK(mode_of(path) == 0600);
  CHECK(directory.file_count() == 1);
}

TEST_CASE("a symbolic link stays one: what it points to is replaced") {
  const TemporaryDirectory directory;
  const std::string target = directory.write("target", "old");
  std::filesystem::create_symlink(target, directory.file("link"));
  write_text(directory.file("link"), "new");
  CHECK(std::filesystem::is_symlink(directory.file("link")));
  CHECK(directory.read(target) == "new");
}

TEST_CASE("a symbolic link to a file that does not exist yet stays one too") {
  const TemporaryDirectory directory;
  namespace fs = std::filesystem;
  fs::create_directory(directory.file("data"));
  // Relative links are taken from where the link lies, and links may point to links.
  fs::create_symlink("data/second", directory.file("first"));
  fs::create_symlink("third", directory.file("data/second"));
  fs::create_symlink(directory.file("data/model"), directory.file("data/third"));
  write_text(directory.file("first"), "new");
  CHECK(fs::is_symlink(directory.file("first")));
  CHECK(fs::is_symlink(directory.file("data/second")));
  CHECK(fs::is_symlink(directory.file("data/third")));
  CHECK(directory.read(directory.file("data/model")) == "new");
  CHECK(directory.file_count() == 2);
  fs::create_symlink("nowhere/model", directory.file("astray"));
  CHECK_REFUSED(MERCER_IO, write_text(directory.file("astray"), "x"), directory.file("astray"),
                std::strerror(ENOENT));
  CHECK(fs::is_symlink(directory.file("astray")));
}

TEST_CASE("symbolic links that go round in a circle are IO and stay") {
  const TemporaryDirectory directory;
  namespace fs = std::filesystem;
  fs::create_symlink("itself", directory.file("itself"));
  fs::create_symlink("b", directory.file("a"));
  fs::create_symlink("a", directory.file("b"));
  for (const char* name : {"itself", "a", "b"}) {
    CAPTURE(name);
    CHECK_REFUSED(MERCER_IO, write_text(directory.file(name), "x"), directory.file(name),
                  "symbolic links", std::strerror(ELOOP));
    CHECK(fs::is_symlink(directory.file(name)));
  }
  CHECK(directory.file_count() == 3);
}

TEST_CASE("names up to the 255 bytes of a file system can be written") {
  const TemporaryDirectory directory;
  for (const size_t bytes : {245, 246, 255}) {
    const std::string path = directory.file(std::string(bytes, 'n'));
    write_text(path, "x");
    CHECK(directory.read(path) == "x");
  }
  CHECK(directory.file_count() == 3);
}

TEST_CASE("the temporary file has the name that the headers say") {
  const TemporaryDirectory directory;
  const io::AtomicFile file(directory.file("a.mercer"));
  REQUIRE(directory.file_count() == 1);
  const auto only = *std::filesystem::directory_iterator(directory.path());
  CHECK(fnmatch(".mercer-??????.tmp", only.path().filename().c_str(), FNM_PERIOD) == 0);
}

TEST_CASE("without commit nothing is left and the old file is untouched") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a.mercer", "old");
  { io::AtomicFile file(path); }
  CHECK(directory.file_count() == 1);
  CHECK(directory.read(path) == "old");
}

TEST_CASE("a write that fails half-way leaves the old file and nothing else") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a.mercer", "old");
  std::string fault;
  {
    const FileSizeLimit limit(1000);
    fault = refusal_fault(
        MERCER_IO, [&] { write_text(path, std::string(5000, 'x')); }, path, "write",
        std::strerror(EFBIG));
  }
  CHECK(fault == "");
  CHECK(directory.file_count() == 1);
  CHECK(directory.read(path) == "old");
}

TEST_CASE("places that cannot be written are IO naming path and reason") {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::string& path, const char* reason) {
    return refusal_fault(
        MERCER_IO, [&] { write_text(path, "x"); }, path, reason);
  };
  CHECK(refused(directory.file("missing/a.mercer"), std::strerror(ENOENT)) == "");
  directory.write("plain", "");
  CHECK(refused(directory.file("plain/a.mercer"), std::strerror(ENOTDIR)) == "");
  CHECK(refused(directory.path(), "not a regular file") == "");
  CHECK(refused("/dev/null", "not a regular file") == "");
  CHECK(refused("", std::strerror(ENOENT)) == "");
  CHECK(refused(directory.file(std::string(256, 'n')), std::strerror(ENAMETOOLONG)) == "");
  {  // before anything is written, not at the rename
    const std::string path = directory.file(std::string(256, 'n'));
    CHECK_REFUSED(MERCER_IO, io::AtomicFile file(path), path);
  }
  CHECK(directory.file_count() == 1);
}

TEST_CASE("a directory without write permission is IO") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.file("closed"));
  chmod(directory.file("closed").c_str(), 0555);
  // The superuser may write anywhere but in the kernel's own file system.
  const std::string path = geteuid() == 0 ? "/proc/a.mercer" : directory.file("closed/a.mercer");
  CHECK_REFUSED(MERCER_IO, write_text(path, "x"), path, "create");
}

}  // namespace input_output_test
