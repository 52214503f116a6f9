// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A context under which no call of a target takes long or much memory.
#pragma once

#include <chrono>

#include "fuzz/bytes.h"
#include "mercer/mercer.h"

namespace mercer::fuzz {

class Limited {
 public:
  /// Cancels after so many reports of progress (-1: none), and after a second.
  explicit Limited(int threads = 1, int64_t memory = 64 << 20, int reports = -1)
      : reports_(reports) {
    mercer_context_options options = {sizeof options, threads, memory, report, this, trial};
    require(mercer_context_create(&options, &context_) == MERCER_OK, "no context");
  }
  ~Limited() { mercer_context_free(context_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

  operator mercer_context*() { return context_; }
  bool cancelled() const { return cancelled_; }

 private:
  static int32_t report(void* user, int64_t done, int64_t total) {
    auto* self = static_cast<Limited*>(user);
    require(0 <= done && done <= total && (done >= self->done_ || done == 0),
            "progress falls or passes its total");
    self->done_ = done == total ? 0 : done;
    self->cancelled_ |= self->reports_ == 0 || std::chrono::steady_clock::now() > self->end_;
    if (self->reports_ > 0) --self->reports_;
    return self->cancelled_;
  }
  static void trial(void*, const char* json) { require(*json == '{', "a trial is no object"); }

  mercer_context* context_ = nullptr;
  int reports_;
  int64_t done_ = 0;
  bool cancelled_ = false;
  std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

}  // namespace mercer::fuzz
