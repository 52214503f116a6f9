// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Well-formed UTF-8 by the table of RFC 3629, section 4: the first byte fixes how many follow, and
// the range of the second one excludes overlong forms (E0, F0), surrogates (ED) and code points
// above U+10FFFF (F4).
#include "spec/utf8.h"

#include <cstddef>

namespace mercer::spec {
namespace {

struct Shape {
  std::size_t length;  // 0: not a first byte
  unsigned char second_least;
  unsigned char second_most;
};

Shape shape_of(unsigned char first) noexcept {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xC2) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first < 0xF4) return {4, 0x80, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const Shape shape = shape_of(static_cast<unsigned char>(text[i]));
    if (shape.length == 0 || text.size() - i < shape.length) return false;
    for (std::size_t k = 1; k < shape.length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      const unsigned char least = k == 1 ? shape.second_least : 0x80;
      const unsigned char most = k == 1 ? shape.second_most : 0xBF;
      if (byte < least || byte > most) return false;
    }
    i += shape.length;
  }
  return true;
}

}  // namespace mercer::spec
