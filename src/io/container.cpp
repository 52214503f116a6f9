// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Layout of a file, every integer little-endian:
//   0  magic     89 'M' 'E' 'R' 'C' 'E' 'R' 0A (a byte above 7F and a newline, as PNG has, show
//                damage by text transfers)
//   8  version   u32, first because all that follows may depend on it
//  12  count     u32, number of sections, at most kMostSections
//  16  length    u64, of the whole file
//  24  kind      16 bytes, padded with zeros
//  40  table     count entries of 48 bytes: name (24 bytes, padded with zeros), offset u64,
//                length u64, CRC-64 u64
//   .  checksum  u64, CRC-64 of all bytes before it
//   .  sections  one after the other without gaps, in the order of the table, up to the end
// The version is read before the checksum is known: a flipped bit there reads as another version,
// which is refused too.
#include "io/container.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "io/crc64.h"

namespace mercer::io {
namespace {

constexpr std::array<unsigned char, 8> kFileMagic{0x89, 'M', 'E', 'R', 'C', 'E', 'R', '\n'};
constexpr std::size_t kKindBytes = 16;
constexpr std::size_t kSectionNameBytes = 24;
constexpr std::size_t kFixedBytes = 40;
constexpr std::size_t kEntryBytes = kSectionNameBytes + 24;
constexpr std::size_t kChecksumBytes = 8;
constexpr std::size_t kMostSections = 64;

std::size_t header_bytes(std::size_t count) {
  return kFixedBytes + count * kEntryBytes + kChecksumBytes;
}

template <class Integer>
void append_integer(std::vector<std::byte>& out, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

template <class Integer>
Integer integer_at(const std::byte* bytes) {
  Integer value = 0;
  for (std::size_t i = sizeof value; i-- > 0;)
    value = (value << 8) | static_cast<Integer>(bytes[i]);
  return value;
}

bool is_name(std::string_view name, std::size_t most) {
  if (name.empty() || name.size() > most) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

void append_name(std::vector<std::byte>& out, std::string_view name, std::size_t bytes) {
  require(is_name(name, bytes), MERCER_INTERNAL, "file: impossible name %.*s",
          static_cast<int>(name.size()), name.data());
  for (std::size_t i = 0; i < bytes; ++i) {
    out.push_back(i < name.size() ? static_cast<std::byte>(name[i]) : std::byte{0});
  }
}

/// The name in a padded field, empty if it is not valid.
std::string name_at(const std::byte* bytes, std::size_t most) {
  std::string name(most, '\0');
  std::memcpy(name.data(), bytes, most);
  const std::size_t end = std::min(name.find('\0'), most);
  const bool padded = name.find_first_not_of('\0', end) == std::string::npos;
  name.resize(end);
  return padded && is_name(name, most) ? name : std::string();
}

/// Reads and checks one container; every message begins with the input's name.
class FileReader {
 public:
  explicit FileReader(Input& input) : input_(input) {}

  Container read(std::string_view kind) {
    read_fixed();
    read_table();
    require(kind.empty() || container_.kind == kind, MERCER_INVALID_ARGUMENT,
            "%s: holds a %s, expected a %.*s", input_.name().c_str(), container_.kind.c_str(),
            static_cast<int>(kind.size()), kind.data());
    for (std::size_t i = 0; i < sections_; ++i) read_section(i);
    return std::move(container_);
  }

 private:
  [[gnu::format(printf, 3, 4)]] void check(bool ok, const char* format, ...) const {
    if (ok) return;
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail(MERCER_CORRUPT_FILE, "%s: %s", input_.name().c_str(), text);
  }

  void read_fixed() {
    const auto length = static_cast<std::size_t>(input_.length());
    check(length >= header_bytes(0),
          "%zu bytes, expected at least %zu: not a mercer file, or truncated", length,
          header_bytes(0));
    header_.resize(kFixedBytes);
    input_.read(header_);
    check(std::memcmp(header_.data(), kFileMagic.data(), kFileMagic.size()) == 0,
          "does not begin as a mercer file does");
    const auto version = integer_at<uint32_t>(&header_[8]);
    require(version <= kFormatVersion, MERCER_NEWER_VERSION,
            "%s: format version %u, expected at most %u: written by a newer library",
            input_.name().c_str(), version, kFormatVersion);
    check(version == kFormatVersion, "format version %u, expected %u", version, kFormatVersion);
    sections_ = integer_at<uint32_t>(&header_[12]);
    const auto stated = integer_at<uint64_t>(&header_[16]);
    check(stated == length, "%zu bytes, expected %lu: truncated or lengthened", length, stated);
    check(sections_ <= kMostSections && header_bytes(sections_) <= length,
          "%zu sections do not fit into it", sections_);
    container_.version = version;
    container_.file_bytes = input_.length();
  }

  void read_table() {
    const std::size_t size = header_bytes(sections_);
    header_.resize(size);
    input_.read(std::span(header_).subspan(kFixedBytes));
    const std::span<const std::byte> covered = std::span(header_).first(size - kChecksumBytes);
    check(crc64(covered) == integer_at<uint64_t>(&header_[size - kChecksumBytes]),
          "checksum of the header differs");
    container_.kind = name_at(&header_[24], kKindBytes);
    check(!container_.kind.empty(), "impossible kind");
    std::size_t offset = size;
    const auto length = static_cast<std::size_t>(input_.length());
    for (std::size_t i = 0; i < sections_; ++i) {
      const std::byte* entry = &header_[kFixedBytes + i * kEntryBytes];
      const std::string name = name_at(entry, kSectionNameBytes);
      const auto bytes = integer_at<uint64_t>(entry + kSectionNameBytes + 8);
      check(!name.empty() && unique(name), "section %zu has an impossible name", i);
      check(integer_at<uint64_t>(entry + kSectionNameBytes) == offset && bytes <= length - offset,
            "section %s does not lie inside it", name.c_str());
      offset += bytes;
      container_.sections.push_back({name, {}});
    }
    check(offset == length, "bytes after the last section");
  }

  /// Called after read_table: the lengths add up to the file's own.
  void read_section(std::size_t i) {
    const std::byte* entry = &header_[kFixedBytes + i * kEntryBytes];
    Section& section = container_.sections[i];
    section.bytes.resize(integer_at<uint64_t>(entry + kSectionNameBytes + 8));
    input_.read(section.bytes);
    check(crc64(section.bytes) == integer_at<uint64_t>(entry + kSectionNameBytes + 16),
          "checksum of section %s differs", section.name.c_str());
  }

  bool unique(const std::string& name) const {
    return std::none_of(container_.sections.begin(), container_.sections.end(),
                        [&](const Section& other) { return other.name == name; });
  }

  Input& input_;
  std::vector<std::byte> header_;
  std::size_t sections_ = 0;
  Container container_;
};

}  // namespace

std::vector<std::byte> container_header(std::string_view kind,
                                        std::span<const SectionView> sections) {
  std::size_t offset = header_bytes(sections.size());
  std::size_t length = offset;
  for (const SectionView& section : sections) length += section.bytes.size();
  std::vector<std::byte> header;
  for (const unsigned char byte : kFileMagic) header.push_back(std::byte{byte});
  append_integer(header, kFormatVersion);
  append_integer(header, static_cast<uint32_t>(sections.size()));
  append_integer(header, static_cast<uint64_t>(length));
  append_name(header, kind, kKindBytes);
  for (const SectionView& section : sections) {
    append_name(header, section.name, kSectionNameBytes);
    append_integer(header, static_cast<uint64_t>(offset));
    append_integer(header, static_cast<uint64_t>(section.bytes.size()));
    append_integer(header, crc64(section.bytes));
    offset += section.bytes.size();
  }
  append_integer(header, crc64(header));
  return header;
}

int64_t container_length(std::span<const int64_t> section_bytes) {
  return std::accumulate(section_bytes.begin(), section_bytes.end(),
                         static_cast<int64_t>(header_bytes(section_bytes.size())));
}

void write_container(Output& output, std::string_view kind, std::span<const SectionView> sections) {
  std::vector<int64_t> bytes;
  for (const SectionView& section : sections) bytes.push_back(std::ssize(section.bytes));
  if (output.begin(container_length(bytes))) write_sections(output, kind, sections);
}

void write_sections(Output& output, std::string_view kind, std::span<const SectionView> sections) {
  require(sections.size() <= kMostSections, MERCER_INTERNAL, "file: %zu sections", sections.size());
  output.write(container_header(kind, sections));
  for (const SectionView& section : sections) output.write(section.bytes);
  output.commit();
}

Container read_container(Input& input, std::string_view kind) {
  return FileReader(input).read(kind);
}

}  // namespace mercer::io
