// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The file format: a checksummed sequence of named sections, and how sections and arrays of numbers
// are written and read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/parameters.h"
#include "io/input_output.h"

namespace mercer::io {

// CRC-64/XZ: polynomial x^64 + x^62 + ... (ECMA-182, 0x42F0E1EBA9EA3693), reflected, initial value
// and final xor all ones. Detects every burst of up to 64 bits, so every single-bit flip. Check
// value: crc64("123456789") = 0x995DC9BBDF1939FA.

uint64_t crc64(std::span<const std::byte> bytes) noexcept;

// The format of maps, models and statistics, in files and in memory: magic, version, kind, named
// sections, little-endian, checksummed. The layout is in container.cpp.

inline constexpr uint32_t kFormatVersion = 1;

/// A section to be written; nothing is copied. A name that begins with _ is optional: a reader that
/// does not know it skips it. All others must be known.
struct SectionView {
  std::string_view name;  // 1 to 24 of a-z and _
  std::span<const std::byte> bytes;
};

/// The length of a file whose sections have these lengths.
int64_t container_length(std::span<const int64_t> section_bytes);

/// Errors: those of the output. kind: 1 to 16 of a-z and _.
void write_container(Output& output, std::string_view kind, std::span<const SectionView> sections);

/// The same, after output.begin(container_length(...)) has said that the bytes are wanted: for
/// sections that are expensive to make.
void write_sections(Output& output, std::string_view kind, std::span<const SectionView> sections);

/// What stands before the sections.
std::vector<std::byte> container_header(std::string_view kind,
                                        std::span<const SectionView> sections);

inline bool is_optional(std::string_view section) { return section.starts_with('_'); }

/// A section read.
struct Section {
  std::string name;
  std::vector<std::byte> bytes;
};

struct Container {
  std::string kind;
  uint32_t version = kFormatVersion;
  int64_t file_bytes = 0;
  std::vector<Section> sections;
};

/// Errors: IO; CORRUPT_FILE (truncated, longer than it says, checksum, impossible sizes, which are
/// checked against the input's length before allocation); VERSION (newer format); INVALID_ARGUMENT
/// (another kind than `kind`; an empty one accepts any).
Container read_container(Input& input, std::string_view kind);

// Sections of a container by name, as text or doubles, with errors that name the input.

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
/// CORRUPT_FILE, VERSION and NOT_REGISTERED, get the input's name in front; calls are not nested,
/// so it stands there once.
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
    if (status != MERCER_CORRUPT_FILE && status != MERCER_NEWER_VERSION &&
        status != MERCER_NOT_REGISTERED)
      throw;
    throw Error(status, error.fields()).within(input);
  }
}

/// INVALID_ARGUMENT naming the section.
void require_count(const char* what, int64_t count, int64_t expected);

// Named, typed arrays of numbers in the section "numbers" of a map or model file.

/// No bytes for no arrays. Names: 1 to 24 of a-z and _.
std::vector<std::byte> encode(std::span<const NumberArray> arrays);

/// The arrays of a section. Files of earlier versions hold numbers without a table, which are one
/// array without a name. Errors: CORRUPT_FILE for what encode does not write.
std::vector<NumberArray> decode(std::span<const std::byte> section);

}  // namespace mercer::io
