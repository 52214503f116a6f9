// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The format of maps, models and statistics, in files and in memory: magic, version, kind, named
// sections, little-endian, checksummed. The layout is in container.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/input.h"
#include "io/output.h"

namespace mercer::io {

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

}  // namespace mercer::io
