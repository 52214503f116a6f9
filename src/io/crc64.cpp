// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// CRC-64/XZ eight bytes at a time: tables[k][b] is the CRC of byte b followed by k zero bytes
// (Kounavis, Berry 2005, "slicing-by-8"). The tables are made by the compiler.
#include "io/crc64.h"

#include <array>

namespace mercer::io {
namespace {

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

}  // namespace mercer::io
