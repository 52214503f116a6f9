// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Elements of unknown number: a vector whose storage is charged to a context; while it grows, old
// and new storage are charged together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/aligned.h"

namespace mercer {

template <class T>
class GrowingBuffer {
 public:
  /// Refers to the context; `what` names the storage in an OUT_OF_MEMORY message.
  GrowingBuffer(Context& context, const char* what) : context_(&context), what_(what) {}

  int64_t size() const noexcept { return size_; }
  T* data() const noexcept { return storage_.data(); }
  T& operator[](int64_t i) const noexcept { return storage_[i]; }

  void push_back(const T& element) {
    if (size_ == storage_.size()) reserve(std::max(kLeast, checked_multiply(2, size_, what_)));
    storage_[size_++] = element;
  }
  void reserve(int64_t count) {
    if (count <= storage_.size()) return;
    AlignedBuffer<T> larger(count, *context_, what_);
    std::copy_n(storage_.data(), size_, larger.data());
    storage_ = std::move(larger);
  }
  /// Keeps the first `count` elements and the storage.
  void shrink(int64_t count) noexcept { size_ = count; }

 private:
  static constexpr int64_t kLeast = 16;
  Context* context_;
  const char* what_;
  AlignedBuffer<T> storage_;
  int64_t size_ = 0;
};

}  // namespace mercer
