// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The file format of maps, models and statistics: magic, version, kind, named sections, little-endian, checksummed. Written to
// a temporary file beside the target and renamed, so a file appears whole or not at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::io {

struct Section {
  std::string name;
  std::vector<std::byte> bytes;
};

inline constexpr uint32_t kFormatVersion = 1;

/// IO naming path and errno's text.
void write_container(const std::string& path, std::string_view kind, std::span<const Section> sections);

/// IO, CORRUPT_FILE (truncated, checksum, impossible sizes; checked against the file's length before allocation),
/// VERSION (newer format), INVALID_ARGUMENT (another kind than expected; empty `kind` accepts any).
struct Container {
  std::string kind;
  uint32_t version;
  std::vector<Section> sections;
};
Container read_container(const std::string& path, std::string_view kind);

}  // namespace mercer::io
