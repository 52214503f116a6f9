// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One run of a command: the context with threads, Ctrl-C and the progress bar.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "mercer/base.hpp"

namespace mercer::cli {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

class Session {
 public:
  /// threads: an upper limit, of BLAS in the whole process; 0: none. The bar is drawn on standard
  /// error if that is a terminal and quiet is false.
  Session(int32_t threads, bool quiet);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Context* context() { return &context_; }
  /// Wipes the bar, so that a line can be printed; the next progress draws it again.
  void clear_bar();

 private:
  Context::Progress progress();
  void draw(int64_t done, int64_t total);

  bool bar_;
  Context context_;
  bool drawn_ = false;
  double last_drawn_ = -1;
  Stopwatch watch_;
};

}  // namespace mercer::cli
