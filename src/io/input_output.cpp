// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "io/input_output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "base/error.h"

namespace mercer::io {
namespace {

[[noreturn]] void fail_reading(const std::string& name, const char* action, int error) {
  fail(MERCER_IO, "%s: cannot %s: %s", name.c_str(), action,
       std::generic_category().message(error).c_str());
}

}  // namespace

InputFile::InputFile(const std::string& path) : Input("\"" + path + "\"") {
  // O_NONBLOCK: opening a named pipe would wait for a writer; it means nothing for regular files.
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail_reading(name(), "open", errno);
  struct stat status;
  const bool known = fstat(descriptor_, &status) == 0;
  const int error = errno;
  if (known && S_ISREG(status.st_mode)) {
    length_ = status.st_size;
    return;
  }
  close(descriptor_);  // the destructor does not run when a constructor throws
  if (!known) fail_reading(name(), "ask for its length", error);
  fail(MERCER_IO, "%s: cannot read: it is not a regular file", name().c_str());
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read(std::span<std::byte> bytes) {
  constexpr std::size_t kMostAtOnce = std::size_t{1}
                                      << 30;  // Linux reads at most 2^31 - 4096 bytes per call
  while (!bytes.empty()) {
    const ssize_t got = ::read(descriptor_, bytes.data(), std::min(bytes.size(), kMostAtOnce));
    if (got < 0 && errno == EINTR) continue;
    require(got >= 0, MERCER_IO, "cannot read: %s", std::generic_category().message(errno).c_str());
    require(got > 0, MERCER_CORRUPT_FILE, "ends before its length at opening");
    bytes = bytes.subspan(got);
  }
}

// POSIX only: open with O_EXCL beside the target (rename does not cross file systems), fsync,
// rename, fsync the directory so that the new name survives a crash as well. The temporary's name
// does not grow with the target's, which may use up all the 255 bytes a file system allows.

namespace {

[[noreturn]] void fail_with_errno(const std::string& path, const char* action, int error) {
  // generic_category().message is thread-safe where strerror is not.
  fail(MERCER_IO, "\"%s\": cannot %s: %s", path.c_str(), action,
       std::generic_category().message(error).c_str());
}

constexpr int kMostLinks = 40;  // as Linux follows

/// The path up to and including the last slash; empty for a bare name.
std::string directory_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

/// The target of the symbolic link `path`, relative to the link's own directory; empty if it is no
/// link.
std::string link_target(const std::string& path) {
  char held[4096];  // PATH_MAX: a link cannot hold more
  const ssize_t length = readlink(path.c_str(), held, sizeof held);
  if (length <= 0) return {};
  const std::string target(held, length);
  return target.front() == '/' ? target : directory_of(path) + target;
}

/// The end of a chain of links from `path`, whether or not a file is there yet. `given`: for
/// messages.
std::string follow_links(const std::string& given) {
  std::string path = given;
  for (int link = 0; link < kMostLinks; ++link) {
    if (char* resolved = realpath(path.c_str(), nullptr)) {
      path = resolved;
      free(resolved);
      return path;
    }
    if (errno == ELOOP) break;
    const std::string next = link_target(path);
    if (next.empty()) return path;
    path = next;
  }
  fail_with_errno(given, "follow its symbolic links", ELOOP);
}

/// Six letters or digits that another process or thread is unlikely to choose; if it did, O_EXCL
/// fails.
std::string suffix() {
  static std::atomic<uint64_t> counter{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  uint64_t bits = static_cast<uint64_t>(now) ^ (static_cast<uint64_t>(getpid()) << 32);
  bits += counter.fetch_add(1, std::memory_order_relaxed) * 0x9E3779B97F4A7C15;
  bits = (bits ^ (bits >> 30)) *
         0xBF58476D1CE4E5B9;  // the mixing steps of SplitMix64 (Steele et al. 2014)
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  bits ^= bits >> 31;
  std::string text;
  for (int i = 0; i < 6; ++i, bits /= 36) text += "0123456789abcdefghijklmnopqrstuvwxyz"[bits % 36];
  return text;
}

void sync_directory(const std::string& target) {
  const std::string directory = directory_of(target);
  const int descriptor =
      open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;  // a directory may be writable but not readable; the file itself is safe
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(follow_links(path)) {
  struct stat existing;
  const bool exists = stat(target_.c_str(), &existing) == 0;
  // Otherwise an empty or too long name would fail only at the rename, after all the work.
  if (!exists && (errno != ENOENT || target_.empty())) fail_with_errno(path_, "create it", errno);
  require(!exists || S_ISREG(existing.st_mode), MERCER_IO,
          "\"%s\": cannot write: it exists and is not a regular file", path_.c_str());
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    temporary_ = directory_of(target_) + ".mercer-" + suffix() + ".tmp";
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) break;
  }
  if (descriptor_ < 0) fail_with_errno(path_, "create a temporary file beside it", errno);
  if (exists && fchmod(descriptor_, existing.st_mode & 07777) != 0) {
    const int error = errno;
    close(descriptor_);
    unlink(temporary_.c_str());  // the destructor does not run when a constructor throws
    fail_with_errno(path_, "keep its permissions", error);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t kMostAtOnce = std::size_t{1}
                                      << 30;  // Linux writes at most 2^31 - 4096 bytes per call
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kMostAtOnce));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno(path_, "write", errno);
    bytes = bytes.subspan(written);
  }
}

void AtomicFile::commit() {
  if (fsync(descriptor_) != 0) fail_with_errno(path_, "flush", errno);
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (close(descriptor) != 0) fail_with_errno(path_, "close", errno);
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail_with_errno(path_, "rename", errno);
  temporary_.clear();
  sync_directory(target_);
}

}  // namespace mercer::io
