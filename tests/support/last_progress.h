// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a call said last of its progress, and where it is to be stopped.
#pragma once

#include <cstdint>

#include "base/context.h"

namespace mercer::test {

struct LastProgress {
  int64_t stop_at;
  int64_t done = 0;
  int64_t total = 0;

  /// Until `this` is gone.
  void watch(Context& context) {
    context.user = this;
    context.progress = [](void* user, int64_t done, int64_t total) -> int32_t {
      auto& last = *static_cast<LastProgress*>(user);
      last.done = done;
      last.total = total;
      return done >= last.stop_at;
    };
  }
};

}  // namespace mercer::test
