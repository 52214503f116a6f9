// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Context, interruption, progress.
#include "session.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

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

int32_t threads_of(const RunRequest& run) {
  return run.threads > 0 ? run.threads : processes().threads();
}

}  // namespace

void restart_with_fast_blas(char** argv) {
#ifdef __x86_64__
  const auto core =
      reinterpret_cast<const char* (*)()>(::dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  constexpr const char* kKey = "OPENBLAS_CORETYPE";
  if (core == nullptr || std::strcmp(core(), "Prescott") != 0 || std::getenv(kKey) != nullptr ||
      !__builtin_cpu_supports("avx2"))
    return;
  std::error_code none;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", none);
  if (own.filename().string().starts_with("ld")) return;  // the loader, which was given the command
  ::setenv(kKey, __builtin_cpu_supports("avx512vl") ? "SkylakeX" : "Haswell", 1);
  ::execv(own.c_str(), argv);
#endif
}

Session::Session(const RunRequest& run)
    : bar_(!run.quiet && processes().is_first() && isatty(STDERR_FILENO) == 1),
      // A fit that needs more than the machine has is refused, not killed later.
      context_(threads_of(run), physical_memory(), progress()) {
  limit_blas_threads(threads_of(run));
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
    tell_time(done, total);
    draw(done, total);
    return !interrupted();
  };
}

/// Once, of what is long, by the share of the work that the first seconds have done: a search does
/// not know what it will find worth trying, so that half or twice as much is possible.
void Session::tell_time(int64_t done, int64_t total) {
  constexpr double kFirst = 4, kLong = 10;
  const double now = watch_.seconds();
  if (told_ || done <= 0 || now < kFirst) return;
  told_ = true;
  const double left = now * (static_cast<double>(total) / static_cast<double>(done) - 1);
  if (left < kLong) return;
  clear_bar();
  std::fprintf(stderr, "about %.0f %s more, half or twice that, by the first %.0f s\n",
               left < 90 ? 10 * std::round(left / 10) : std::round(left / 60),
               left < 90 ? "s" : "min", now);
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
