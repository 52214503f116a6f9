// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is asked of how outputs are learnt together: K = k Gamma of the map's kernel k.
#pragma once

#include <vector>

#include "base/numbers.h"

namespace mercer::model {

/// Where Gamma comes from. Of C, the correlations of the targets, and S, their mean squared
/// distances, targets are in units of their standard deviations and rows that have both count.
enum class OutputStructure {
  independent,  // I
  covariance,   // (1 - w) I + w C, w from 0 to 1
  graph,        // (I + w L)^-1 of the Laplacian of `matrix` over its mean degree, w >= 0
  similarity,   // exp(-w S), w >= 0
  given         // `matrix`
};

struct Outputs {
  OutputStructure structure = OutputStructure::independent;
  double weight = kNaN;             // w; NaN: searched, or a fair one
  std::vector<double> matrix = {};  // p x p, row by row
  bool or_independent = false;  // a search also tries independent outputs, and keeps what is better
};

}  // namespace mercer::model
