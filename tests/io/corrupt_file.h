// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What loading and describing say about a damaged file, and about parts that do not fit together.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "io/container.h"
#include "io/object_file.h"
#include "support/refusal.h"
#include "support/temporary_directory.h"

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

/// "" if load(path) of a whole file of that kind with those sections is CORRUPT_FILE, naming the
/// path and `part`.
template <class Load>
std::string misfit(std::string_view kind, std::span<const io::SectionView> sections,
                   const Load& load, const char* part) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("parts");
  {
    io::FileOutput file(path);
    io::write_container(file, kind, sections);
  }
  return refusal_fault(
      MERCER_CORRUPT_FILE, [&] { load(path); }, path, part);
}

}  // namespace mercer::test
