// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Points and the cells of equal measure that they lie in.
#pragma once
#include "random/points.h"
#include "support/catch.h"

namespace mercer::test {

/// The interval of length 1 / count that each number lies in.
inline std::vector<uint64_t> cells_of(const std::vector<double>& u, uint64_t count) {
  std::vector<uint64_t> result;
  for (const double x : u) result.push_back(static_cast<uint64_t>(x * static_cast<double>(count)));
  return result;
}

/// Cells of equal measure that do not hold exactly one of the points whose numbers are given.
inline size_t wrong_cells(const std::vector<uint64_t>& numbers) {
  std::vector<int> held(numbers.size());
  for (const uint64_t number : numbers) ++held[number];
  size_t wrong = 0;
  for (const int count : held) wrong += count != 1;
  return wrong;
}

/// wrong(scramble) counts such cells: there are none under any scramble.
template <class Count>
void check_cells(const Count& wrong) {
  for (const random::Scramble scramble :
       {random::Scramble::owen, random::Scramble::digital_shift}) {
    INFO("scramble " << static_cast<int>(scramble));
    CHECK(wrong(scramble) == 0);
  }
}

}  // namespace mercer::test
