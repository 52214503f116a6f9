// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one exception of the core: a status of the C API and a message that names argument, value and
// expectation.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "mercer/base.h"

namespace mercer {

class Error : public std::exception {
 public:
  Error(mercer_status status, std::string message)
      : status_(status), message_(std::move(message)) {}
  mercer_status status() const noexcept { return status_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  mercer_status status_;
  std::string message_;
};

/// Throws Error with a printf-formatted message, such as "features = -3, expected a positive even
/// number". int64_t is printed with %ld: on every supported platform it is long.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(mercer_status status, const char* format, ...);

/// fail(status, ...) unless ok. Arguments are evaluated in either case, so keep them cheap.
[[gnu::format(printf, 3, 4)]] void require(bool ok, mercer_status status, const char* format, ...);

}  // namespace mercer
