// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A growing array of plain numbers. std::vector would copy on growth and zero-fill; realloc moves
// pages of large blocks, so a table read from a pipe is held once, and sizes claimed by a header
// are never trusted before the data arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace mercer::cli {

template <class T>
class GrowingBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowingBuffer() = default;
  GrowingBuffer(GrowingBuffer&& other) noexcept { swap(other); }
  GrowingBuffer& operator=(GrowingBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~GrowingBuffer() { std::free(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

  void push_back(T value) {
    if (size_ == capacity_) reserve(size_ + 1);
    data_[size_++] = value;
  }
  /// Makes room for `count` more and returns where they go; they hold anything.
  T* extend(size_t count) {
    if (count > SIZE_MAX - size_) throw std::bad_alloc();
    if (size_ + count > capacity_) reserve(size_ + count);
    T* place = data_ + size_;
    size_ += count;
    return place;
  }
  void truncate(size_t count) { size_ = count < size_ ? count : size_; }
  /// Gives back what growth left over.
  void trim() {
    if (size_ > 0) reallocate(size_);
  }
  void swap(GrowingBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void reserve(size_t least) {
    const size_t grown = capacity_ + capacity_ / 2;
    reallocate(grown > least ? grown : (least < 1024 ? 1024 : least));
  }
  void reallocate(size_t capacity) {
    if (capacity > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    void* moved = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace mercer::cli
