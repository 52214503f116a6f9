// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What loading and describing say about a damaged file.
#pragma once

#include <string>

#include "io/object_file.h"
#include "support/refusal.h"

namespace mercer::test {

/// "" if load(path) is CORRUPT_FILE with a text that starts with the path, has it once and holds
/// `part`, and describing the file gives the same text.
template <class Load>
std::string corruption_fault(const std::string& path, const Load& load, const char* part) {
  const Outcome described = outcome([&] { io::describe_file(path); }),
                loaded = outcome([&] { load(path); });
  if (described.message != loaded.message) return described.message + " | " + loaded.message;
  if (loaded.message.rfind(path) != 1) return "the path once, at the start: " + loaded.message;
  return refusal_fault(
      MERCER_CORRUPT_FILE, [&] { load(path); }, part);
}

}  // namespace mercer::test
