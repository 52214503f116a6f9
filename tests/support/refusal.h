// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Did a call throw the documented status, with fields that say what they should? One assertion per
// refusal.
#pragma once

#include <exception>

#include "base/error.h"
#include "support/catch.h"
#include "support/error_fields.h"

namespace mercer::test {

struct Outcome {
  mercer_status status = MERCER_OK;
  std::string message;
  std::string fields = {};  // as JSON
};

/// What calling `call` came to. Anything but Error and bad_alloc (OUT_OF_MEMORY) is
/// MERCER_INTERNAL.
template <class Call>
Outcome outcome(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.status(), error.what(), json_text("", error.fields())};
  } catch (const std::bad_alloc&) {
    return {MERCER_OUT_OF_MEMORY, "bad_alloc"};
  } catch (const std::exception& error) {
    return {MERCER_INTERNAL, error.what()};
  }
  return {};
}

/// "" if `call` failed with `status` and fields that say every one of `parts`, else what happened
/// instead.
template <class Call, class... Part>
std::string refusal_fault(mercer_status status, Call&& call, const Part&... parts) {
  const Outcome result = outcome(call);
  bool ok = result.status == status;
  ((ok = ok && says(result.fields, parts)), ...);
  return ok ? "" : "status " + std::to_string(result.status) + ": " + result.message;
}

}  // namespace mercer::test

/// Checks that a call is refused with `status` and fields that say every one of the parts that
/// follow: CHECK_REFUSED(MERCER_INVALID_ARGUMENT, make(0), "D = 0, expected a number").
#define CHECK_REFUSED(status, call, ...) \
  CHECK(::mercer::test::refusal_fault(status, [&] { call; } __VA_OPT__(, ) __VA_ARGS__) == "")
