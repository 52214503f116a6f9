// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The most bytes that operator new held at once: of a test program that compiles
// measured_memory.cpp, which replaces it.
#pragma once

#include <cstdint>

namespace mercer::test {

/// False with a sanitizer, whose own operators stay, or without glibc: nothing is measured.
bool measures_memory() noexcept;

/// Above what was held when this was made, over all threads. One at a time.
class MemoryPeak {
 public:
  MemoryPeak() noexcept;
  int64_t bytes() const noexcept;

 private:
  int64_t before_;
};

}  // namespace mercer::test
