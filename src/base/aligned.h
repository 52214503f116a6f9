// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Cache-line-aligned storage, left uninitialised. An allocation that fails says how much it asked
// for.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <type_traits>
#include <utility>

#include "base/context.h"
#include "base/size.h"
#include "base/views.h"

namespace mercer {

inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

/// Storage of huge pages where it is larger than one: a fit frees and takes it again hundreds of
/// times, and a sixth of a small fit's time went into 4 kB pages that the kernel hands out one by
/// one.
inline std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes < kHugePage ? kAlignment : kHugePage};
}
inline void* allocate_aligned(std::size_t bytes) {
  void* const memory = ::operator new(bytes, alignment_of(bytes), std::nothrow);
#ifdef MADV_HUGEPAGE
  if (memory != nullptr && bytes >= kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);  // or not
#endif
  return memory;
}

/// An allocation that failed, which says how much it asked for.
class AllocationFailed : public std::bad_alloc {
 public:
  explicit AllocationFailed(int64_t bytes) noexcept {
    std::snprintf(text_, sizeof text_, "an allocation of %lld bytes failed",
                  static_cast<long long>(bytes));
  }
  const char* what() const noexcept override { return text_; }

 private:
  char text_[64];
};

template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(int64_t count) : size_(count) {
    if (count == 0) return;
    const int64_t bytes = checked_multiply(count, static_cast<int64_t>(sizeof(T)), "allocation");
    data_ = static_cast<T*>(allocate_aligned(static_cast<std::size_t>(bytes)));
    if (data_ == nullptr) throw AllocationFailed(bytes);
  }
  /// As above, and charged to the context while the buffer lives; `what` names it in an
  /// OUT_OF_MEMORY message.
  AlignedBuffer(int64_t count, Context& context, const char* what)
      : AlignedBuffer(context.charge(checked_multiply(count, sizeof(T), what), what), count) {}
  AlignedBuffer(AlignedBuffer&& other) noexcept { swap(other); }
  AlignedBuffer& operator=(AlignedBuffer other) noexcept {
    swap(other);
    return *this;
  }
  ~AlignedBuffer() {
    if (data_ != nullptr)
      ::operator delete(data_, alignment_of(static_cast<std::size_t>(size_) * sizeof(T)));
  }

  T* data() const noexcept { return data_; }
  int64_t size() const noexcept { return size_; }
  T& operator[](int64_t i) const noexcept { return data_[i]; }
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }

 private:
  AlignedBuffer(MemoryCharge charge, int64_t count) : AlignedBuffer(count) {
    charge_ = std::move(charge);
  }
  void swap(AlignedBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(charge_, other.charge_);
  }
  T* data_ = nullptr;
  int64_t size_ = 0;
  MemoryCharge charge_;
};

/// An owned rows x cols matrix, row-major without gaps, uninitialised.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(int64_t rows, int64_t cols)
      : storage_(checked_multiply(rows, cols, "matrix")), rows_(rows), cols_(cols) {}
  /// As above, and charged to the context as an AlignedBuffer is.
  Matrix(int64_t rows, int64_t cols, Context& context, const char* what)
      : storage_(checked_multiply(rows, cols, what), context, what), rows_(rows), cols_(cols) {}
  int64_t rows() const noexcept { return rows_; }
  int64_t cols() const noexcept { return cols_; }
  T* data() const noexcept { return storage_.data(); }
  T& operator()(int64_t i, int64_t j) const noexcept { return storage_[i * cols_ + j]; }
  MatrixView<T> view() const noexcept { return {storage_.data(), rows_, cols_, cols_}; }
  void fill(T value) const noexcept {
    for (T& element : storage_) element = value;
  }

 private:
  AlignedBuffer<T> storage_;
  int64_t rows_ = 0;
  int64_t cols_ = 0;
};

// Elements of unknown number: a vector whose storage is charged to a context; while it grows, old
// and new storage are charged together.

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

// Sparse rows of doubles that own their arrays.

/// Rows as stored non-zeros: columns ascending, each once, no zeros.
class CsrRows {
 public:
  CsrRows() = default;
  /// Reserves and charges room for `rows` rows and `numbers` non-zeros; add appends the rows.
  CsrRows(int64_t rows, int64_t cols, int64_t numbers, Context& context, const char* what);
  /// A copy of the rows of X.
  CsrRows(const Rows& X, Context& context, const char* what);

  /// Appends a row: list(put) calls put(column, value), in any order; a column named twice counts
  /// as the sum.
  template <class List>
  void add(const List& list) {
    row_.clear();
    list([this](int64_t j, double value) { row_.push_back({j, value}); });
    end_row();
  }

  CsrView<double> view() const noexcept {
    return {rows_, cols_, offsets_.data(), columns_.data(), values_.data()};
  }

 private:
  struct Entry {
    int64_t column;
    double value;
  };
  void end_row();

  int64_t rows_ = 0, cols_ = 0;
  AlignedBuffer<int64_t> offsets_, columns_;
  AlignedBuffer<double> values_;
  std::vector<Entry> row_;  // the row being added
};

/// The stored non-zeros of X; all numbers if X is dense.
int64_t stored_numbers(const Rows& X);

}  // namespace mercer
