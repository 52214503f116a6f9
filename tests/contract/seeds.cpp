// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a map is a function of: its seed, all 64 bits of it, and the amplitude, a factor.
#include "contract/cells.h"

using namespace mercer;
using namespace mercer::test;

TEST_CASE("contract: a seed is a map, another seed another unless nothing is drawn", "[contract]") {
  for (const Cell& cell : made_cells()) {
    const int64_t d = kInputs;
    const std::optional<int64_t> D = cell.features(d, 64);
    INFO(cell.label());
    REQUIRE(D.has_value());
    const Matrix<double> X = rows_for(cell.row(), 3, d, 2);
    const auto at = [&](uint64_t seed) { return features_of(*cell.make(d, *D, seed), X); };
    const Matrix<double> Z = at(8);
    CHECK(equal_bytes(Z, at(8)));
    if (!cell.draws()) {
      CHECK(equal_bytes(Z, at(9)));
      continue;
    }
    CHECK(!equal_bytes(Z, at(9)));
    // Nor do the upper bits of a seed go unread.
    CHECK(!equal_bytes(Z, at(8 + (uint64_t{1} << 32))));
    CHECK(!equal_bytes(Z, at(8 + (uint64_t{1} << 63))));
  }
}

TEST_CASE("contract: an amplitude of four is a factor of two, bit for bit", "[contract]") {
  for (const Cell& cell : made_cells()) {
    if (cell.law().law == Law::none) continue;  // roots by LAPACK are good to rounding
    const std::shared_ptr<const kernel::Kernel> loud =
        cell.kernel().with_variance(4 * cell.kernel().variance());
    Parameters spec = cell.spec();
    spec.set("kernel", std::make_shared<const Parameters>(loud->parameters()));
    const int64_t d = kInputs, D = *cell.features(d, 34);
    const Matrix<double> X = rows_for(cell.row(), 3, d, 2);
    Matrix<double> Z = features_of(*cell.make(d, D, 8), X);
    for (int64_t i = 0; i < Z.rows() * Z.cols(); ++i) Z.data()[i] *= 2;
    INFO(cell.label());
    CHECK(equal_bytes(Z, features_of(*Cell(cell.row(), loud, spec).make(d, D, 8), X)));
  }
}
