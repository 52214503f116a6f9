// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Results appear whole or not at all.
#include "output_file.h"

#include <fnmatch.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli_files.h"
#include "support/catch.h"

namespace mercer::test::output_file_test {
namespace {

namespace fs = std::filesystem;

void write_text(const std::string& path, const std::string& text) {
  cli::OutputFile file(path);
  file.write(text);
  file.commit();
}

mode_t mode_of(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

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
  CHECK(refusal([] { cli::check_output("/dev/null", "in"); }) == "accepted");
  cli::OutputFile file("/dev/null");
  file.write("text");
  file.commit();
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("standard output has several names", "[cli]") {
  for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    CHECK(cli::is_standard_output(name));
    CHECK(refusal([&] { cli::check_output(name, "in"); }) == "accepted");
  }
  CHECK_FALSE(cli::is_standard_output("stdout"));
}

TEST_CASE("links are written through, whether a file is there or not", "[cli]") {
  const TemporaryDirectory folder;
  fs::create_directory(folder.file("data"));
  fs::create_symlink("data/link", folder.file("link"));
  fs::create_symlink("out.csv", folder.file("data/link"));
  for (const char* text : {"new", "newer"}) {
    CHECK(refusal([&] { cli::check_output(folder.file("link"), "in"); }) == "accepted");
    write_text(folder.file("link"), text);
    CHECK(folder.read(folder.file("data/out.csv")) == text);
    CHECK(fs::is_symlink(folder.file("link")));
    CHECK(fs::is_symlink(folder.file("data/link")));
  }
  CHECK(folder.file_count() == 2);
  fs::create_symlink("round", folder.file("round"));
  const std::string loop = folder.file("round") + ": " + std::strerror(ELOOP);
  CHECK(refusal([&] { cli::check_output(folder.file("round"), "in"); }) == loop);
  CHECK(refusal([&] { cli::OutputFile file(folder.file("round")); }) == loop);
}

TEST_CASE("long names, permissions, and the name of the temporary file", "[cli]") {
  const TemporaryDirectory folder;
  const std::string path = folder.file(std::string(255, 'n'));
  const mode_t mask = umask(027);
  write_text(path, "x");
  umask(mask);
  CHECK(mode_of(path) == 0640);
  chmod(path.c_str(), 0604);
  write_text(path, "y");
  CHECK(folder.read(path) == "y");
  CHECK(mode_of(path) == 0604);
  fs::remove(path);
  const cli::OutputFile file(folder.file("out.csv"));
  const auto only = *fs::directory_iterator(folder.path());
  CHECK(fnmatch(".mercer-??????.tmp", only.path().filename().c_str(), FNM_PERIOD) == 0);
}

TEST_CASE("what cannot become a result is refused before any work", "[cli]") {
  const TemporaryDirectory folder;
  const auto refused = [&](const std::string& path) {
    const std::string text = refusal([&] { cli::check_output(path, folder.file("in")); });
    return text.substr(std::min(text.size(), path.size()));
  };
  folder.write("in", "");
  CHECK(refused(folder.path()) == std::string(": ") + std::strerror(EISDIR));
  CHECK(refused("") == std::string(": ") + std::strerror(ENOENT));
  CHECK(refused(folder.file("nowhere/out")) == std::string(": ") + std::strerror(ENOENT) + ": " +
                                                   folder.file("nowhere") +
                                                   ", the folder it would be written to");
  CHECK(refused(folder.file("in/out")) == std::string(": ") + std::strerror(ENOTDIR));
  CHECK(refused(folder.file(std::string(256, 'n'))) ==
        std::string(": ") + std::strerror(ENAMETOOLONG));
  CHECK(refused(folder.file("in")) == ": is the input too: it would be overwritten");
  fs::create_symlink("in", folder.file("link"));
  CHECK(refused(folder.file("link")) == ": is the input too: it would be overwritten");
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {AF_UNIX, "socket"};
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());  // the path of a socket is short
  bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  fs::current_path(before);
  close(listening);
  CHECK(refused(folder.file("socket")) == ": is neither a file nor a pipe or a character device");
}

}  // namespace
}  // namespace mercer::test::output_file_test
