// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A regular file as an input.
#pragma once

#include <string>

#include "io/input.h"

namespace mercer::io {

class InputFile final : public Input {
 public:
  /// Errors: IO naming the path and errno's text, also for a path that is no regular file.
  explicit InputFile(const std::string& path);
  ~InputFile() override;

  int64_t length() const noexcept override { return length_; }
  /// CORRUPT_FILE if the file has shrunk since.
  void read(std::span<std::byte> bytes) override;

 private:
  int descriptor_ = -1;
  int64_t length_ = 0;
};

}  // namespace mercer::io
