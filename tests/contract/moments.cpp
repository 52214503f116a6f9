// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every cell's estimate has the kernel as its mean, and the variance of the closed form or the
// stated multiple of it.
#include "contract/cells.h"
#include "contract/sample.h"
#include "support/statistic.h"

namespace moments {
using namespace mercer;
using namespace mercer::test;

constexpr std::initializer_list<int64_t> kDimensions = {1, 2, 3, 5, 16, 17};

// Three scores a cell share the failure probability, the slow run's included.
double threshold() {
  return z_threshold(kFailure, 2 * 3.0 * static_cast<double>(made_cells().size()));
}

void check(const Cell& cell, int64_t d, int64_t wanted, double sharpness) {
  const std::optional<int64_t> D = cell.features(d, wanted);
  if (!D) return;  // d too small; all others exist
  INFO(cell.label() << ", d = " << d << ", D = " << *D);
  Sample sample(cell, d, *D);
  const bool sharp = sample.draw(400, sharpness, 1000000);
  CHECK(sharp);
  CHECK(sample.fault(threshold()) == "");
}

TEST_CASE("contract: mean and variance, so that an error of a third fails", "[apart]") {
  // A third is 8 standard errors, 1.5 above the threshold; smaller errors are the slow run's.
  constexpr double kSharpness = 0.0413;
  CHECK(1 / (3 * kSharpness) >= threshold() + 1.5);
  for (const Cell& cell : made_cells()) {
    if (!cell.is_estimate()) continue;
    const int64_t sampled = cycled(kDimensions, cell.number());
    for (const int64_t d : kDimensions) {  // what is not drawn costs little
      if (cell.law().law == Law::fixed || (cell.is_sampled() && d == sampled))
        check(cell, cell.inputs(d), 18, kSharpness);
    }
  }
}

TEST_CASE("contract: mean and variance, so that a tenth and 1 % of the mean fail", "[slow]") {
  // 8 standard errors of the variance again; then the mean, of more columns, is known to about
  // 1 / 800 of itself. Of maps made of others a sixth fails: their tails are long.
  CHECK(0.1 / 0.0125 >= threshold() + 1.5);
  for (const Cell& cell : made_cells()) {
    if (!cell.is_estimate()) continue;
    const size_t number = cell.number() + 3;  // another d than in the default run
    check(cell, cell.inputs(cycled(kDimensions, number)), 66, cell.is_composed() ? 0.02 : 0.0125);
  }
}

TEST_CASE("contract: options that leave a map what it is give its bytes") {
  int64_t seen = 0;
  for (const Cell& cell : made_cells()) {
    if (cell.law().law != Law::same) continue;
    for (const int64_t asked : {6, 150}) {
      const int64_t d = kInputs, D = *cell.features(d, asked);
      const auto map = cell.make(d, D, 3);
      const auto other = cell.make_other(cell.law(), d, map->features(), 3);
      const Matrix<double> X = rows_for(cell.row(), 4, d, 2);
      INFO(cell.label());
      CHECK(equal_bytes(features_of(*map, X), features_of(*other, X)));
      // whole_blocks, the one such option, leaves no other.
      CHECK(map->incomplete_block() == 0);
      ++seen;
    }
  }
  CHECK(seen > 0);
}

}  // namespace moments
