// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Row prologues against their formulas, and what they do with zeros, NaN and extreme rows.
#include "transform/row_prologue.h"

#include <cmath>
#include <limits>
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
  CHECK(rewritten<T>(*centre_prologue({1, 2, -0.5, 12}), x) == std::vector<T>{2, -6, T(0.5), 0});
  const std::vector<T> unit = rewritten<T>(*unit_norm_prologue(), x);
  for (size_t k = 0; k < 4; ++k)
    CHECK(std::fabs(unit[k] - x[k] / 13) <= std::numeric_limits<T>::epsilon());
  const std::vector<T> warped = rewritten<T>(*log_shift_prologue(4.5), x);
  for (size_t k = 0; k < 4; ++k)
    CHECK(warped[k] == static_cast<T>(std::log(static_cast<double>(x[k]) + 4.5)));
}

}  // namespace

TEST_CASE("row prologues are their formulas in either precision") {
  check_precision<float>();
  check_precision<double>();
}

TEST_CASE(
    "unit norm: zeros stay, extreme rows neither overflow nor vanish, "
    "NaN is seen") {
  const auto prologue = unit_norm_prologue();
  CHECK(prologue->shape().keeps_zeros);
  CHECK(rewritten<double>(*prologue, {0, 0, 0}) == std::vector<double>{0, 0, 0});
  for (const double size : {1e300, 1e-300, 5e-324}) {
    const auto unit = rewritten<double>(*prologue, {size, 0, -size});
    CHECK(std::fabs(unit[0] - std::sqrt(0.5)) <= 1e-15);
    CHECK(unit[1] == 0);
    CHECK(unit[2] == -unit[0]);
  }
  // What is left out of a sparse row counts for nothing.
  const auto whole = rewritten<float>(*prologue, {0, 2, 0, 3, 0});
  const auto listed = rewritten<float>(*prologue, {2, 3});
  CHECK(whole[1] == listed[0]);
  CHECK(whole[3] == listed[1]);
  for (const double one : rewritten<double>(*prologue, {1, NAN, 2})) CHECK(std::isnan(one));
}

TEST_CASE("prologues that move zeros say so") {
  CHECK(!log_shift_prologue(1).get()->shape().keeps_zeros);
  CHECK(!centre_prologue({1})->shape().keeps_zeros);
}
