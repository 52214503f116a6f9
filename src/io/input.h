// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Bytes read from the beginning: of a file, or of memory. Their number is known before anything is
// allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/non_copyable.h"

namespace mercer::io {

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
    require(bytes.size() <= rest_.size(), MERCER_CORRUPT_FILE, "data: ends before its length");
    std::ranges::copy(rest_.first(bytes.size()), bytes.begin());
    rest_ = rest_.subspan(bytes.size());
  }

 private:
  std::span<const std::byte> rest_;
  int64_t length_;
};

}  // namespace mercer::io
