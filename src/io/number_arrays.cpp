// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Layout, everything in words of 8 bytes, little-endian:
//   magic     a NaN of our own, which a section of finite numbers cannot begin with; another one
//             where some name, of a part of a part, takes more than 24 bytes
//   count     arrays, at most kMostArrays
//   table     per array: name (24 or 64 bytes, padded with zeros), type (1: f64, 2: i64), extents
//             (number of them, at most kMostExtents), the extents
//   values    of one array after the other
// Sections of files from before there were names are doubles alone.
#include "io/number_arrays.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/size.h"

namespace mercer::io {
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
