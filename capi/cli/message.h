// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What the command says of a failed call of the library.
#pragma once

#include <string>

#include "mercer/base.hpp"

namespace mercer::cli {

/// The text without the name of the C function; "interrupted" for a cancelled call.
inline std::string message_of(const Error& error) {
  if (error.status() == MERCER_CANCELLED) return "interrupted";
  std::string text = error.what();
  const size_t colon = text.find(": ");
  if (text.rfind("mercer_", 0) == 0 && colon != text.npos) text.erase(0, colon + 2);
  return text;
}

}  // namespace mercer::cli
