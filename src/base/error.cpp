// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "base/error.h"

#include <cstdarg>
#include <cstdio>

namespace mercer {
namespace {

std::string vformat(const char* format, va_list arguments) {
  va_list copy;
  va_copy(copy, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, copy);
  va_end(copy);
  if (length < 0) return format;
  std::string text(length, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, arguments);
  return text;
}

}  // namespace

void fail(mercer_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = vformat(format, arguments);
  va_end(arguments);
  throw Error(status, std::move(text));
}

void require(bool ok, mercer_status status, const char* format, ...) {
  if (ok) return;
  va_list arguments;
  va_start(arguments, format);
  std::string text = vformat(format, arguments);
  va_end(arguments);
  throw Error(status, std::move(text));
}

}  // namespace mercer
