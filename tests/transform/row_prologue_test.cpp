// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Row prologues against their formulas, and what they do with zeros, NaN and extreme rows.
#include "transform/row_prologue.h"

#include <cmath>
#include <vector>

#include "support/catch.h"

using namespace mercer::transform;

namespace {

template <class T>
std::vector<T> rewritten(const RowPrologue& prologue, std::vector<T> x) {
  std::vector<T> out(x.size());
  prologue.run(x.data(), static_cast<int64_t>(x.size()), out.data(), nullptr);
  return out;
}

template <class T>
void check_precision() {
  const std::vector<T> x{3, -4, 0, 12};
  const std::vector<T> warped = rewritten<T>(*log_shift_prologue(4.5), x);
  for (size_t k = 0; k < 4; ++k)
    CHECK(warped[k] == static_cast<T>(std::log(static_cast<double>(x[k]) + 4.5)));
}

}  // namespace

TEST_CASE("row prologues are their formulas in either precision") {
  check_precision<float>();
  check_precision<double>();
}

TEST_CASE("prologues that move zeros say so") {
  CHECK(!log_shift_prologue(1)->shape().keeps_zeros);
}
