// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Spec to object to spec, and files: exact, and the object that comes back has the bytes of Z.
#include "contract/round_trip.h"

#include "contract/cells.h"
#include "spec/spec.h"

using namespace mercer;
using namespace mercer::test;

namespace {

bool same_map(const FeatureMap& a, const FeatureMap& b, const Matrix<double>& X) {
  return spec::to_spec(a) == spec::to_spec(b) &&
         equal_bytes(features_of(a, X), features_of(b, X)) &&
         equal_bytes(features_of(a, converted<float>(X)), features_of(b, converted<float>(X)));
}

}  // namespace

TEST_CASE("contract: maps come back from their spec and their file", "[contract]") {
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
  }
}

TEST_CASE("contract: kernels come back from their spec", "[contract]") {
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
