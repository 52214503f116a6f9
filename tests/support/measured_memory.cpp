// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The other forms of new and delete call these four.
#include "support/measured_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MERCER_TEST_MEASURES_MEMORY 1
#else
#define MERCER_TEST_MEASURES_MEMORY 0
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#undef MERCER_TEST_MEASURES_MEMORY
#define MERCER_TEST_MEASURES_MEMORY 0
#endif
#endif

namespace {

std::atomic<int64_t> held{0}, most{0};

}  // namespace

namespace mercer::test {

bool measures_memory() noexcept { return MERCER_TEST_MEASURES_MEMORY != 0; }

MemoryPeak::MemoryPeak() noexcept : before_(held.load()) { most.store(before_); }

int64_t MemoryPeak::bytes() const noexcept { return most.load() - before_; }

}  // namespace mercer::test

#if MERCER_TEST_MEASURES_MEMORY
#include <malloc.h>

namespace {

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const auto bytes = static_cast<int64_t>(malloc_usable_size(memory));
  const int64_t now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t before = most.load(std::memory_order_relaxed);
  while (before < now && !most.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
  return memory;
}

void release(void* memory) noexcept {
  held.fetch_sub(static_cast<int64_t>(malloc_usable_size(memory)), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  // An alignment of huge pages is for speed alone, and leaves a rest that would be counted.
  const auto unit = std::min(static_cast<std::size_t>(alignment), std::size_t{4096});
  return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
#endif
