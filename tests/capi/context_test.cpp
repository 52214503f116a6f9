// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Contexts: options, cancellation and memory; what mercer_progress promises, of every function that
// takes one.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

#include "fixture.h"
#include "progress_calls.h"

namespace context_test {
using namespace mercer::test;

constexpr int64_t n = 20000, d = 2, D = 64;

/// A call long enough to report progress several times.
mercer_status long_call(mercer_context* context) {
  static const auto map = fourier(d, D);
  mercer_map_prepare(map.get(), MERCER_NUMBER_F32, nullptr);  // a phase of its own on first use
  static const auto X = numbers<float>(n, d);
  std::vector<float> Z(n * D);
  return mercer_map_transform(map.get(), rows_of(X, d), nullptr, context, result_of(Z, D));
}

std::string error_text(const mercer_context* context) {
  int64_t needed = 0;
  if (mercer_context_error(context, "text", nullptr, 0, &needed) != MERCER_OK) return "?";
  std::string text(needed, '\0');
  if (mercer_context_error(context, "text", text.data(), needed, nullptr) != MERCER_OK) return "?";
  text.pop_back();
  return text;
}

TEST_CASE("context options are checked") {
  mercer_context* out = reinterpret_cast<mercer_context*>(8);
  mercer_context_options options = {sizeof options, -1, 0, nullptr, nullptr, nullptr};
  CHECK(fault(mercer_context_create(&options, &out), MERCER_INVALID_ARGUMENT,
              "mercer_context_create", "options->threads = -1") == "");
  CHECK(out == nullptr);
  options.threads = 0;
  options.memory_cap = -5;
  CHECK(fault(mercer_context_create(&options, &out), MERCER_INVALID_ARGUMENT,
              "options->memory_cap = -5") == "");
  CHECK(fault(mercer_context_create(nullptr, nullptr), MERCER_INVALID_ARGUMENT, "out = NULL") ==
        "");
  CHECK(fault(mercer_context_cancel(nullptr, 1), MERCER_INVALID_ARGUMENT, "context = NULL") == "");
  CHECK(fault(mercer_context_threads_used(nullptr, nullptr), MERCER_INVALID_ARGUMENT,
              "threads = NULL") == "");
}

struct Seen {
  int64_t calls = 0, last = 0, total = 0;
  bool ordered = true;
  int64_t stop_after = -1;
  std::thread::id thread;
};

int32_t watch(void* user, int64_t done, int64_t total) {
  Seen& seen = *static_cast<Seen*>(user);
  seen.ordered = seen.ordered && done >= seen.last && done <= total &&
                 std::this_thread::get_id() == seen.thread;
  seen.last = done;
  seen.total = total;
  return ++seen.calls == seen.stop_after ? 1 : 0;
}

TEST_CASE("progress grows to its total, on the calling thread") {
  Seen seen;
  seen.thread = std::this_thread::get_id();
  const auto watched = context(2, 0, watch, &seen);
  REQUIRE(long_call(watched.get()) == MERCER_OK);
  CHECK(seen.calls > 0);
  CHECK(seen.ordered);
  CHECK(seen.last == seen.total);
  int32_t threads = 0;
  REQUIRE(mercer_context_threads_used(watched.get(), &threads) == MERCER_OK);
  CHECK((threads >= 1 && threads <= 2));
}

TEST_CASE("a progress callback that says no cancels the call and only it") {
  Seen seen;
  seen.thread = std::this_thread::get_id();
  seen.stop_after = 1;
  const auto watched = context(2, 0, watch, &seen);
  CHECK(fault(long_call(watched.get()), MERCER_CANCELLED, "mercer_map_transform", "cancelled") ==
        "");
  CHECK(error_text(watched.get()) == mercer_last_error());
  CHECK(long_call(watched.get()) == MERCER_OK);
}

TEST_CASE("a request to stop made while no call runs stops the next one") {
  const auto idle = context();
  REQUIRE(mercer_context_cancel(idle.get(), 1) == MERCER_OK);
  CHECK(fault(long_call(idle.get()), MERCER_CANCELLED, "before") == "");
  CHECK(long_call(idle.get()) == MERCER_OK);
}

TEST_CASE("a request to stop can be withdrawn before a call answers it") {
  const auto idle = context();
  REQUIRE(mercer_context_cancel(idle.get(), 1) == MERCER_OK);
  REQUIRE(mercer_context_cancel(idle.get(), 0) == MERCER_OK);
  CHECK(long_call(idle.get()) == MERCER_OK);
  CHECK(fault(mercer_context_cancel(idle.get(), 2), MERCER_INVALID_ARGUMENT, "cancel = 2") == "");
}

int32_t stop_at_the_end(void*, int64_t done, int64_t total) { return done == total ? 1 : 0; }

TEST_CASE("a call that has finished is not cancelled, nor is the next one") {
  const auto late = context(1, 0, stop_at_the_end);
  CHECK(long_call(late.get()) == MERCER_OK);
  CHECK(long_call(late.get()) == MERCER_OK);
}

/// Holds a call inside its progress callback until the test lets go.
struct Gate {
  std::atomic<bool> inside{false};
  std::atomic<bool> open{false};
};

int32_t wait_at_gate(void* user, int64_t, int64_t) {
  Gate& gate = *static_cast<Gate*>(user);
  gate.inside = true;
  while (!gate.open) std::this_thread::yield();
  return 0;
}

/// A call that runs, on a thread of its own, until it is let go.
class HeldCall {
 public:
  HeldCall() : runner_([this] { status_ = long_call(handle()); }) {
    while (!gate_.inside) std::this_thread::yield();
  }
  ~HeldCall() { let_go(); }
  mercer_context* handle() const { return context_.get(); }
  /// What it came to.
  int let_go() {
    gate_.open = true;
    if (runner_.joinable()) runner_.join();
    return status_;
  }

 private:
  Gate gate_;
  ContextHandle context_ = context(1, 0, wait_at_gate, &gate_);
  std::atomic<int> status_{-1};
  std::thread runner_;
};

TEST_CASE("a second call on a busy context is refused and leaves the first alone") {
  HeldCall first;
  CHECK(fault(long_call(first.handle()), MERCER_INVALID_ARGUMENT, "another call") == "");
  CHECK(first.let_go() == MERCER_OK);
  CHECK(long_call(first.handle()) == MERCER_OK);
}

TEST_CASE("another thread cancels a running call") {
  HeldCall running;
  CHECK(mercer_context_cancel(running.handle(), 1) == MERCER_OK);
  CHECK(running.let_go() == MERCER_CANCELLED);
  CHECK(error_text(running.handle()).find("cancelled") != std::string::npos);
}

TEST_CASE("a memory cap that cannot be met fails up front with the amount") {
  const auto map = fourier(2, 256);
  const auto X = numbers(600, 2);
  const auto small = context(0, 1000);
  mercer_model* out = nullptr;
  const auto fit = [&](mercer_context* context) {
    return mercer_model_fit("{}", data_of(rows_of(X, 2), rows_of(X.data(), 600, 1, 2), map.get()),
                            context, &out);
  };
  CHECK(fault(fit(small.get()), MERCER_OUT_OF_MEMORY, "mercer_model_fit", "memory_cap = 1000",
              "needs") == "");
  CHECK(out == nullptr);
  const auto large = context(0, int64_t{1} << 30);
  CHECK(fit(large.get()) == MERCER_OK);
  mercer_model_free(out);
}

TEST_CASE("a context keeps the text of its own last failure") {
  const auto kept = context();
  CHECK(error_text(kept.get()) == "");
  const auto X = numbers(4, 2);
  double l = 0;
  CHECK(mercer_lengthscale_median(rows_of(X.data(), 1, 2), 9, 0, kept.get(), &l) ==
        MERCER_INVALID_ARGUMENT);
  const std::string text = mercer_last_error();
  CHECK(mercer_lengthscale_median(rows_of(X.data(), 4, 2), 0, 0, nullptr, &l) ==
        MERCER_INVALID_ARGUMENT);
  CHECK(error_text(kept.get()) == text);
  CHECK(mercer_last_error() != text);
}

using Clock = std::chrono::steady_clock;

struct Told {
  struct At {
    double seconds;
    int64_t done, total;
  };
  Clock::time_point start = Clock::now();
  std::vector<At> all;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
  static int32_t listen(void* user, int64_t done, int64_t total) {
    Told& told = *static_cast<Told*>(user);
    told.all.push_back({told.seconds(), done, total});
    return 0;
  }
};

/// "" if the call was told as promised.
std::string fault_of(const Told& told) {
  if (told.all.empty()) return "nothing told";
  const int64_t total = told.all.front().total;
  int64_t before = 0;
  for (const Told::At& at : told.all) {
    if (at.total != total) return "another total: " + std::to_string(at.total);
    if (at.done < before) return "back to " + std::to_string(at.done);
    if (before == total) return "told after the end";
    before = at.done;
  }
  if (before != total) return "ends at " + std::to_string(before);
  // A thousand steps, and one for every 10 ms in which nothing moved.
  const auto most = static_cast<size_t>(1002 + 100 * told.seconds());
  return told.all.size() <= most ? "" : std::to_string(told.all.size()) + " calls";
}

/// Functions of the headers that are declared with a context in the midst of other arguments, which
/// leaves out those of contexts themselves.
std::set<std::string> functions_with_context() {
  std::set<std::string> found;
  const std::regex function(R"(MERCER_API\s+mercer_status\s+(\w+)\s*\(([^;]*)\))");
  for (const auto& header : std::filesystem::directory_iterator(MERCER_HEADERS)) {
    if (header.path().extension() != ".h") continue;
    std::ostringstream text;
    text << std::ifstream(header.path()).rdbuf();
    std::string code;
    bool inside = false;
    const std::string all = text.str();
    for (size_t i = 0; i < all.size(); ++i) {
      if (!inside && all.compare(i, 2, "/*") == 0) inside = true;
      if (!inside) code += all[i];
      if (inside && i > 0 && all.compare(i - 1, 2, "*/") == 0) inside = false;
    }
    for (std::sregex_iterator at(code.begin(), code.end(), function), end; at != end; ++at)
      if ((*at)[2].str().find("mercer_context* context") != std::string::npos &&
          (*at)[1].str().rfind("mercer_context_", 0) != 0)
        found.insert((*at)[1]);
  }
  return found;
}

TEST_CASE("progress is a fraction of the whole call, of every call") {
  for (const LongCall& call : long_calls(80, 64)) {
    INFO(call.function << " " << call.way);
    Told told;
    const auto running = context(1, 0, Told::listen, &told);
    CHECK(fault(call.run(running.get()), MERCER_OK) == "");
    CHECK(fault_of(told) == "");
  }
}

TEST_CASE("every function that takes a context is among them") {
  std::set<std::string> tried;
  for (const LongCall& call : long_calls(80, 64)) tried.insert(call.function);
  const std::set<std::string> all = functions_with_context();
  CHECK(all.size() >= 25);
  CHECK(tried == all);
}

}  // namespace context_test
