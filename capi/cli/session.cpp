// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Context, interruption, progress.
#include "session.h"

#include <dlfcn.h>
#include <unistd.h>

#include "failure.h"

namespace mercer::cli {
namespace {

/// At most `threads` of BLAS, 0: all; OpenBLAS's own functions, which the command does not link.
void limit_blas_threads(int32_t threads) {
  using Get = int (*)();
  using Set = void (*)(int);
  const auto get = reinterpret_cast<Get>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  const auto set = reinterpret_cast<Set>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (threads > 0 && get != nullptr && set != nullptr && get() > threads) set(threads);
}

}  // namespace

Session::Session(const RunRequest& run)
    : bar_(!run.quiet && isatty(STDERR_FILENO) == 1),
      // A fit that needs more than the machine has is refused, not killed later.
      context_(run.threads, physical_memory(), progress()) {
  limit_blas_threads(run.threads);
  stop_if_interrupted();
  set_interruptible(&context_, [](void* context) { static_cast<Context*>(context)->cancel(); });
}

Session::~Session() {
  set_interruptible(nullptr, nullptr);
  clear_bar();
}

Context::Progress Session::progress() {
  if (!bar_) return {};
  return [this](int64_t done, int64_t total) {
    draw(done, total);
    return !interrupted();
  };
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
