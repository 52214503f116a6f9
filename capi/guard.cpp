// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Where error texts are kept, and how a context is claimed for one call at a time.
#include "guard.h"

#include <cstdio>
#include <cstring>
#include <string>

#include "arguments.h"
#include "handles.h"

namespace mercer::capi {

void ErrorText::set(const char* function, const char* message, const ErrorFields* known) noexcept {
  std::snprintf(text, sizeof text, "%s: %s", function, message);
  std::snprintf(fields, sizeof fields, "{\"function\":\"%s\"}", function);
  try {
    ErrorFields only;
    only.problem = message;
    const std::string json = json_text(function, known != nullptr ? *known : only);
    if (json.size() < sizeof fields) std::memcpy(fields, json.c_str(), json.size() + 1);
  } catch (const std::bad_alloc&) {  // the text says what happened
  }
}

ErrorText& last_error() noexcept {
  // Plain bytes with constant initialisation: no constructor, no destructor, nothing that dlclose
  // could miss.
  static thread_local constinit ErrorText text;
  return text;
}

mercer_status report(mercer_status status, const char* function, const char* message,
                     mercer_context* context, const ErrorFields* fields) noexcept {
  last_error().set(function, message, fields);
  if (context != nullptr) {
    const std::lock_guard lock(context->error_mutex);
    context->error = last_error();
  }
  return status;
}

void check_out(const void* out) {
  check_not_null("out", out, "a place for a handle");
  check_aligned("out", out, sizeof(void*));
}

ContextLease::ContextLease(mercer_context* context) : context_(context) {
  if (context_ == nullptr) return;
  require(!context_->busy.exchange(true, std::memory_order_acquire), MERCER_INVALID_ARGUMENT,
          "context is used by another call, expected one call at a time");
  context_->impl.threads_used.store(0, std::memory_order_relaxed);
  context_->impl.forget_charges();
  if (context_->impl.cancelled()) {
    context_->impl.clear_cancelled();
    context_->busy.store(false, std::memory_order_release);
    fail(MERCER_CANCELLED, "cancelled before the call began");
  }
}

ContextLease::~ContextLease() {
  if (context_ == nullptr) return;
  // A request that came too late to stop this call was meant for it, not for the next one.
  context_->impl.clear_cancelled();
  context_->busy.store(false, std::memory_order_release);
}

Context& ContextLease::get() noexcept { return context_ == nullptr ? fallback_ : context_->impl; }

}  // namespace mercer::capi
