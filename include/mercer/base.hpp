// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/base.h for C++17: exceptions, option structs, contexts.
//
// Example: two threads and a progress report; a failed call throws.
//
//   mercer::Context context(2, 0, [](int64_t done, int64_t total) { return done <= total; });
//   try {
//     map.prepare(MERCER_NUMBER_F32, &context);
//   } catch (const mercer::Error& error) {
//     std::fprintf(stderr, "%s\n", error.what());  // error.fields(): the same as JSON
//   }
#ifndef MERCER_BASE_HPP
#define MERCER_BASE_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mercer/mercer.h"

namespace mercer {
// An inline namespace, so that no symbol of a program collides with one inside a static libmercer.
inline namespace hpp {

/// A failed call: its status; what() names function, argument, value and expectation, fields() is a
/// JSON object of these, as of mercer_context_error.
class Error : public std::runtime_error {
 public:
  Error(mercer_status status, const std::string& message, std::string fields = "{}")
      : std::runtime_error(message), status_(status), fields_(std::move(fields)) {}
  mercer_status status() const noexcept { return status_; }
  const std::string& fields() const noexcept { return fields_; }

 private:
  mercer_status status_;
  std::string fields_;
};

namespace detail {
/// Of a function that served a call of this thread.
inline std::exception_ptr& thrown_by_custom() noexcept {
  thread_local std::exception_ptr thrown;
  return thrown;
}
}  // namespace detail

inline void check(mercer_status status) {
  if (status == MERCER_OK) return;
  if (status == MERCER_CALLBACK && detail::thrown_by_custom())
    std::rethrow_exception(std::exchange(detail::thrown_by_custom(), nullptr));
  int64_t needed = 0;
  mercer_context_error(nullptr, "fields", nullptr, 0, &needed);
  std::string fields(static_cast<size_t>(needed > 0 ? needed : 1), '\0');
  mercer_context_error(nullptr, "fields", &fields[0], needed, nullptr);
  fields.pop_back();
  throw Error(status, mercer_last_error(), std::move(fields));
}

namespace detail {

/// Asks a string out-buffer for its size, then for its text.
template <class Read>
std::string text(Read read) {
  int64_t needed = 0;
  check(read(nullptr, 0, &needed));
  std::string result(static_cast<size_t>(needed), '\0');
  check(read(result.data(), needed, &needed));
  result.pop_back();
  return result;
}

/// The same for the bytes of an object.
template <class Read>
std::vector<std::byte> bytes(Read read) {
  int64_t needed = 0;
  check(read(nullptr, 0, &needed));
  std::vector<std::byte> result(static_cast<size_t>(needed));
  check(read(result.data(), needed, &needed));
  return result;
}

template <class Handle, void (*Free)(Handle*)>
struct Deleter {
  void operator()(Handle* handle) const noexcept { Free(handle); }
};
template <class Handle, void (*Free)(Handle*)>
using Owner = std::unique_ptr<Handle, Deleter<Handle, Free>>;

/// A struct of zeros that states its size.
template <class Struct>
Struct sized() {
  Struct zeros{};
  zeros.struct_size = sizeof zeros;
  return zeros;
}

template <class Handle>
mercer_shape shape(mercer_status (*ask)(const Handle*, mercer_shape*), const Handle* handle) {
  mercer_shape s = sized<mercer_shape>();
  check(ask(handle, &s));
  return s;
}

}  // namespace detail

/// Version of the loaded library: "major.minor.patch".
inline std::string version() { return mercer_version(); }

/// Default options.
inline mercer_transform_options transform_options() {
  return detail::sized<mercer_transform_options>();
}
inline mercer_score_options score_options(mercer_metric metric = MERCER_METRIC_DEFAULT) {
  auto options = detail::sized<mercer_score_options>();
  options.metric = metric;
  return options;
}

inline mercer_predict_options predict_options() { return detail::sized<mercer_predict_options>(); }

/// How a long call runs. progress(done, total) returns true to go on. An exception of progress
/// cancels the call, one of tell_trials' function lets it go on; the call rethrows both at its end.
class Context {
 public:
  using Progress = std::function<bool(int64_t done, int64_t total)>;
  using Trial = std::function<void(const std::string& json)>;

  explicit Context(int32_t threads = 0, int64_t memory_cap = 0, Progress progress = {})
      : state_(new State{std::move(progress)}) {
    auto options = detail::sized<mercer_context_options>();
    options.threads = threads;
    options.memory_cap = memory_cap;
    options.progress = state_->progress ? forward : nullptr;
    options.user = state_.get();
    options.trial = tell;
    mercer_context* handle = nullptr;
    hpp::check(mercer_context_create(&options, &handle));
    owner_.reset(handle);
  }
  /// A C callback's int says the opposite: 0 goes on.
  template <class F, class = std::enable_if_t<
                         std::is_same_v<std::invoke_result_t<F&, int64_t, int64_t>, int>>>
  Context(int32_t threads, int64_t memory_cap, F progress) = delete;
  void cancel() { hpp::check(mercer_context_cancel(get(), 1)); }
  /// Withdraws a request that no call has answered yet.
  void withdraw_cancel() { hpp::check(mercer_context_cancel(get(), 0)); }
  /// Calls trial for each trial of later searches, with one JSON object as in the report's
  /// "trials".
  void tell_trials(Trial trial) { state_->trial = std::move(trial); }
  int32_t threads_used() const {
    int32_t threads = 0;
    hpp::check(mercer_context_threads_used(get(), &threads));
    return threads;
  }
  mercer_context* get() const noexcept { return owner_.get(); }
  /// Like check, but first rethrows what the progress function threw.
  void check(mercer_status status) {
    if (state_->thrower.load() == std::this_thread::get_id()) {
      state_->thrower = std::thread::id();
      std::rethrow_exception(std::exchange(state_->thrown, nullptr));
    }
    hpp::check(status);
  }

 private:
  using Handle = detail::Owner<mercer_context, mercer_context_free>;
  struct State {
    Progress progress;
    Trial trial{};
    std::exception_ptr thrown{};
    // Callbacks run on the thread of their call: one that is refused meanwhile takes nothing.
    std::atomic<std::thread::id> thrower{};
    void keep() {
      thrown = std::current_exception();
      thrower = std::this_thread::get_id();
    }
  };
  static void tell(void* user, const char* json) {
    State& state = *static_cast<State*>(user);
    try {
      if (state.trial) state.trial(json);
    } catch (...) {
      state.keep();
    }
  }
  static int32_t forward(void* user, int64_t done, int64_t total) {
    State& state = *static_cast<State*>(user);
    try {
      return state.progress(done, total) ? 0 : 1;
    } catch (...) {
      state.keep();
      return 1;
    }
  }
  std::unique_ptr<State> state_;
  Handle owner_;
};

namespace detail {
inline mercer_context* handle(Context* context) {
  return context == nullptr ? nullptr : context->get();
}
inline void check(mercer_status status, Context* context) {
  context == nullptr ? hpp::check(status) : context->check(status);
}

/// Calls make(&handle) and owns the handle.
template <class Owned, class Make>
Owned create(Make make, Context* context = nullptr) {
  typename Owned::pointer handle = nullptr;
  const mercer_status status = make(&handle);
  Owned owned(handle);
  check(status, context);
  return owned;
}

constexpr size_t answer_bytes = size_t{1} << 20;
/// The text of a call that is too long to ask first for its size.
template <class Call>
std::string answered(Context* context, const Call& call, size_t capacity = answer_bytes) {
  std::string answer(capacity, '\0');
  int64_t needed = 0;
  check(call(&answer[0], static_cast<int64_t>(answer.size()), &needed), context);
  answer.resize(static_cast<size_t>(needed) - 1);
  return answer;
}
}  // namespace detail

}  // namespace hpp
}  // namespace mercer
#endif
