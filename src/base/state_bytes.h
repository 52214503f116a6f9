// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Numbers that are written to bytes, and later read back, by the same calls in the same order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/views.h"

namespace mercer {

/// Reading trusts nothing: INVALID_ARGUMENT for bytes that end early, or hold other counts.
class StateBytes {
 public:
  /// Appends to `to`.
  explicit StateBytes(std::vector<std::byte>& to) : to_(&to) {}
  explicit StateBytes(std::span<const std::byte> from) : from_(from) {}

  bool reads() const noexcept { return to_ == nullptr; }
  /// A number, or a struct of numbers; a bool goes by flag.
  template <class T>
  void number(T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    bytes(&value, sizeof value);
  }
  void flag(bool& value) {
    auto byte = static_cast<unsigned char>(value ? 1 : 0);
    number(byte);
    value = byte != 0;
  }
  /// As many numbers as there were.
  template <class T>
  void numbers(std::span<T> values) {
    int64_t count = std::ssize(values);
    number(count);
    require(count == std::ssize(values), MERCER_INVALID_ARGUMENT,
            "a state of %ld numbers, expected %zu", count, values.size());
    bytes(values.data(), values.size_bytes());
  }
  /// Any number of them.
  template <class T>
  void list(std::vector<T>& values) {
    values.resize(static_cast<size_t>(count_of(std::ssize(values), sizeof(T))));
    bytes(values.data(), values.size() * sizeof(T));
  }
  void list(std::string& text) {
    text.resize(static_cast<size_t>(count_of(std::ssize(text), 1)));
    bytes(text.data(), text.size());
  }
  template <class T>
  void list(GrowingBuffer<T>& values) {
    const int64_t count = count_of(values.size(), sizeof(T));
    values.reserve(count);
    values.shrink(count);
    bytes(values.data(), static_cast<size_t>(count) * sizeof(T));
  }
  /// How many elements follow, of at least so many bytes each.
  int64_t count_of(int64_t count, size_t bytes_each) {
    number(count);
    require(!reads() || (count >= 0 && static_cast<size_t>(count) <= from_.size() / bytes_each),
            MERCER_INVALID_ARGUMENT, "a state of %ld elements in %zu bytes", count, from_.size());
    return count;
  }
  /// Nothing is left.
  void require_end() const {
    require(from_.empty(), MERCER_INVALID_ARGUMENT, "a state with %zu more bytes", from_.size());
  }

 private:
  void bytes(void* values, size_t count) {
    if (count == 0) return;
    if (!reads()) {
      const auto* const first = static_cast<const std::byte*>(values);
      to_->insert(to_->end(), first, first + count);
      return;
    }
    require(count <= from_.size(), MERCER_INVALID_ARGUMENT, "a state ends before its numbers");
    std::memcpy(values, from_.data(), count);
    from_ = from_.subspan(count);
  }

  std::vector<std::byte>* to_ = nullptr;
  std::span<const std::byte> from_;
};

}  // namespace mercer
