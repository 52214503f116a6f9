// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How a long call runs: thread limit, memory cap, progress and cancellation. The C handle
// mercer_context wraps one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/non_copyable.h"
#include "mercer/base.h"

namespace mercer {

/// Bytes taken by a call, returned when this object ends; the owner of the memory keeps it. It may
/// outlive the call and its context.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(MemoryCharge&& other) noexcept = default;  // which leaves `taken_` empty
  MemoryCharge& operator=(MemoryCharge other) noexcept {
    std::swap(taken_, other.taken_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryCharge() {
    if (taken_ != nullptr) taken_->fetch_sub(bytes_, std::memory_order_relaxed);
  }

 private:
  friend class Context;
  std::shared_ptr<std::atomic<int64_t>> taken_;
  int64_t bytes_ = 0;
};

class Stage;

class Context {
 public:
  int threads = 0;         // upper limit for the library's own loops, 0: all cores
  int64_t memory_cap = 0;  // bytes, 0: none
  mercer_progress progress = nullptr;
  mercer_trial trial = nullptr;
  void* user = nullptr;
  std::atomic<int> threads_used{0};

  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
  void clear_cancelled() noexcept { cancelled_.store(false, std::memory_order_relaxed); }

  /// Calls progress with the current counts if it is due; a non-zero result cancels. Calling thread
  /// only.
  void poll() noexcept;
  /// poll, then throws Error(MERCER_CANCELLED) if the call is to stop. Calling thread only.
  void checkpoint();
  /// Throws Error(MERCER_OUT_OF_MEMORY) naming the amount if bytes exceed the cap.
  void require_memory(int64_t bytes, const char* what) const;
  /// Throws likewise if bytes and what the call has been charged and still holds exceed the cap
  /// together. Calling thread only.
  void require_room(int64_t bytes, const char* what) const;
  /// Whether require_room would pass.
  bool has_room(int64_t bytes) const noexcept {
    const int64_t taken = taken_ == nullptr ? 0 : taken_->load(std::memory_order_relaxed);
    return memory_cap == 0 || (taken <= memory_cap && bytes <= memory_cap - taken);
  }
  /// require_room, then charges the bytes until the charge ends. Calling thread only.
  [[nodiscard]] MemoryCharge charge(int64_t bytes, const char* what);
  /// At the start of a call: charges of earlier calls do not count for it.
  void forget_charges() noexcept { taken_.reset(); }

 private:
  friend class Stage;
  std::atomic<bool> cancelled_{false};
  bool is_due() noexcept;
  int64_t done_ = 0;
  int64_t total_ = 0;
  int64_t told_ = -1;                            // done_ when progress was called last, -1: not yet
  int64_t told_at_ = 0;                          // nanoseconds of a steady clock
  Stage* stage_ = nullptr;                       // the innermost
  std::shared_ptr<std::atomic<int64_t>> taken_;  // none before the first charge under a cap
};

/// A stretch of work of total units whose progress is reported. It is a fraction of the outermost
/// Stage of a context, so that a function may report its own work and still be part of a larger
/// one. Inner stages count for the units set aside for them by share, otherwise for nothing. A
/// total of 0 reports nothing. A C call is one Stage; a function that calls several others in turn
/// says what share each has. Calling thread only.
class Stage : NonCopyable {
 public:
  Stage(Context& context, int64_t total) noexcept;
  ~Stage();
  /// Sets aside `units` of this stage for the next inner stage; the caller advances by them
  /// afterwards. Where several inner stages share them in turn, the furthest one counts.
  void share(int64_t units) noexcept;
  /// Adds finished units and polls.
  void advance(int64_t units) noexcept;
  /// At least this fraction of the total is done, for iterations of unknown number; polls.
  void reach(double fraction) noexcept;
  /// Runs body() and all stages within it as the next `units`.
  template <class Body>
  auto part(int64_t units, Body&& body) {
    share(units);
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      advance(units);
    } else {
      auto result = body();
      advance(units);
      return result;
    }
  }

 private:
  double position() const noexcept { return done_ + within_; }
  void report() noexcept;

  Context& context_;
  Stage* outer_;  // null: the outermost
  double total_;
  double done_ = 0;
  double shared_ = 0;
  double within_ = 0;  // finished part of the shared units
};

/// Progress of iterations, whose linear convergence is uniform in the logarithm of the residual:
/// share in [0, 1] of the way from `first` down to `goal` done at `now`, in logarithms. Goals below
/// eps first count as eps first, since rounding keeps them out of reach.
double converged_part(double now, double first, double goal) noexcept;
/// Share of the allowed iterations that are spent.
inline double spent_part(double spent, double most) noexcept { return most > 0 ? spent / most : 0; }

}  // namespace mercer
