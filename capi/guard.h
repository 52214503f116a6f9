// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one place where C++ exceptions become status codes. Every function of the C API that can fail
// is one call of guard.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "base/aligned.h"
#include "base/context.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "base/non_copyable.h"
#include "mercer/base.h"

namespace mercer::capi {

/// The record of a failure, in fixed buffers: storing an error must not fail, so that long texts
/// are cut, and fields without room are left out.
struct ErrorText {
  char text[1024] = "";
  char fields[4096] = "";
  void set(const char* function, const char* message, const ErrorFields* known) noexcept;
};

/// This thread's last failure.
ErrorText& last_error() noexcept;

/// Stores "function: message" for this thread and, if one is given, in the context. Returns status.
/// fields: NULL where nothing but the message is known.
mercer_status report(mercer_status status, const char* function, const char* message,
                     mercer_context* context, const ErrorFields* fields = nullptr) noexcept;

/// Runs body() and turns whatever it throws into a status and a text.
template <class Body>
mercer_status guard(const char* function, Body&& body, mercer_context* context = nullptr) noexcept {
  try {
    body();
    return MERCER_OK;
  } catch (const Error& error) {
    return report(error.status(), function, error.what(), context, &error.fields());
  } catch (const AllocationFailed& error) {
    return report(MERCER_OUT_OF_MEMORY, function, error.what(), context);
  } catch (const std::bad_alloc&) {
    return report(MERCER_OUT_OF_MEMORY, function, "an allocation failed", context);
  } catch (const std::exception& error) {
    return report(MERCER_INTERNAL, function, error.what(), context);
  } catch (...) {
    return report(MERCER_INTERNAL, function, "unknown exception", context);
  }
}

/// Holds a caller's context for one call, or a default one if there is none.
class ContextLease : NonCopyable {
 public:
  /// INVALID_ARGUMENT if another call holds the context, CANCELLED if a request to stop was
  /// waiting.
  explicit ContextLease(mercer_context* context);
  ~ContextLease();
  Context& get() noexcept;

 private:
  Context fallback_;
  mercer_context* context_;
};

/// Units of progress in any long call.
constexpr int64_t kProgressTotal = 1'000'000;

/// Runs body(Context&) of a long call under the caller's context, which may be NULL. Its progress
/// ends short of the total, so that the caller gets the last report when the call ends.
template <class Body>
mercer_status guard_long(const char* function, mercer_context* context, Body&& body) noexcept {
  return guard(
      function,
      [&] {
        ContextLease lease(context);
        Context& running = lease.get();
        Stage whole(running, kProgressTotal);
        whole.share(kProgressTotal - 1);
        body(running);
        whole.advance(kProgressTotal);
      },
      context);
}

/// INVALID_ARGUMENT unless `out` is a place for a handle.
void check_out(const void* out);

/// Sets *out to NULL if there is such a place.
template <class Handle>
void clear_out(Handle** out) noexcept {
  if (out != nullptr && reinterpret_cast<uintptr_t>(out) % alignof(Handle*) == 0) *out = nullptr;
}

/// Sets *out to NULL, then to a new handle of what make() returns (a Handle by value). What is made
/// does not depend on the caller's rounding mode.
template <class Handle, class Make>
mercer_status guard_create(const char* function, Handle** out, Make&& make) noexcept {
  clear_out(out);
  return guard(function, [&] {
    check_out(out);
    const StandardRounding rounding;
    *out = new Handle(make());
  });
}

/// As above for long calls: make(Context&).
template <class Handle, class Make>
mercer_status guard_create_long(const char* function, mercer_context* context, Handle** out,
                                Make&& make) noexcept {
  clear_out(out);
  std::unique_ptr<Handle> made;
  const mercer_status status = guard_long(function, context, [&](Context& running) {
    check_out(out);
    made.reset(new Handle(make(running)));  // Handle may be one that cannot move
  });
  if (status == MERCER_OK) *out = made.release();
  return status;
}

}  // namespace mercer::capi
