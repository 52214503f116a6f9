// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// mercer/base.h: status names, version, error texts, contexts.
#include "mercer/base.h"

#include <memory>
#include <string>

#include "arguments.h"
#include "guard.h"
#include "handles.h"

using namespace mercer;
using namespace mercer::capi;

namespace {

constexpr uint32_t kContextFirstSize = 32;

#define MERCER_TEXT(number) #number
#define MERCER_VERSION_TEXT(major, minor, patch) \
  MERCER_TEXT(major) "." MERCER_TEXT(minor) "." MERCER_TEXT(patch)

}  // namespace

const char* mercer_status_name(mercer_status status) {
  switch (status) {
    case MERCER_OK:
      return "MERCER_OK";
    case MERCER_INVALID_ARGUMENT:
      return "MERCER_INVALID_ARGUMENT";
    case MERCER_DIMENSION_MISMATCH:
      return "MERCER_DIMENSION_MISMATCH";
    case MERCER_OUT_OF_MEMORY:
      return "MERCER_OUT_OF_MEMORY";
    case MERCER_UNSUPPORTED:
      return "MERCER_UNSUPPORTED";
    case MERCER_NOT_REGISTERED:
      return "MERCER_NOT_REGISTERED";
    case MERCER_NOT_POSITIVE_DEFINITE:
      return "MERCER_NOT_POSITIVE_DEFINITE";
    case MERCER_NOT_CONVERGED:
      return "MERCER_NOT_CONVERGED";
    case MERCER_IO:
      return "MERCER_IO";
    case MERCER_CORRUPT_FILE:
      return "MERCER_CORRUPT_FILE";
    case MERCER_NEWER_VERSION:
      return "MERCER_NEWER_VERSION";
    case MERCER_CANCELLED:
      return "MERCER_CANCELLED";
    case MERCER_CALLBACK:
      return "MERCER_CALLBACK";
    case MERCER_INTERNAL:
      return "MERCER_INTERNAL";
  }
  return "unknown status";
}

const char* mercer_version(void) {
  return MERCER_VERSION_TEXT(MERCER_VERSION_MAJOR, MERCER_VERSION_MINOR, MERCER_VERSION_PATCH);
}

const char* mercer_last_error(void) { return last_error().text; }

mercer_status mercer_context_create(const mercer_context_options* options, mercer_context** out) {
  clear_out(out);
  return guard("mercer_context_create", [&] {
    check_out(out);
    const auto read = read_options("options", options, mercer_context_options{}, kContextFirstSize);
    check_at_least("options->threads", read.threads, 0);
    check_at_least("options->memory_cap", read.memory_cap, 0);
    auto context = std::make_unique<mercer_context>();
    context->impl.threads = read.threads;
    context->impl.memory_cap = read.memory_cap;
    context->impl.progress = read.progress;
    context->impl.user = read.user;
    context->impl.trial = read.trial;
    *out = context.release();
  });
}

mercer_status mercer_context_cancel(mercer_context* context, int32_t cancel) {
  return guard("mercer_context_cancel", [&] {
    Context& running = checked("context", context).impl;
    check_range("cancel", cancel, 0, 1);
    cancel == 1 ? running.cancel() : running.clear_cancelled();
  });
}

mercer_status mercer_context_threads_used(const mercer_context* context, int32_t* threads) {
  return guard("mercer_context_threads_used", [&] {
    check_place("threads", threads);
    *threads = checked("context", context).impl.threads_used.load(std::memory_order_relaxed);
  });
}

mercer_status mercer_context_error(const mercer_context* context, const char* what, char* buffer,
                                   int64_t capacity, int64_t* needed) {
  const ErrorText kept = last_error();
  const mercer_status status = guard("mercer_context_error", [&] {
    check_not_null("what", what, "text or fields");
    const std::string_view asked = what;
    require(asked == "text" || asked == "fields", MERCER_INVALID_ARGUMENT,
            "what = \"%s\", expected text or fields", what);
    ErrorText told = kept;
    if (context != nullptr) {
      const std::lock_guard lock(context->error_mutex);
      told = context->error;
    }
    copy_text(asked == "text"          ? told.text
              : told.fields[0] == '\0' ? "{}"
                                       : told.fields,
              buffer, capacity, needed);
  });
  if (status != MERCER_OK && context == nullptr)
    last_error() = kept;  // so that the caller can ask again with more room
  return status;
}

void mercer_context_free(mercer_context* context) { delete context; }
