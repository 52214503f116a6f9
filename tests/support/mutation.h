// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random damage to texts and files, the same for one seed.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace mercer::test {

/// One to four edits of one of `originals`: a byte changed, a piece removed, repeated, or taken
/// from another original.
inline std::string mutated(const std::vector<std::string>& originals, std::mt19937_64& words) {
  const auto below = [&words](std::size_t n) {
    return static_cast<std::size_t>(words() % (n == 0 ? 1 : n));
  };
  constexpr char kTelling[] = "{}[]\",:0123456789.eE+-\\ tfn\x01\xff";
  std::string text = originals[below(originals.size())];
  for (std::size_t edit = 0; edit < 1 + below(4); ++edit) {
    const std::size_t at = below(text.size()), length = 1 + below(8);
    const std::string& other = originals[below(originals.size())];
    switch (below(5)) {
      case 0:
        if (!text.empty()) text[at] = kTelling[below(sizeof kTelling)];
        break;
      case 1:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.insert(at, other.substr(below(other.size()), length));
        break;
    }
  }
  return text;
}

}  // namespace mercer::test
