// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Where files are read from and written to: a path or memory, and a file that appears whole or not
// at all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/non_copyable.h"

namespace mercer::io {

// Bytes read from the beginning: of a file, or of memory. Their number is known before anything is
// allocated.

class Input : NonCopyable {
 public:
  explicit Input(std::string name) : name_(std::move(name)) {}
  virtual ~Input() = default;

  /// Its name in messages: a path in quotes, or "data".
  const std::string& name() const noexcept { return name_; }
  virtual int64_t length() const noexcept = 0;
  /// Fills all of `bytes`; CORRUPT_FILE if the input ends earlier.
  virtual void read(std::span<std::byte> bytes) = 0;

 private:
  std::string name_;
};

class MemoryInput final : public Input {
 public:
  explicit MemoryInput(std::span<const std::byte> bytes)
      : Input("data"), rest_(bytes), length_(static_cast<int64_t>(bytes.size())) {}

  int64_t length() const noexcept override { return length_; }
  void read(std::span<std::byte> bytes) override {
    require(bytes.size() <= rest_.size(), MERCER_CORRUPT_FILE, "ends before its length");
    std::ranges::copy(rest_.first(bytes.size()), bytes.begin());
    rest_ = rest_.subspan(bytes.size());
  }

 private:
  std::span<const std::byte> rest_;
  int64_t length_;
};

// A regular file as an input.

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

// A file that appears whole or not at all: written beside its target under another name
// (.mercer-XXXXXX.tmp, of letters and digits), flushed to the disk, renamed.

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

// Where bytes go: a file that appears whole or not at all, or what a caller makes of them.

class Output : NonCopyable {
 public:
  Output() = default;
  virtual ~Output() = default;

  /// Announces `length` bytes. False: only their number was asked for.
  virtual bool begin(int64_t length) = 0;
  virtual void write(std::span<const std::byte> bytes) = 0;
  virtual void commit() = 0;
};

class MemoryOutput final : public Output {
 public:
  bool begin(int64_t length) override {
    bytes_.reserve(static_cast<size_t>(length));
    return true;
  }
  void write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void commit() override {}
  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
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
