// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A container being read as an object: sections by name, as text or doubles, and errors that name
// the input.
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
  /// read_container; then require_sections.
  SectionReader(Input& input, std::string_view kind, std::initializer_list<const char*> names);
  SectionReader(std::string input, Container container, std::initializer_list<const char*> names);
  /// Sections to be required later.
  SectionReader(std::string input, Container container)
      : input_(std::move(input)), container_(std::move(container)) {}

  /// Name of the input, for messages.
  const std::string& input() const noexcept { return input_; }
  const Container& container() const noexcept { return container_; }
  /// CORRUPT_FILE unless the sections that are not optional are these, in this order.
  void require_sections(std::span<const char* const> names) const;
  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  std::string_view text(std::string_view name) const;
  /// Doubles in a section; CORRUPT_FILE, for parsed_from to name the file, if its length is no
  /// multiple of 8.
  int64_t count(std::string_view name) const;
  std::span<const std::byte> bytes(std::string_view name) const;
  /// Bit for bit; errors of count.
  std::vector<double> doubles(std::string_view name) const;

 private:
  const Section* find(std::string_view name) const noexcept;
  std::string input_;
  Container container_;
};

/// Calls parse(). What would be the caller's mistake in an argument is a corrupt file here:
/// INVALID_ARGUMENT, DIMENSION_MISMATCH and UNSUPPORTED become CORRUPT_FILE; the message of these,
/// CORRUPT_FILE and VERSION begins with the input's name: once, so calls are not nested.
template <class Parse>
auto parsed_from(const std::string& input, Parse&& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    mercer_status status = error.status();
    const bool argument = status == MERCER_INVALID_ARGUMENT ||
                          status == MERCER_DIMENSION_MISMATCH || status == MERCER_UNSUPPORTED;
    if (argument) status = MERCER_CORRUPT_FILE;
    if (status != MERCER_CORRUPT_FILE && status != MERCER_NEWER_VERSION) throw;
    throw Error(status, input + ": " + error.what());
  }
}

}  // namespace mercer::io
