// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Temporary, then rename. The temporary has the target's folder, since a rename cannot cross file
// systems.
#include "output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "failure.h"

namespace mercer::cli {

namespace {

constexpr size_t kPending = size_t{1} << 20;

bool is_special(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

void write_all(int descriptor, const char* data, size_t size, const std::string& name) {
  while (size > 0) {
    const ssize_t put = ::write(descriptor, data, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_at(name, 0, 0, std::strerror(errno));
    data += put;
    size -= static_cast<size_t>(put);
  }
}

}  // namespace

void check_output(const std::string& path, const std::string& input) {
  if (path == "-" || is_special(path)) return;
  std::error_code ignored;
  if (std::filesystem::equivalent(path, input, ignored)) {
    fail_at(path, 0, 0, "is the input too: it would be overwritten");
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string name = folder.empty() ? "." : folder.string();
  if (::access(name.c_str(), W_OK) != 0) fail_at(path, 0, 0, std::strerror(errno));
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path == "-") {
    path_ = "standard output";
    descriptor_ = STDOUT_FILENO;
    return;
  }
  if (is_special(path)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = path + ".tmp" + std::to_string(::getpid());
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    fail_now();
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ > STDOUT_FILENO) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail_now() const { fail_at(path_, 0, 0, std::strerror(errno)); }

void OutputFile::flush() {
  write_all(descriptor_, pending_.data(), pending_.size(), path_);
  pending_.clear();
}

void OutputFile::write(std::string_view text) {
  pending_.append(text);
  if (pending_.size() >= kPending) flush();
}

void OutputFile::commit() {
  flush();
  if (descriptor_ == STDOUT_FILENO) return;
  // A file system may report a full disk only at fsync or close.
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail_now();
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail_now();
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_now();
  temporary_.clear();
}

SpooledFile::SpooledFile(const std::string& path, bool read) : path_(path) {
  if (path != "-") return;
  folder_ = (std::filesystem::temp_directory_path() / "mercer-XXXXXX").string();
  if (::mkdtemp(folder_.data()) == nullptr) {
    const std::string tried = std::exchange(folder_, "");
    fail_at(tried, 0, 0, std::strerror(errno));
  }
  path_ = folder_ + "/standard-stream";
  if (!read) return;
  std::ofstream copy(path_, std::ios::binary);
  std::vector<char> buffer(kPending);
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    copy.write(buffer.data(), got);
  }
  if (!copy.flush()) fail_at(path_, 0, 0, "cannot write");
}

SpooledFile::~SpooledFile() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void SpooledFile::send() {
  if (folder_.empty()) return;
  std::ifstream file(path_, std::ios::binary);
  std::vector<char> buffer(kPending);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
         file.gcount() > 0) {
    write_all(STDOUT_FILENO, buffer.data(), static_cast<size_t>(file.gcount()), "standard output");
  }
}

}  // namespace mercer::cli
