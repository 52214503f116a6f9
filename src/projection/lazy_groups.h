// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Storage drawn group by group when first used: published by an atomic pointer, filled under a
// lock. A fill that throws leaves its group empty, to be tried again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace mercer::projection {

template <class Payload>
class LazyGroups {
 public:
  explicit LazyGroups(int64_t count)
      : groups_(std::make_unique<Group[]>(static_cast<size_t>(count))) {}

  /// Makes group g = fill(g) unless it exists. Thread-safe.
  template <class Fill>
  void prepare(int64_t g, const Fill& fill) {
    Group& group = groups_[static_cast<size_t>(g)];
    if (group.ready.load(std::memory_order_acquire) != nullptr) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (group.ready.load(std::memory_order_relaxed) != nullptr) return;
    group.payload = fill(g);
    group.ready.store(&group.payload, std::memory_order_release);
  }

  /// A prepared group.
  const Payload& operator[](int64_t g) const noexcept {
    return *groups_[static_cast<size_t>(g)].ready.load(std::memory_order_acquire);
  }

 private:
  struct Group {
    std::atomic<const Payload*> ready{nullptr};
    Payload payload;
  };
  std::unique_ptr<Group[]> groups_;
  std::mutex mutex_;
};

}  // namespace mercer::projection
