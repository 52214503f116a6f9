// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What all fuzz targets share: choices read from the bytes of an input, and how a defect is told.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace mercer::fuzz {

/// Ends the process, which libFuzzer and the replay both take for a finding.
[[noreturn]] inline void defect(const std::string& what) {
  std::fprintf(stderr, "DEFECT: %s\n", what.c_str());
  std::abort();
}
inline void require(bool holds, const std::string& what) {
  if (!holds) defect(what);
}

/// Choices, one after the other; zeros when the bytes are used up.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  uint8_t byte() {
    if (rest_.empty()) return 0;
    const uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  /// In [0, n), n <= 65536.
  int below(int n) {
    if (n <= 1) return 0;
    const int value = n > 256 ? byte() * 256 + byte() : byte();
    return value % n;
  }
  /// True for `of` in 256 bytes, never of bytes that are used up.
  bool chance(int of) { return byte() > 255 - of; }
  template <class List>
  auto pick(List&& list) -> decltype(*std::begin(list)) {
    return *(std::begin(list) + below(static_cast<int>(std::size(list))));
  }
  std::string_view rest() {
    const std::string_view text(reinterpret_cast<const char*>(rest_.data()), rest_.size());
    rest_ = {};
    return text;
  }

 private:
  std::span<const uint8_t> rest_;
};

/// A target's function.
using Run = void (*)(Bytes& bytes);
void fuzz_specs(Bytes& bytes);
void fuzz_files(Bytes& bytes);
void fuzz_tables(Bytes& bytes);
void fuzz_abi(Bytes& bytes);

}  // namespace mercer::fuzz
