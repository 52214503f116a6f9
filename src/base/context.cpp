// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "base/context.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"

namespace mercer {
namespace {

// A progress call may enter an interpreter; a thousand calls are enough to draw any bar.
constexpr int64_t kParts = 1000;
// Nanoseconds; where work moves slowly, the caller still gets a chance to cancel.
constexpr int64_t kLongestSilence = 10'000'000;

int64_t nanoseconds() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

bool Context::is_due() noexcept {
  // With few units, which no C call has, done_ says nothing about progress within one.
  const bool moved = total_ < kParts || told_ < 0 ||
                     done_ - told_ >= std::max<int64_t>(1, total_ / kParts) ||
                     (done_ == total_ && told_ < total_);
  const int64_t now = nanoseconds();
  if (!moved && now - told_at_ < kLongestSilence) return false;
  told_ = done_;
  told_at_ = now;
  return true;
}

void Context::poll() noexcept {
  // After cancellation the callback is not called again.
  if (cancelled() || progress == nullptr || stage_ == nullptr || total_ == 0) return;
  if (is_due() && progress(user, done_, total_) != 0) cancel();
}

void Context::checkpoint() {
  poll();
  require(!cancelled(), MERCER_CANCELLED, "cancelled after %ld of %ld units of work", done_,
          total_);
}

void Context::require_memory(int64_t bytes, const char* what) const {
  require(memory_cap == 0 || bytes <= memory_cap, MERCER_OUT_OF_MEMORY,
          "memory_cap = %ld bytes, but %s needs %ld", memory_cap, what, bytes);
}

void Context::require_room(int64_t bytes, const char* what) const {
  const int64_t taken = taken_ == nullptr ? 0 : taken_->load(std::memory_order_relaxed);
  if (taken == 0) return require_memory(bytes, what);
  require(has_room(bytes), MERCER_OUT_OF_MEMORY,
          "memory_cap = %ld bytes, but %s needs %ld beside the %ld that the call has taken",
          memory_cap, what, bytes, taken);
}

MemoryCharge Context::charge(int64_t bytes, const char* what) {
  MemoryCharge charge;
  if (memory_cap == 0) return charge;
  require_room(bytes, what);
  if (taken_ == nullptr) taken_ = std::make_shared<std::atomic<int64_t>>(0);
  taken_->fetch_add(bytes, std::memory_order_relaxed);
  charge.taken_ = taken_;
  charge.bytes_ = bytes;
  return charge;
}

Stage::Stage(Context& context, int64_t total) noexcept
    : context_(context), outer_(context.stage_), total_(static_cast<double>(total)) {
  context_.stage_ = this;
  if (outer_ != nullptr) return;
  context_.done_ = 0;
  context_.total_ = total;
  context_.told_ = -1;
}

Stage::~Stage() { context_.stage_ = outer_; }

void Stage::share(int64_t units) noexcept { shared_ = static_cast<double>(units); }

void Stage::advance(int64_t units) noexcept {
  done_ = std::min(done_ + static_cast<double>(units), total_);
  shared_ = within_ = 0;
  report();
  context_.poll();
}

void Stage::reach(double fraction) noexcept {
  const double at = std::min(fraction, 1.0) * total_;
  if (at > position()) {
    done_ = at;
    shared_ = within_ = 0;
    report();
  }
  context_.poll();
}

// Totals are far below 2^53, so a double counts them exactly.
void Stage::report() noexcept {
  if (outer_ == nullptr) {
    const auto now = static_cast<int64_t>(std::min(position(), total_));
    context_.done_ = std::max(context_.done_, now);
    return;
  }
  if (outer_->shared_ == 0 || total_ == 0) return;
  const double part = std::min(position() / total_, 1.0);
  outer_->within_ = std::max(outer_->within_, outer_->shared_ * part);
  outer_->report();
}

double converged_part(double now, double first, double goal) noexcept {
  const double reachable = std::max(goal, kEpsilon * first);
  if (!(first > reachable && now < first)) return 0;
  return now <= reachable ? 1 : std::log(now / first) / std::log(reachable / first);
}

}  // namespace mercer
