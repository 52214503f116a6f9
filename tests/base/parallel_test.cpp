// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// parallel_for and its progress: every chunk once, workers within their count, nested stages,
// cancellation.
#include "base/parallel.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "support/catch.h"

namespace parallel_test {
using namespace mercer;

TEST_CASE("every chunk runs once, whatever the number of threads") {
  for (const int threads : {1, 2, 7}) {
    for (const int64_t chunks : {0, 1, 2, 7, 100}) {
      INFO(threads << " threads, " << chunks << " chunks");
      Context context;
      context.threads = threads;
      const int workers = worker_count(context, chunks);
      std::vector<std::atomic<int>> runs(chunks);
      std::atomic<bool> worker_in_range{true};
      parallel_for(context, chunks, [&](int64_t chunk, int worker) noexcept {
        ++runs[chunk];
        if (worker < 0 || worker >= workers) worker_in_range = false;
      });
      int64_t wrong = 0;
      for (const std::atomic<int>& count : runs) wrong += count != 1;
      CHECK(wrong == 0);
      CHECK(worker_in_range);
      CHECK(workers <= threads);
      CHECK(context.threads_used <= threads);
    }
  }
}

TEST_CASE("no two workers of one loop share a number at a time") {
  Context context;
  context.threads = 7;
  std::vector<std::atomic<int>> busy(7);
  std::atomic<int> clashes{0};
  parallel_for(context, 500, [&](int64_t, int worker) noexcept {
    if (busy[worker].fetch_add(1) != 0) ++clashes;
    std::this_thread::yield();
    --busy[worker];
  });
  CHECK(clashes == 0);
}

struct Progress {
  std::vector<int64_t> done, totals;
  int64_t stop_at = -1;
};

int32_t record(void* user, int64_t done, int64_t total) {
  auto& progress = *static_cast<Progress*>(user);
  progress.done.push_back(done);
  progress.totals.push_back(total);
  return progress.stop_at >= 0 && done >= progress.stop_at ? 1 : 0;
}

/// What calls of `context` say from now on.
void record_in(Progress& progress, Context& context) {
  context.progress = record;
  context.user = &progress;
}

TEST_CASE("progress never falls and ends at the total") {
  Progress progress;
  Context context;
  context.threads = 2;
  record_in(progress, context);
  parallel_for(
      context, 50, [](int64_t, int) noexcept {}, 3);
  CHECK(std::is_sorted(progress.done.begin(), progress.done.end()));
  CHECK(progress.done.back() == 150);
  CHECK(std::count(progress.totals.begin(), progress.totals.end(), 150) ==
        static_cast<int64_t>(progress.totals.size()));
}

TEST_CASE("only the outermost stage counts") {
  Progress progress;
  Context context;
  record_in(progress, context);
  {
    Stage whole(context, 10);
    parallel_for(context, 20, [](int64_t, int) noexcept {});
    whole.advance(4);
    Stage part(context, 1000);
    part.advance(1000);
    whole.advance(6);
  }
  CHECK(progress.totals == std::vector<int64_t>(progress.totals.size(), 10));
  CHECK(progress.done.back() == 10);
}

TEST_CASE("a stage within counts for the share set aside for it, and never runs back") {
  Progress progress;
  Context context;
  context.threads = 1;
  record_in(progress, context);
  {
    Stage whole(context, 100);
    whole.share(60);
    {
      Stage part(context, 6);
      part.share(3);
      parallel_for(context, 30, [](int64_t, int) noexcept {});  // half of the 60
      CHECK(progress.done.back() == 30);
      part.advance(3);
      CHECK(progress.done.back() == 30);
      part.advance(1);
      CHECK(progress.done.back() == 40);
    }
    parallel_for(context, 30, [](int64_t, int) noexcept {});  // the same share once more
    whole.advance(60);
    CHECK(progress.done.back() == 60);
    parallel_for(context, 30, [](int64_t, int) noexcept {});  // nothing is set aside now
    CHECK(progress.done.back() == 60);
    whole.advance(40);
  }
  CHECK(progress.done.back() == 100);
  CHECK(std::is_sorted(progress.done.begin(), progress.done.end()));
  CHECK(progress.totals == std::vector<int64_t>(progress.totals.size(), 100));
}

TEST_CASE("parts and reached fractions of a stage count within its share, at most all of it") {
  Progress progress;
  Context context;
  record_in(progress, context);
  {
    Stage whole(context, 100);
    CHECK(whole.part(10, [] { return 7; }) == 7);
    CHECK(progress.done.back() == 10);
    whole.part(50, [&] {
      Stage steps(context, 8);
      steps.reach(0.5);
      CHECK(progress.done.back() == 35);
      steps.reach(0.1);  // an iteration that was worse than one before
      steps.reach(std::nan(""));
      CHECK(progress.done.back() == 35);
      parallel_for(context, 9, [](int64_t, int) noexcept {});  // what a step is made of
      CHECK(progress.done.back() == 35);
      steps.reach(2);
      steps.share(8);
      parallel_for(context, 9, [](int64_t, int) noexcept {});  // more than there is
      CHECK(progress.done.back() == 60);
    });
    CHECK(progress.done.back() == 60);
    whole.advance(40);
  }
  CHECK(progress.done.back() == 100);
  CHECK(std::is_sorted(progress.done.begin(), progress.done.end()));
}

TEST_CASE("progress is told by thousandths, and by time where nothing moves") {
  Progress progress;
  Context context;
  record_in(progress, context);
  Stage whole(context, 1000000);
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < 1000000; ++k) whole.advance(1);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(progress.done.size() >= 1000);
  CHECK(static_cast<double>(progress.done.size()) <= 1002 + 100 * seconds.count());
  CHECK(progress.done.back() == 1000000);
  const size_t told = progress.done.size();
  std::this_thread::sleep_for(std::chrono::milliseconds(15));
  context.poll();
  context.poll();
  CHECK(progress.done.size() <= told + 2);
  CHECK(progress.done.size() > told);
}

TEST_CASE("a stage of no units reports nothing, nor does what runs in it") {
  Progress progress;
  Context context;
  record_in(progress, context);
  {
    const Stage unreported(context, 0);
    parallel_for(context, 20, [](int64_t, int) noexcept {});
  }
  CHECK(progress.done.empty());
}

TEST_CASE("a callback that says no ends the loop with CANCELLED") {
  Progress progress;
  progress.stop_at = 3;
  Context context;
  context.threads = 1;
  context.progress = record;
  context.user = &progress;
  int64_t runs = 0;
  mercer_status status = MERCER_OK;
  try {
    parallel_for(context, 1000, [&](int64_t, int) noexcept { ++runs; });
  } catch (const Error& error) {
    status = error.status();
  }
  CHECK(status == MERCER_CANCELLED);
  CHECK(runs == 3);
}

TEST_CASE("a cancelled context runs nothing until it is cleared") {
  Context context;
  context.cancel();
  int64_t runs = 0;
  const auto count = [&](int64_t, int) noexcept { ++runs; };
  context.threads = 1;
  CHECK_THROWS_AS(parallel_for(context, 10, count), Error);
  CHECK(runs == 0);
  context.clear_cancelled();
  parallel_for(context, 10, count);
  CHECK(runs == 10);
}

TEST_CASE("parallel_for: repeated calls keep no memory") {
  const auto resident_pages = [] {
    std::ifstream file("/proc/self/statm");
    int64_t total = 0, resident = 0;
    file >> total >> resident;
    return resident;
  };
  const auto calls = [](int count) {
    for (int call = 0; call < count; ++call) {
      Context context;
      context.threads = 2;
      parallel_for(context, 4, [](int64_t, int) noexcept {});
    }
  };
  calls(500);
  const int64_t before = resident_pages();
  calls(3000);
  // A page for every call was once kept; elsewhere than on Linux both are 0.
  CHECK(resident_pages() - before < 1000);
}

}  // namespace parallel_test
