// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spooled_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "output_file.h"
#include "read/byte_source.h"

namespace mercer::cli {

namespace {

constexpr size_t kBlock = size_t{1} << 20;

// A device like /dev/zero has no end: only pipes are read.
bool needs_file(const std::string& path, SpooledFile::Use use) {
  if (path == "-") return true;
  if (use == SpooledFile::Use::write && is_standard_output(path)) return true;
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || (use == SpooledFile::Use::write && S_ISCHR(status.st_mode));
}

}  // namespace

SpooledFile::SpooledFile(const std::string& path, Use use) : given_(path), path_(path) {
  if (!needs_file(path, use)) return;
  folder_ = (std::filesystem::temp_directory_path() / "mercer-XXXXXX").string();
  if (::mkdtemp(folder_.data()) == nullptr) {
    const std::string tried = std::exchange(folder_, "");
    fail_at(tried, 0, 0, std::strerror(errno));
  }
  path_ = folder_ + "/stream";
  try {
    if (use == Use::read) copy_input();
  } catch (...) {
    remove();  // the destructor of a half-made object does not run
    throw;
  }
}

SpooledFile::~SpooledFile() { remove(); }

void SpooledFile::remove() noexcept {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void SpooledFile::copy_input() {
  ByteSource source(given_, ByteSource::Decode::nothing);
  std::ofstream copy(path_, std::ios::binary);
  std::vector<char> buffer(kBlock);
  while (const size_t got = source.read(buffer.data(), buffer.size())) {
    copy.write(buffer.data(), static_cast<std::streamsize>(got));
  }
  if (!copy.flush()) fail_at(path_, 0, 0, "cannot write");
}

void SpooledFile::send() {
  if (folder_.empty()) return;
  OutputFile out(given_);
  std::ifstream file(path_, std::ios::binary);
  std::vector<char> buffer(kBlock);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
         file.gcount() > 0) {
    out.write({buffer.data(), static_cast<size_t>(file.gcount())});
  }
  out.commit();
}

// The library quotes the paths it names.
std::string SpooledFile::renamed(std::string message) const {
  if (folder_.empty()) return message;
  const std::string quoted = "\"" + path_ + "\"";
  const size_t at = message.find(quoted);
  if (at == message.npos) return message;
  return message.replace(at, quoted.size(), given_ == "-" ? "standard input" : given_);
}

}  // namespace mercer::cli
