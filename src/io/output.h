// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Where bytes go: a file that appears whole or not at all, or what a caller makes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/non_copyable.h"
#include "io/atomic_file.h"

namespace mercer::io {

class Output : NonCopyable {
 public:
  Output() = default;
  virtual ~Output() = default;

  /// Announces `length` bytes. False: only their number was asked for.
  virtual bool begin(int64_t length) = 0;
  virtual void write(std::span<const std::byte> bytes) = 0;
  virtual void commit() = 0;
};

/// AtomicFile, opened when there is something to write.
class FileOutput final : public Output {
 public:
  explicit FileOutput(std::string path) : path_(std::move(path)) {}

  bool begin(int64_t) override {
    file_.emplace(path_);
    return true;
  }
  void write(std::span<const std::byte> bytes) override { file_->write(bytes); }
  void commit() override { file_->commit(); }

 private:
  std::string path_;
  std::optional<AtomicFile> file_;
};

}  // namespace mercer::io
