// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A file read from its beginning, whose length is known before anything is allocated for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mercer::io {

class InputFile {
 public:
  /// IO naming the path and errno's text, also for what is no regular file.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int64_t length() const noexcept { return length_; }
  /// Fills all of `bytes`; CORRUPT_FILE if the file ends earlier (it shrank meanwhile).
  void read(std::span<std::byte> bytes);

 private:
  std::string path_;
  int descriptor_ = -1;
  int64_t length_ = 0;
};

}  // namespace mercer::io
