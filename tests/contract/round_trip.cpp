// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Seeds, spec to object to spec, and files: exact, and the object that comes back has the bytes of Z.
#include "contract/round_trip.h"

#include "contract/cells.h"
#include "spec/spec.h"

namespace round_trip {
using namespace mercer;
using namespace mercer::test;

TEST_CASE("contract: a seed is a map, another seed another unless nothing is drawn") {
  for (const Cell& cell : made_cells()) {
    const int64_t d = kInputs;
    const std::optional<int64_t> D = cell.features(d, 64);
    INFO(cell.label());
    REQUIRE(D.has_value());
    const Matrix<double> X = rows_for(cell.row(), 3, d, 2);
    const auto at = [&](uint64_t seed) { return features_of(*cell.make(d, *D, seed), X); };
    const Matrix<double> Z = at(8);
    CHECK(equal_bytes(Z, at(8)));
    if (!cell.draws(*cell.make(d, *D, 8))) {
      CHECK(equal_bytes(Z, at(9)));
      continue;
    }
    CHECK(!equal_bytes(Z, at(9)));
    // Nor do the upper bits of a seed go unread.
    CHECK(!equal_bytes(Z, at(8 + (uint64_t{1} << 32))));
    CHECK(!equal_bytes(Z, at(8 + (uint64_t{1} << 63))));
  }
}

TEST_CASE("contract: an amplitude of four is a factor of two, bit for bit") {
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

bool same_map(const FeatureMap& a, const FeatureMap& b, const Matrix<double>& X) {
  return spec::to_spec(a) == spec::to_spec(b) &&
         equal_bytes(features_of(a, X), features_of(b, X)) &&
         equal_bytes(features_of(a, converted<float>(X)), features_of(b, converted<float>(X)));
}

TEST_CASE("contract: maps come back from their spec and their file") {
  uint64_t seed = 0;
  for (const Cell& cell : made_cells()) {
    seed = next_seed(seed);
    const int64_t d = kInputs, D = *cell.features(d, 22);
    const auto map = cell.make(d, D, seed);
    const Matrix<double> X = rows_for(cell.row(), 3, d, 4);
    INFO(cell.label() << ", seed " << seed);
    const std::string text = spec::to_spec(*map);
    CHECK(same_map(*map, *spec::map_from_spec_and_numbers(text, map->numbers()), X));
    if (map->numbers().empty()) CHECK(same_map(*map, *spec::map_from_spec(text), X));
    const auto load = [](const std::string& path) { return io::load_map(path); };
    CHECK(same_map(*map, *through_file(*map, load), X));
    check_finite_numbers(*map, [](io::Input& input) { io::load_map(input); });
  }
}

TEST_CASE("contract: kernels come back from their spec") {
  for (const Cell& cell : made_cells()) {
    const std::string text = spec::to_spec(cell.kernel());
    const auto back = spec::kernel_from_spec(text);
    const Matrix<double> X = rows_for(cell.row(), 2, kInputs, 4);
    INFO(text);
    CHECK(spec::to_spec(*back) == text);
    CHECK(back->value(X.cols(), X.view().row(0), X.view().row(1)) ==
          cell.kernel().value(X.cols(), X.view().row(0), X.view().row(1)));
  }
}

}  // namespace round_trip
