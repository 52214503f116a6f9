// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One run of a command: what it prints where, the context with threads, Ctrl-C, the progress bar.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "commands.h"
#include "json.h"
#include "mercer/base.hpp"
#include "processes.h"

namespace mercer::cli {

/// The streams that a command prints to. --quiet leaves scores; warnings and counts of rows filled
/// or clipped then stand on standard error, as where a JSON object is all of standard output.
struct Streams {
  std::FILE* out;       // what leads to scores: tables, choices; nullptr: nowhere
  std::FILE* warnings;  // never nullptr
  std::FILE* scores;    // nullptr where they are in the JSON object
  std::FILE* json;      // nullptr for text

  void print(const Json& result) const {
    if (json != nullptr) std::fprintf(json, "%s\n", json_text(result, 1).c_str());
  }
};

/// scores: standard output, or standard error where a result is written to that.
/// Of several processes the first prints; standard output of others leads nowhere.
inline Streams streams_of(const RunRequest& run, std::FILE* scores) {
  if (!processes().is_first()) return {nullptr, stdout, nullptr, nullptr};
  if (run.json) return {nullptr, stderr, nullptr, scores};
  return run.quiet ? Streams{nullptr, stderr, scores, nullptr}
                   : Streams{scores, scores, scores, nullptr};
}

/// OpenBLAS runs its oldest kernels, at a fifth of the speed, on a processor that it does not know,
/// as a newer one. It reads OPENBLAS_CORETYPE when it is loaded: the command starts once more.
void restart_with_fast_blas(char** argv);

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

class Session {
 public:
  /// Threads: at most, of BLAS in the process; 0: any. A bar on a terminal unless the run is quiet.
  explicit Session(const RunRequest& run);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Context* context() { return &context_; }
  /// Wipes the bar, so that a line can be printed; the next progress draws it again.
  void clear_bar();

 private:
  Context::Progress progress();
  void tell_time(int64_t done, int64_t total);
  void draw(int64_t done, int64_t total);

  bool bar_, told_ = false;  // told_: how long it takes
  Context context_;
  bool drawn_ = false;
  double last_drawn_ = -1;
  Stopwatch watch_;
};

}  // namespace mercer::cli
