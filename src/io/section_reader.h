// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sections of a container by name, as text or doubles, with errors that name the input.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/container.h"

namespace mercer::io {

// Doubles are written as they lie in memory; compile_settings.cmake refuses big-endian machines.
static_assert(sizeof(double) == 8);

inline std::span<const std::byte> bytes_of(std::span<const double> numbers) {
  return std::as_bytes(numbers);
}
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

class SectionReader {
 public:
  /// Reads the container and requires these sections.
  SectionReader(Input& input, std::string_view kind, std::initializer_list<const char*> names);
  SectionReader(std::string input, Container container, std::initializer_list<const char*> names);
  /// The sections are required later.
  SectionReader(std::string input, Container container)
      : input_(std::move(input)), container_(std::move(container)) {}

  /// Name of the input, for messages.
  const std::string& input() const noexcept { return input_; }
  const Container& container() const noexcept { return container_; }
  /// CORRUPT_FILE unless the sections that are not optional are these, in this order.
  void require_sections(std::span<const char* const> names) const;
  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  std::string_view text(std::string_view name) const;
  /// The number of doubles in a section; CORRUPT_FILE, to which parsed_from adds the file's name,
  /// if its length is no multiple of 8.
  int64_t count(std::string_view name) const;
  std::span<const std::byte> bytes(std::string_view name) const;
  /// The doubles, bit for bit; errors of count.
  std::vector<double> doubles(std::string_view name) const;

 private:
  const Section* find(std::string_view name) const noexcept;
  std::string input_;
  Container container_;
};

/// Calls parse() and turns INVALID_ARGUMENT, DIMENSION_MISMATCH, UNSUPPORTED and
/// NOT_POSITIVE_DEFINITE into CORRUPT_FILE, since what is a mistake in an argument, or in a matrix
/// of a spec, is a corrupt file here. Their messages, and those of
/// CORRUPT_FILE and VERSION, get the input's name in front; calls are not nested, so it stands
/// there once.
template <class Parse>
auto parsed_from(const std::string& input, Parse&& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    mercer_status status = error.status();
    const bool argument = status == MERCER_INVALID_ARGUMENT ||
                          status == MERCER_DIMENSION_MISMATCH || status == MERCER_UNSUPPORTED ||
                          status == MERCER_NOT_POSITIVE_DEFINITE;
    if (argument) status = MERCER_CORRUPT_FILE;
    if (status != MERCER_CORRUPT_FILE && status != MERCER_NEWER_VERSION) throw;
    throw Error(status, input + ": " + error.what());
  }
}

}  // namespace mercer::io
