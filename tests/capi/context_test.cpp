// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Contexts: one call at a time, progress, cancellation from the callback and from another thread,
// memory cap, error text.
#include <atomic>
#include <thread>

#include "fixture.h"

using namespace mercer::test;

namespace {

constexpr int64_t n = 20000, d = 2, D = 64;

/// A call long enough to report progress several times.
mercer_status long_call(mercer_context* context) {
  static const auto map = fourier(d, D);
  mercer_map_prepare(map.get(), MERCER_NUMBER_F32, nullptr);  // a phase of its own on first use
  static const auto X = numbers<float>(n, d);
  std::vector<float> Z(static_cast<size_t>(n * D));
  return mercer_map_transform(map.get(), rows_of(X, d), nullptr, context, result_of(Z, D));
}

std::string error_text(const mercer_context* context) {
  int64_t needed = 0;
  if (mercer_context_error(context, nullptr, 0, &needed) != MERCER_OK) return "?";
  std::string text(static_cast<size_t>(needed), '\0');
  if (mercer_context_error(context, text.data(), needed, nullptr) != MERCER_OK) return "?";
  text.pop_back();
  return text;
}

TEST_CASE("context options are checked", "[capi]") {
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

TEST_CASE("progress grows to its total, on the calling thread", "[capi]") {
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

TEST_CASE("a progress callback that says no cancels the call and only it", "[capi]") {
  Seen seen;
  seen.thread = std::this_thread::get_id();
  seen.stop_after = 1;
  const auto watched = context(2, 0, watch, &seen);
  CHECK(fault(long_call(watched.get()), MERCER_CANCELLED, "mercer_map_transform", "cancelled") ==
        "");
  CHECK(error_text(watched.get()) == mercer_last_error());
  CHECK(long_call(watched.get()) == MERCER_OK);
}

TEST_CASE("a request to stop made while no call runs stops the next one", "[capi]") {
  const auto idle = context();
  REQUIRE(mercer_context_cancel(idle.get(), 1) == MERCER_OK);
  CHECK(fault(long_call(idle.get()), MERCER_CANCELLED, "before") == "");
  CHECK(long_call(idle.get()) == MERCER_OK);
}

TEST_CASE("a request to stop can be withdrawn before a call answers it", "[capi]") {
  const auto idle = context();
  REQUIRE(mercer_context_cancel(idle.get(), 1) == MERCER_OK);
  REQUIRE(mercer_context_cancel(idle.get(), 0) == MERCER_OK);
  CHECK(long_call(idle.get()) == MERCER_OK);
  CHECK(fault(mercer_context_cancel(idle.get(), 2), MERCER_INVALID_ARGUMENT, "cancel = 2") == "");
}

int32_t stop_at_the_end(void*, int64_t done, int64_t total) { return done == total ? 1 : 0; }

TEST_CASE("a call that has finished is not cancelled, nor is the next one", "[capi]") {
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

TEST_CASE("a second call on a busy context is refused and leaves the first alone", "[capi]") {
  HeldCall first;
  CHECK(fault(long_call(first.handle()), MERCER_INVALID_ARGUMENT, "another call") == "");
  CHECK(first.let_go() == MERCER_OK);
  CHECK(long_call(first.handle()) == MERCER_OK);
}

TEST_CASE("another thread cancels a running call", "[capi]") {
  HeldCall running;
  CHECK(mercer_context_cancel(running.handle(), 1) == MERCER_OK);
  CHECK(running.let_go() == MERCER_CANCELLED);
  CHECK(error_text(running.handle()).find("cancelled") != std::string::npos);
}

TEST_CASE("a memory cap that cannot be met fails up front with the amount", "[capi]") {
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

TEST_CASE("a context keeps the text of its own last failure", "[capi]") {
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

}  // namespace
