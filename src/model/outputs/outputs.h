// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options of coregionalisation, the parameters that each structure of outputs reads, and the
// simplex code of classes.
#pragma once

#include <limits>
#include <vector>

#include "base/numbers.h"
#include "base/options.h"
#include "base/views.h"

namespace mercer::model {

// Options of coregionalisation: outputs are learnt together by K = k Gamma, k the map's kernel.

/// Where Gamma comes from. C are the correlations and S the mean squared distances of targets in
/// units of their standard deviations, over rows where both are observed.
enum class OutputStructure {
  independent,  // I
  covariance,   // (1 - w) I + w C, w from 0 to 1
  graph,        // (I + w L)^-1, L the Laplacian of `matrix` divided by its mean degree, w >= 0
  laplacian,    // L^+, of `matrix` as of graph
  similarity,   // exp(-w S), w >= 0
  given,        // `matrix`
  automatic     // of options: covariance or the kernel's own structure, or independent outputs
};

struct Outputs {
  OutputStructure structure = OutputStructure::independent;
  double weight = kNaN;             // w; NaN: searched, or a default
  std::vector<double> matrix = {};  // p x p, row by row
  bool or_independent = false;      // a search also tries independent outputs and keeps the better
};
OptionTable<Outputs> outputs_options();
/// Those of outputs_options that this structure reads, with its range of the weight.
std::vector<Field> structure_fields(OutputStructure structure);

// The parameters that each structure of outputs reads.

struct StructureTraits {
  const char* name;
  const char* help;
  bool reads_matrix;
  double most_weight;  // the range is from 0; negative: no weight
};

/// In the order of OutputStructure.
inline constexpr StructureTraits kStructureTraits[] = {
    {"independent", "I: each output by itself", false, -1},
    {"covariance", "(1 - w) I + w C of the targets' correlations C", false, 1},
    {"graph",
     "(I + w L)^-1, L the Laplacian of the graph with weights matrix, divided by its mean degree",
     true, std::numeric_limits<double>::max()},
    {"laplacian",
     "L^+, the pseudo-inverse of that Laplacian: in every connected part of the graph outputs less "
     "their intercepts, in units of their deviations, add up to 0",
     true, -1},
    {"similarity",
     "exp(-w S), S the mean squared distances of the targets in units of their deviations", false,
     std::numeric_limits<double>::max()},
    {"given", "the matrix, positive semi-definite", true, -1},
    {"auto", "covariance (for a field its kernel), or independent if that is no worse", false, 1}};
inline constexpr const StructureTraits& traits_of(OutputStructure structure) {
  return kStructureTraits[static_cast<int>(structure)];
}

// Classes as vectors, one output fewer than there are classes.

/// The (T - 1) x T simplex code of T >= 2 classes: columns of norm 1 with inner products
/// -1/(T - 1) (Mroueh, Poggio, Rosasco, Slotine 2012). Errors: DIMENSION_MISMATCH.
void simplex_code(MatrixView<double> code);

}  // namespace mercer::model
