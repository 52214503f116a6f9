// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The maps, one line each, in the file of its name; then the sketches, one for each family
// (projection/sketch_kinds.cpp), and the composed ones.
#include <utility>

#include "base/entry_table.h"
#include "feature/map_entry.h"
#include "feature/sketch.h"

// clang-format off
#define MERCER_MAPS(entry) \
  entry(fourier)           \
  entry(linear)            \
  entry(positive)          \
  entry(arc_cosine)        \
  entry(sign)              \
  entry(optical)           \
  entry(nystroem)          \
  entry(exact)             \
  entry(additive)          \
  entry(laplace)           \
  entry(anova)             \
  entry(poisson)           \
  entry(random_binning)    \
  entry(exact_polynomial)  \
  entry(maclaurin)         \
  entry(sum)               \
  entry(product)
// clang-format on

namespace mercer::feature {

static void add_sketches(std::vector<MapEntry>& table) {
  for (MapEntry& entry : sketch_entries()) table.push_back(std::move(entry));
}

MERCER_COMPLETED_TABLE(MapEntry, map_table, MERCER_MAPS, add_sketches)

}  // namespace mercer::feature
