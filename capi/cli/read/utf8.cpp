// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "read/utf8.h"

#include <cstdint>

#include "failure.h"

namespace mercer::cli {

namespace {

/// Bytes of the character at the begin; 0: none.
size_t length_of(std::string_view text) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  const uint32_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  uint32_t code = first & (0xffU >> (length + 1));
  for (size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xc0U) != 0x80) return 0;
    code = code << 6 | (byte(k) & 0x3fU);
  }
  const bool shortest = code >= (length == 4 ? 0x10000U : length == 3 ? 0x800U : 0x80U);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return shortest && !surrogate && code <= 0x10ffff ? length : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = length_of(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void require_utf8(const std::string& file, const std::vector<std::string>& texts) {
  for (const std::string& one : texts) {
    if (is_utf8(one)) continue;
    std::string text = one;
    for (char& c : text)
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';  // a terminal shows no better
    fail_at(file, 0, 0,
            shown(text) +
                " is not UTF-8: save the file as UTF-8 (iconv -f WINDOWS-1252 -t UTF-8, if "
                "a spreadsheet wrote it)");
  }
}

}  // namespace mercer::cli
