// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Storage drawn group by group when first used: published by an atomic pointer, filled under a
// lock. A fill that throws leaves its group empty, to be tried again. An object without groups
// takes a few words, however many there may be; pointers to groups come in pages, so that the first
// group costs the square root of their number.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/context.h"
#include "base/float_environment.h"
#include "base/non_copyable.h"
#include "base/size.h"
#include "projection/projection.h"

namespace mercer::projection {

/// Memory of one group, and its name in messages.
struct GroupCost {
  int64_t bytes;          // kept by the group
  int64_t bytes_to_draw;  // needed in addition while drawing
  const char* what;
};

template <class Payload>
class LazyGroups : NonCopyable {
 public:
  explicit LazyGroups(int64_t count) noexcept
      : count_(count), page_bits_((std::bit_width(static_cast<uint64_t>(count)) + 1) / 2) {}
  ~LazyGroups() {
    Page* const pages = pages_.load(std::memory_order_relaxed);
    if (pages == nullptr) return;
    for (int64_t p = 0; p < page_count(); ++p) {
      const Slot* const page = pages[p].load(std::memory_order_relaxed);
      for (int64_t g = 0; page != nullptr && g < page_size(); ++g)
        delete page[g].load(std::memory_order_relaxed);
      delete[] page;
    }
    delete[] pages;
  }

  /// Makes group g = fill(g) unless it exists, under standard rounding, and charges it to the
  /// context. Thread-safe.
  template <class Fill>
  void prepare(int64_t g, const GroupCost& cost, Context& context, const Fill& fill) {
    if (is_ready(g)) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_ready(g)) return;
    Slot& slot = slot_of(g);
    const StandardRounding rounding;
    MemoryCharge charge = context.charge(cost.bytes, cost.what);
    const MemoryCharge drawing = context.charge(cost.bytes_to_draw, cost.what);
    slot.store(new Group{fill(g), std::move(charge)}, std::memory_order_release);
  }

  /// OUT_OF_MEMORY, before anything is drawn, if the groups that do not exist yet need more than
  /// the context has room for.
  void require_room(Blocks groups, const GroupCost& cost, const Context& context) const {
    if (context.memory_cap == 0) return;
    int64_t missing = 0;
    for (int64_t g = groups.begin; g < groups.end; ++g) missing += is_ready(g) ? 0 : 1;
    if (missing == 0) return;
    const int64_t kept = checked_multiply(missing, cost.bytes, cost.what);
    context.require_room(checked_add(kept, cost.bytes_to_draw, cost.what), cost.what);
  }

  /// require_room and prepare for a range of groups, as a stage of the context.
  template <class Fill>
  void prepare_all(Blocks groups, const GroupCost& cost, Context& context, const Fill& fill) {
    require_room(groups, cost, context);
    Stage stage(context, groups.end - groups.begin);
    for (int64_t g = groups.begin; g < groups.end; ++g) {
      stage.share(1);
      prepare(g, cost, context, fill);
      stage.advance(1);
      context.checkpoint();
    }
  }

  /// A prepared group.
  const Payload& operator[](int64_t g) const noexcept {
    const Slot* const page =
        pages_.load(std::memory_order_acquire)[g >> page_bits_].load(std::memory_order_acquire);
    return page[g & (page_size() - 1)].load(std::memory_order_acquire)->payload;
  }

 private:
  struct Group {
    Payload payload;
    MemoryCharge charge;
  };
  using Slot = std::atomic<const Group*>;
  using Page = std::atomic<Slot*>;

  int64_t page_size() const noexcept { return int64_t{1} << page_bits_; }
  int64_t page_count() const noexcept { return (count_ + page_size() - 1) >> page_bits_; }

  bool is_ready(int64_t g) const noexcept {
    const Page* const pages = pages_.load(std::memory_order_acquire);
    if (pages == nullptr) return false;
    const Slot* const page = pages[g >> page_bits_].load(std::memory_order_acquire);
    return page != nullptr &&
           page[g & (page_size() - 1)].load(std::memory_order_acquire) != nullptr;
  }

  // Called under the lock.
  Slot& slot_of(int64_t g) {
    if (pages_.load(std::memory_order_relaxed) == nullptr)
      pages_.store(new Page[page_count()](), std::memory_order_release);
    Page& page = pages_.load(std::memory_order_relaxed)[g >> page_bits_];
    if (page.load(std::memory_order_relaxed) == nullptr)
      page.store(new Slot[page_size()](), std::memory_order_release);
    return page.load(std::memory_order_relaxed)[g & (page_size() - 1)];
  }

  int64_t count_;
  int page_bits_;
  std::atomic<Page*> pages_{nullptr};
  std::mutex mutex_;
};

}  // namespace mercer::projection
