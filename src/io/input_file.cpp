// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "io/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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
    if (got < 0) fail_reading(name(), "read", errno);
    require(got > 0, MERCER_CORRUPT_FILE, "%s: ends before its length at opening", name().c_str());
    bytes = bytes.subspan(got);
  }
}

}  // namespace mercer::io
