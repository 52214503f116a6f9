// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// parallel_for on oneTBB, or on std::thread when the thread sanitizer must see every
// synchronisation (Debian's oneTBB is not instrumented). Workers draw chunks from one counter;
// which worker takes a chunk never matters to a result.
#include "base/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <latch>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/float_environment.h"
#include "base/non_copyable.h"

#ifdef MERCER_THREADS_TBB
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace mercer {
namespace {

#ifdef MERCER_THREADS_TBB

int thread_limit() noexcept {
  return static_cast<int>(
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

// Arenas that no call uses. oneTBB 2021.8 frees the memory of an arena only at exit, and searches
// all arenas ever made: a new one per call would cost 7 kB and ever more time. Never destroyed: at
// exit the workers of an arena may outlive static objects.
class IdleArenas {
 public:
  static IdleArenas& get() {
    static IdleArenas* const arenas = new IdleArenas;
    return *arenas;
  }
  std::unique_ptr<tbb::task_arena> take(int workers) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 0; i < idle_.size(); ++i) {
      if (idle_[i]->max_concurrency() != workers) continue;
      std::swap(idle_[i], idle_.back());
      std::unique_ptr<tbb::task_arena> arena = std::move(idle_.back());
      idle_.pop_back();
      return arena;
    }
    auto arena = std::make_unique<tbb::task_arena>(workers);
    arena->initialize();
    idle_.reserve(++made_);  // so that returning it cannot fail
    return arena;
  }
  void give_back(std::unique_ptr<tbb::task_arena> arena) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(arena));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<tbb::task_arena>> idle_;
  size_t made_ = 0;
};

class BorrowedArena : NonCopyable {
 public:
  explicit BorrowedArena(int workers) : arena_(IdleArenas::get().take(workers)) {}
  ~BorrowedArena() { IdleArenas::get().give_back(std::move(arena_)); }
  tbb::task_arena& operator*() const noexcept { return *arena_; }

 private:
  std::unique_ptr<tbb::task_arena> arena_;
};

// oneTBB 2021.8 lets its workers start each other; a worker that cannot be started ends the process
// with an uncaught exception. So all threads it may ever want are started here first, at once; if
// that fails, loops run on the calling thread alone for a while.
class ThreadTrial {
 public:
  static bool passed() {
    static ThreadTrial* const trial = new ThreadTrial;
    return trial->passes(thread_limit());
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool passes(int limit) {
    if (limit <= proven_.load(std::memory_order_acquire)) return true;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (limit <= proven_.load(std::memory_order_relaxed)) return true;
    if (Clock::now() < again_) return false;
    if (!all_start(limit - 1)) {
      again_ = Clock::now() + std::chrono::seconds(1);
      return false;
    }
    proven_.store(limit, std::memory_order_release);
    return true;
  }

  static bool all_start(int count) {
    std::vector<std::thread> threads;
    std::latch all_tried(1);
    try {
      threads.reserve(count);
      while (static_cast<int>(threads.size()) < count)
        threads.emplace_back([&] { all_tried.wait(); });
    } catch (const std::exception&) {
    }
    all_tried.count_down();
    for (std::thread& thread : threads) thread.join();
    return static_cast<int>(threads.size()) == count;
  }

  std::mutex mutex_;
  std::atomic<int> proven_{1};  // threads that did start, including the caller
  Clock::time_point again_{};   // earliest time of the next trial
};

/// Returns when every worker that joined has left; the work is then done unless none joined.
template <class Work>
void run_workers(int workers, const Work& work) {
  try {
    if (!ThreadTrial::passed()) return;
    const BorrowedArena arena(workers);
    (*arena).execute([&] {
      tbb::parallel_for(
          0, workers, [&](int worker) { work(worker); }, tbb::simple_partitioner());
    });
  } catch (const std::exception&) {
    // A thread could not be started after all, or an arena had no memory: the caller does the rest.
    // Bodies are noexcept.
  }
}

#else

int thread_limit() noexcept { return 256; }

template <class Work>
void run_workers(int workers, const Work& work) {
  std::vector<std::thread> threads;
  threads.reserve(workers);
  // A thread that cannot be started is no error: the others take its chunks.
  try {
    for (int worker = 1; worker < workers; ++worker)
      threads.emplace_back([&work, worker] { work(worker); });
    work(0);
  } catch (const std::system_error&) {
  }
  for (std::thread& thread : threads) thread.join();
}

#endif

// The threads of a pool and any holder of its locks stay in the parent of a fork: loops of the
// child run on its calling thread.
std::atomic<bool> in_forked_child{false};

void watch_forks() noexcept {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { pthread_atfork(nullptr, nullptr, [] { in_forked_child = true; }); });
}

int available_cores() noexcept {
#ifdef MERCER_THREADS_TBB
  return thread_limit();
#else
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#endif
}

}  // namespace

int worker_count(const Context& context, int64_t chunks) noexcept {
  if (in_forked_child) return 1;
  const int wanted =
      context.threads > 0 ? std::min(context.threads, thread_limit()) : available_cores();
  return static_cast<int>(std::clamp<int64_t>(std::min<int64_t>(wanted, chunks), 1, 1 << 16));
}

void parallel_for(Context& context, int64_t chunks, ChunkBody body, int64_t units_per_chunk) {
  watch_forks();
  const int workers = worker_count(context, chunks);
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> finished{0};
  std::atomic<int> came{0};
  const std::thread::id caller = std::this_thread::get_id();
  const FloatEnvironment callers = FloatEnvironment::current();
  Stage stage(context, chunks * units_per_chunk);
  int64_t reported = 0;  // touched by the calling thread only
  const auto report = [&]() noexcept {
    const int64_t now = finished.load(std::memory_order_relaxed);
    stage.advance((now - reported) * units_per_chunk);
    reported = now;
  };
  const auto work = [&](int worker) noexcept {
    const bool is_caller = std::this_thread::get_id() == caller;
    const RoundingOf rounding(callers);  // a worker's own may be another loop's
    if (next.load(std::memory_order_relaxed) < chunks) came.fetch_add(1, std::memory_order_relaxed);
    while (!context.cancelled()) {
      const int64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks) break;
      body(chunk, worker);
      finished.fetch_add(1, std::memory_order_relaxed);
      if (is_caller) report();
    }
  };
  if (chunks > 0) {
    if (workers > 1) run_workers(workers, work);
    work(0);  // all of a serial loop, or the chunks that helpers left
    report();
  }
  // The maximum over the call's loops: a last, short loop must not hide the others.
  const int most = std::max(came.load(), context.threads_used.load(std::memory_order_relaxed));
  context.threads_used.store(most, std::memory_order_relaxed);
  context.checkpoint();
}

}  // namespace mercer
