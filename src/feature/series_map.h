// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of a power series: [sqrt(a_0) | degree 1, if it is kept exactly | sketches of single
// degrees], times the radial factor of the row.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "feature/map_entry.h"
#include "feature/random_degrees.h"
#include "feature/sketch.h"

namespace mercer::feature {

/// A sketch of weight (x'y)^degree.
struct DegreeSketch {
  int64_t degree;
  int64_t features;
  double weight;
};

struct SeriesParts {
  SketchOptions sketch;
  double constant;  // a_0; 0: no column
  double linear;    // a_1 of the d columns that keep degree 1 exactly; 0: none
  std::vector<DegreeSketch> sketches;
  /// What the estimate has for its mean: a_n, n = 0, 1, ..., 0 for degrees that are left out.
  std::vector<double> kept;
  bool truncated;                       // kept is less than the series
  std::optional<RandomDegrees> random;  // where the number of columns is drawn
};

/// The kernel of the arguments has a series. `own`: the map's parameters after the common ones.
/// Errors: those of sketches, with the degree in front.
std::unique_ptr<FeatureMap> make_series_map(const MapArguments& arguments, SeriesParts parts,
                                            Parameters own);

}  // namespace mercer::feature
