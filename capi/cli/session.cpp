// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Context, interruption, progress.
#include "session.h"

#include <unistd.h>

#include "interrupt.h"
#include "library.h"
#include "memory.h"

namespace mercer::cli {

namespace {

void cancel(mercer_context* context) { mercer_context_cancel(context); }

}  // namespace

Session::Session(int32_t threads, bool quiet) : bar_(!quiet && isatty(STDERR_FILENO) == 1) {
  stop_if_interrupted();
  mercer_context_options options = {};
  options.struct_size = sizeof options;
  check(mercer_context_options_init(&options));
  options.threads = threads;
  options.memory_cap = physical_memory();  // a fit that needs more is refused, not killed later
  options.progress = bar_ ? &Session::advance : nullptr;
  options.user = this;
  check(mercer_context_create(&options, &context_));
  set_interruptible(context_, cancel);
}

Session::~Session() {
  set_interruptible(nullptr, nullptr);
  clear_bar();
  mercer_context_free(context_);
}

int32_t Session::advance(void* user, int64_t done, int64_t total) {
  static_cast<Session*>(user)->draw(done, total);
  return interrupted() ? 1 : 0;
}

void Session::draw(int64_t done, int64_t total) {
  constexpr double kSecondsBetween = 0.1;
  constexpr int kWidth = 40;
  const double now = watch_.seconds();
  if (total <= 0 || now - last_drawn_ < kSecondsBetween) return;
  last_drawn_ = now;
  drawn_ = true;
  const double part = static_cast<double>(done) / static_cast<double>(total);
  char bar[kWidth + 1];
  for (int k = 0; k < kWidth; ++k) bar[k] = k < part * kWidth ? '#' : '.';
  bar[kWidth] = '\0';
  std::fprintf(stderr, "\r[%s] %3.0f%% %.0f s\033[K", bar, 100 * part, now);
  std::fflush(stderr);
}

void Session::clear_bar() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
  last_drawn_ = -1;
}

}  // namespace mercer::cli
