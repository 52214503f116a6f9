// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options of coregionalisation: outputs are learnt together by K = k Gamma, k the map's kernel.
#pragma once

#include <vector>

#include "base/numbers.h"

namespace mercer::model {

/// Where Gamma comes from. C are the correlations and S the mean squared distances of targets in
/// units of their standard deviations, over rows where both are observed.
enum class OutputStructure {
  independent,  // I
  covariance,   // (1 - w) I + w C, w from 0 to 1
  graph,        // (I + w L)^-1, L the Laplacian of `matrix` divided by its mean degree, w >= 0
  similarity,   // exp(-w S), w >= 0
  given         // `matrix`
};

struct Outputs {
  OutputStructure structure = OutputStructure::independent;
  double weight = kNaN;             // w; NaN: searched, or a default
  std::vector<double> matrix = {};  // p x p, row by row
  bool or_independent = false;      // a search also tries independent outputs and keeps the better
};

}  // namespace mercer::model
