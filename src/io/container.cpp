// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The file format. Checksums are CRC-64 (ECMA-182, reflected).
#include "io/container.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"

namespace mercer::io {
namespace {

// CRC-64/XZ eight bytes at a time: tables[k][b] is the CRC of byte b followed by k zero bytes
// (Kounavis, Berry 2005, "slicing-by-8"). The tables are made by the compiler.

constexpr uint64_t kReflectedPolynomial =
    0xC96C5795D7870F42;  // ECMA-182, lowest power in the highest bit

using Tables = std::array<std::array<uint64_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReflectedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const uint64_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

uint64_t little_endian(const std::byte* bytes) noexcept {
  uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = (word << 8) | static_cast<uint64_t>(bytes[i]);
  return word;
}

}  // namespace

uint64_t crc64(std::span<const std::byte> bytes) noexcept {
  uint64_t crc = ~uint64_t{0};
  std::size_t i = 0;
  for (; bytes.size() - i >= 8; i += 8) {
    const uint64_t word = crc ^ little_endian(bytes.data() + i);
    crc = 0;
    for (int k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xFF];
  }
  for (; i < bytes.size(); ++i) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint64_t>(bytes[i])) & 0xFF];
  }
  return ~crc;
}

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

/// Reads and checks one container.
class FileReader {
 public:
  explicit FileReader(Input& input) : input_(input) {}

  Container read(std::string_view kind) {
    read_fixed();
    read_table();
    require(kind.empty() || container_.kind == kind, MERCER_INVALID_ARGUMENT,
            "holds a %s, expected a %.*s", container_.kind.c_str(), static_cast<int>(kind.size()),
            kind.data());
    for (std::size_t i = 0; i < sections_; ++i) read_section(i);
    return std::move(container_);
  }

 private:
  void read_fixed() {
    const auto length = static_cast<std::size_t>(input_.length());
    require(length >= header_bytes(0), MERCER_CORRUPT_FILE,
            "%zu bytes are too few, expected a mercer file", length);
    header_.resize(kFixedBytes);
    input_.read(header_);
    require(std::memcmp(header_.data(), kFileMagic.data(), kFileMagic.size()) == 0,
            MERCER_CORRUPT_FILE, "begins with other bytes, expected a mercer file");
    const auto version = integer_at<uint32_t>(&header_[8]);
    require(version <= kFormatVersion, MERCER_NEWER_VERSION,
            "format version %u, expected at most %u: written by a newer library", version,
            kFormatVersion);
    require(version == kFormatVersion, MERCER_CORRUPT_FILE, "format version %u, expected %u",
            version, kFormatVersion);
    sections_ = integer_at<uint32_t>(&header_[12]);
    const auto stated = integer_at<uint64_t>(&header_[16]);
    require(stated == length, MERCER_CORRUPT_FILE,
            "%zu bytes, expected %lu: truncated or lengthened", length, stated);
    require(sections_ <= kMostSections && header_bytes(sections_) <= length, MERCER_CORRUPT_FILE,
            "%zu sections do not fit into it", sections_);
    container_.version = version;
    container_.file_bytes = input_.length();
  }

  void read_table() {
    const std::size_t size = header_bytes(sections_);
    header_.resize(size);
    input_.read(std::span(header_).subspan(kFixedBytes));
    const std::span<const std::byte> covered = std::span(header_).first(size - kChecksumBytes);
    require(crc64(covered) == integer_at<uint64_t>(&header_[size - kChecksumBytes]),
            MERCER_CORRUPT_FILE, "checksum of the header differs");
    container_.kind = name_at(&header_[24], kKindBytes);
    require(!container_.kind.empty(), MERCER_CORRUPT_FILE, "impossible kind");
    std::size_t offset = size;
    const auto length = static_cast<std::size_t>(input_.length());
    for (std::size_t i = 0; i < sections_; ++i) {
      const std::byte* entry = &header_[kFixedBytes + i * kEntryBytes];
      const std::string name = name_at(entry, kSectionNameBytes);
      const auto bytes = integer_at<uint64_t>(entry + kSectionNameBytes + 8);
      require(!name.empty() && unique(name), MERCER_CORRUPT_FILE,
              "section %zu has an impossible name", i);
      require(integer_at<uint64_t>(entry + kSectionNameBytes) == offset && bytes <= length - offset,
              MERCER_CORRUPT_FILE, "section %s does not lie inside it", name.c_str());
      offset += bytes;
      container_.sections.push_back({name, {}});
    }
    require(offset == length, MERCER_CORRUPT_FILE, "bytes after the last section");
  }

  /// Called after read_table: the lengths add up to the file's own.
  void read_section(std::size_t i) {
    const std::byte* entry = &header_[kFixedBytes + i * kEntryBytes];
    Section& section = container_.sections[i];
    section.bytes.resize(integer_at<uint64_t>(entry + kSectionNameBytes + 8));
    input_.read(section.bytes);
    require(crc64(section.bytes) == integer_at<uint64_t>(entry + kSectionNameBytes + 16),
            MERCER_CORRUPT_FILE, "checksum of section %s differs", section.name.c_str());
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
  try {
    return FileReader(input).read(kind);
  } catch (const Error& error) {
    throw error.within(input.name());
  }
}

namespace {

bool same_names(const Container& container, std::span<const char* const> names) {
  auto next = names.begin();
  for (const Section& section : container.sections) {
    if (is_optional(section.name)) continue;
    if (next == names.end() || section.name != *next) return false;
    ++next;
  }
  return next == names.end();
}

std::string listed(std::span<const char* const> names) {
  std::string list;
  for (const char* name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

}  // namespace

SectionReader::SectionReader(Input& input, std::string_view kind,
                             std::initializer_list<const char*> names)
    : SectionReader(input.name(), read_container(input, kind), names) {}

SectionReader::SectionReader(std::string input, Container container,
                             std::initializer_list<const char*> names)
    : SectionReader(std::move(input), std::move(container)) {
  require_sections(names);
}

void SectionReader::require_sections(std::span<const char* const> names) const {
  require(same_names(container_, names), MERCER_CORRUPT_FILE,
          "%s: a %s with other sections than expected: %s", input_.c_str(), container_.kind.c_str(),
          listed(names).c_str());
}

const Section* SectionReader::find(std::string_view name) const noexcept {
  for (const Section& section : container_.sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

std::span<const std::byte> SectionReader::bytes(std::string_view name) const {
  if (const Section* section = find(name)) return section->bytes;
  fail(MERCER_INTERNAL, "file: section %s was not checked for", std::string(name).c_str());
}

std::string_view SectionReader::text(std::string_view name) const {
  const auto held = bytes(name);
  return {reinterpret_cast<const char*>(held.data()), held.size()};
}

int64_t SectionReader::count(std::string_view name) const {
  const size_t size = bytes(name).size();
  require(size % sizeof(double) == 0, MERCER_CORRUPT_FILE,
          "section %s has %zu bytes, expected a multiple of 8", std::string(name).c_str(), size);
  return static_cast<int64_t>(size / sizeof(double));
}

std::vector<double> SectionReader::doubles(std::string_view name) const {
  std::vector<double> numbers(count(name));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes(name).data(), bytes(name).size());
  return numbers;
}

void require_count(const char* what, int64_t count, int64_t expected) {
  require(count == expected, MERCER_INVALID_ARGUMENT, "%s has %ld numbers, expected %ld", what,
          count, expected);
}

// Layout, everything in words of 8 bytes, little-endian:
//   magic     a NaN of our own, which a section of finite numbers cannot begin with; another one
//             where some name, of a part of a part, takes more than 24 bytes
//   count     arrays, at most kMostArrays
//   table     per array: name (24 or 64 bytes, padded with zeros), type (1: f64, 2: i64), extents
//             (number of them, at most kMostExtents), the extents
//   values    of one array after the other
// Sections of files from before there were names are doubles alone.

namespace {

constexpr uint64_t kArraysMagic = 0x7FF852454D55534E;
constexpr uint64_t kLongMagic = kArraysMagic + 1;
constexpr uint64_t kMostArrays = 4096;  // more than three for each part that a map can have
constexpr uint64_t kMostExtents = 8;
constexpr std::size_t kNameBytes = 24, kLongNameBytes = 64;
constexpr std::size_t kWord = 8;

bool is_name(const std::string& name) {
  if (name.empty() || name.size() > kLongNameBytes) return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
}

void append(std::vector<std::byte>& out, const void* from, std::size_t bytes) {
  const std::size_t end = out.size();
  out.resize(end + bytes);
  if (bytes > 0) std::memcpy(out.data() + end, from, bytes);
}

void append_word(std::vector<std::byte>& out, uint64_t word) { append(out, &word, kWord); }

class ArrayReader {
 public:
  explicit ArrayReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  uint64_t word() {
    uint64_t value = 0;
    std::memcpy(&value, take(kWord).data(), kWord);
    return value;
  }
  uint64_t at_most(uint64_t most, const char* what) {
    const uint64_t value = word();
    check(value <= most, what);
    return value;
  }
  std::string name(std::size_t most) {
    const auto bytes = take(most);
    std::string text(reinterpret_cast<const char*>(bytes.data()), most);
    const std::size_t end = text.find('\0');
    check(end == std::string::npos || text.find_first_not_of('\0', end) == std::string::npos,
          "a name");
    text.resize(std::min(end, most));
    check(is_name(text), "a name");
    return text;
  }
  template <class T>
  std::vector<T> values(std::size_t count) {
    check(count <= rest_.size() / kWord, "the length of an array");
    const auto bytes = take(count * kWord);
    std::vector<T> out(count);
    if (count > 0) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }
  bool done() const { return rest_.empty(); }
  static void check(bool ok, const char* what) {
    require(ok, MERCER_CORRUPT_FILE, "section numbers: %s is impossible", what);
  }

 private:
  std::span<const std::byte> take(std::size_t bytes) {
    check(bytes <= rest_.size(), "its end");
    const auto taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }
  std::span<const std::byte> rest_;
};

std::vector<NumberArray> without_table(std::span<const std::byte> section) {
  ArrayReader reader(section);
  ArrayReader::check(section.size() % kWord == 0, "a length that is no multiple of 8");
  const std::size_t count = section.size() / kWord;
  return {{"", {static_cast<int64_t>(count)}, reader.values<double>(count)}};
}

bool is_integer(const NumberArray& array) { return array.values.index() == 1; }

}  // namespace

std::vector<std::byte> encode(std::span<const NumberArray> arrays) {
  std::vector<std::byte> out;
  if (arrays.empty()) return out;
  require(arrays.size() <= kMostArrays, MERCER_INTERNAL, "file: %zu arrays of numbers",
          arrays.size());
  const bool long_names = std::ranges::any_of(
      arrays, [](const NumberArray& array) { return array.name.size() > kNameBytes; });
  append_word(out, long_names ? kLongMagic : kArraysMagic);
  append_word(out, arrays.size());
  const std::size_t name_bytes = long_names ? kLongNameBytes : kNameBytes;
  for (const NumberArray& array : arrays) {
    require(is_name(array.name), MERCER_INTERNAL, "file: impossible name %s", array.name.c_str());
    std::string name = array.name;
    name.resize(name_bytes, '\0');
    append(out, name.data(), name_bytes);
    append_word(out, is_integer(array) ? 2 : 1);
    append_word(out, array.shape.size());
    append(out, array.shape.data(), array.shape.size() * kWord);
  }
  for (const NumberArray& array : arrays) {
    std::visit([&](const auto& values) { append(out, values.data(), values.size() * kWord); },
               array.values);
  }
  return out;
}

std::vector<NumberArray> decode(std::span<const std::byte> section) {
  if (section.empty()) return {};
  ArrayReader reader(section);
  const uint64_t magic = section.size() % kWord == 0 ? reader.word() : 0;
  if (magic != kArraysMagic && magic != kLongMagic) return without_table(section);
  const std::size_t name_bytes = magic == kLongMagic ? kLongNameBytes : kNameBytes;
  std::vector<NumberArray> arrays(reader.at_most(kMostArrays, "the number of arrays"));
  std::vector<bool> integer;
  for (NumberArray& array : arrays) {
    array.name = reader.name(name_bytes);
    const uint64_t type = reader.at_most(2, "a type");
    ArrayReader::check(type != 0, "a type");
    integer.push_back(type == 2);
    array.shape = reader.values<int64_t>(reader.at_most(kMostExtents, "a number of extents"));
    int64_t most = 1;  // where an extent is 0, the others may still overflow together
    for (const int64_t extent : array.shape)
      ArrayReader::check(
          extent >= 0 && !__builtin_mul_overflow(most, std::max<int64_t>(extent, 1), &most),
          "an extent");
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto count = static_cast<std::size_t>(count_of(arrays[i].shape));
    if (integer[i]) arrays[i].values = reader.values<int64_t>(count);
    if (!integer[i]) arrays[i].values = reader.values<double>(count);
  }
  ArrayReader::check(reader.done(), "its length");
  return arrays;
}

}  // namespace mercer::io
