// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Temporary, then rename. The temporary has the target's folder, since a rename cannot cross file
// systems, and a name of its own length, since the target's may be as long as names can be.
#include "output_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "failure.h"

namespace mercer::cli {
namespace {

constexpr size_t kPending = size_t{1} << 20;
constexpr int kMostLinks = 40;  // as Linux follows
constexpr const char* kStandardOutput[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};

bool is_stream(mode_t mode) { return S_ISFIFO(mode) || S_ISCHR(mode); }

// The path that symbolic links end at, whether a file is there or not yet.
std::string end_of_links(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path at = path;
  for (int link = 0; link < kMostLinks; ++link) {
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(at, error))) return at.string();
    const fs::path next = fs::read_symlink(at, error);
    if (error) fail_at(path, 0, 0, error.message());
    at = at.parent_path() / next;  // an absolute one replaces the folder
  }
  fail_at(path, 0, 0, std::strerror(ELOOP));
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

void check_existing(const std::string& path, mode_t mode) {
  if (S_ISDIR(mode)) fail_at(path, 0, 0, std::strerror(EISDIR));
  if (!S_ISREG(mode) && !is_stream(mode))
    fail_at(path, 0, 0, "is neither a file nor a pipe or a character device");
  if (is_stream(mode) && ::access(path.c_str(), W_OK) != 0)
    fail_at(path, 0, 0, std::strerror(errno));
}

mode_t new_file_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

void write_all(int descriptor, const char* data, size_t size, const std::string& name) {
  while (size > 0) {
    const ssize_t put = ::write(descriptor, data, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EPIPE && descriptor == STDOUT_FILENO) throw ClosedPipe();
    if (put < 0) fail_at(name, 0, 0, std::strerror(errno));
    data += put;
    size -= static_cast<size_t>(put);
  }
}

}  // namespace

bool is_standard_output(const std::string& path) {
  return std::find(std::begin(kStandardOutput), std::end(kStandardOutput), path) !=
         std::end(kStandardOutput);
}

void check_output(const std::string& path, const std::string& input) {
  if (is_standard_output(path)) return;
  struct stat status = {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail_at(path, 0, 0, std::strerror(errno));
  if (exists) check_existing(path, status.st_mode);
  if (exists && is_stream(status.st_mode)) return;
  std::error_code ignored;
  if (std::filesystem::equivalent(path, input, ignored)) {
    fail_at(path, 0, 0, "is the input too: it would be overwritten");
  }
  const std::string folder = folder_of(end_of_links(path));
  if (path.empty() || ::access(folder.c_str(), W_OK) != 0) {
    const int error = path.empty() ? ENOENT : errno;
    fail_at(path, 0, 0,
            std::string(std::strerror(error)) +
                (path.empty() ? "" : ": " + folder + ", the folder it would be written to"));
  }
}

bool is_one_file(const std::string& a, const std::string& b) {
  if (is_standard_output(a) || is_standard_output(b)) return false;
  std::error_code failed;
  const auto place = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, failed), failed);
  };
  const auto one = place(a), other = place(b);
  return !failed && (one == other || std::filesystem::equivalent(a, b, failed));
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (is_standard_output(path)) {
    path_ = "standard output";
    descriptor_ = STDOUT_FILENO;
    return;
  }
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail_now();
  } else {
    open_temporary();
  }
}

void OutputFile::open_temporary() {
  target_ = end_of_links(path_);
  std::string name = folder_of(target_) + "/.mercer-XXXXXX.tmp";
  descriptor_ = ::mkostemps(name.data(), 4, O_CLOEXEC);
  if (descriptor_ < 0) fail_now();
  struct stat old = {};
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (::fchmod(descriptor_, exists ? old.st_mode & 07777 : new_file_mode()) != 0) {
    const int error = errno;
    ::close(descriptor_);
    ::unlink(name.c_str());  // the destructor of a half-made object does not run
    fail_at(path_, 0, 0, std::strerror(error));
  }
  temporary_ = name;
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

void OutputFile::write_at_start(std::string_view text) {
  flush();
  if (::lseek(descriptor_, 0, SEEK_SET) != 0) fail_now();
  write(text);
  flush();
  if (::lseek(descriptor_, 0, SEEK_END) < 0) fail_now();
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
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_now();
  temporary_.clear();
}

}  // namespace mercer::cli
