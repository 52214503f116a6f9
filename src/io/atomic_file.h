// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A file that appears whole or not at all: written beside its target under another name
// (.mercer-XXXXXX.tmp, of letters and digits), flushed to the disk, renamed.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/non_copyable.h"

namespace mercer::io {

/// Without commit() the destructor removes the temporary file and the target stays as it was.
/// Errors: IO naming the path and errno's text. A target that exists must be a regular file and
/// keeps its permission bits; a new file gets those of the process's umask. A symbolic link is
/// followed to its end, whether or not a file is there yet; a loop of links is IO.
class AtomicFile : NonCopyable {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  /// Flushes, closes and renames.
  void commit();

 private:
  std::string path_;       // as given, for messages
  std::string target_;     // links followed
  std::string temporary_;  // empty once renamed
  int descriptor_ = -1;
};

}  // namespace mercer::io
