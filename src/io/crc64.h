// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// CRC-64/XZ: polynomial x^64 + x^62 + ... (ECMA-182, 0x42F0E1EBA9EA3693), reflected, initial value
// and final xor all ones. Detects every burst of up to 64 bits, so every single-bit flip. Check
// value: crc64("123456789") = 0x995DC9BBDF1939FA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mercer::io {

uint64_t crc64(std::span<const std::byte> bytes) noexcept;

}  // namespace mercer::io
