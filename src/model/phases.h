// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Progress over phases of estimated work.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/context.h"

namespace mercer::model {

/// A phase never runs past its end, and beginning the next one jumps there.
class Phases {
 public:
  Phases(Context& context, int64_t total) : stage_(context, total), total_(total) {}
  void begin(int64_t units) {
    stage_.advance(end_ - done_);
    done_ = end_;
    end_ += units;
  }
  /// Sets aside all that is left for the next inner stage.
  void share_rest() { stage_.share(total_ - end_); }
  void advance(int64_t units) {
    const int64_t step = std::min(units, end_ - done_);
    done_ += step;
    stage_.advance(step);
  }

 private:
  Stage stage_;
  int64_t total_ = 0;
  int64_t done_ = 0;
  int64_t end_ = 0;
};

/// Work of one row, in units >= 1 that do not overflow when multiplied by any number of rows.
inline int64_t row_units(int64_t features) {
  const int64_t blocks = std::min<int64_t>(features / 64, int64_t{1} << 14);
  return 1 + blocks * blocks;
}

}  // namespace mercer::model
