// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options of coregionalisation, the parameters that each structure of outputs reads, and the
// simplex code of classes.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/numbers.h"
#include "base/options.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "model/prepare/preparation.h"
#include "model/rows/row_sets.h"
#include "solver/coupled_system.h"

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

// From targets, or from a map of several outputs, to the solver's coupling: units of the targets,
// their relations, Gamma.

// Makes the solver's coupling of outputs from a map with several outputs, or from targets.

using CouplingPointer = std::shared_ptr<const solver::Coupling>;

/// The roots of a map with several outputs; null for other maps.
CouplingPointer coupling_of(const feature::FeatureMap& map, Context& context);

/// Gamma as a function of its weight.
class OutputRelations {
 public:
  /// Reads `rows` of Y and weights (none: 1 each) alone. INVALID_ARGUMENT for a matrix that is not
  /// a p x p graph or Gamma, or is not read, and for a weight out of its domain.
  OutputRelations(const Outputs& asked, const TargetOptions& coding, MatrixView<const double> Y,
                  std::span<const double> weights, solver::RowSet rows, Context& context);
  /// The weights to try, the first the default; or the given one; or {0} if Gamma has none.
  const std::vector<double>& weights() const noexcept { return weights_; }
  /// Null for independent outputs: by the structure, or at weight 0.
  CouplingPointer coupling(double weight, Context& context) const;

 private:
  Matrix<double> gamma(double weight, Context& context) const;
  double of_eigenvalue(double value, double weight) const;
  OutputStructure structure_;
  int64_t p_;
  Matrix<double> basis_;        // C, S, eigenvectors of L (rows), or Gamma
  std::vector<double> values_;  // of L
  std::vector<double> scale_;   // of the targets
  std::vector<double> weights_ = {0};
};

// Relations of outputs (p x p), from targets in units of their standard deviations, of which some
// may be missing, or from a graph.

/// C: weighted means of products over rows where both targets are observed (no weights: 1 each),
/// with negative eigenvalues set to 0. A constant output, and two outputs never observed together,
/// are uncorrelated.
Matrix<double> output_correlations(MatrixView<const double> scaled, std::span<const double> weights,
                                   Context& context);

/// S: mean squared distances over the same rows; 2 for uncorrelated outputs.
Matrix<double> output_distances(MatrixView<const double> scaled, std::span<const double> weights,
                                Context& context);

/// The Laplacian of a graph of p outputs divided by its mean degree. W is symmetric and >= 0; its
/// diagonal is not read. Errors: DIMENSION_MISMATCH; INVALID_ARGUMENT naming a weight, or for no
/// edges.
Matrix<double> mean_laplacian(MatrixView<const double> W, int64_t p, Context& context);

/// Sets negative eigenvalues, which pairwise estimates may have, to 0.
void make_semidefinite(MatrixView<double> A, Context& context);

// Units of several targets, some of which may be missing (NaN).

/// Moments of an output's observed targets in rows of weight > 0 (no weights: 1 each). The standard
/// deviation is 0 if they differ by rounding alone, 1e-14 of the mean. No square overflows or
/// underflows.
struct OutputMoments {
  double mean = 0, deviation = 0;
  double observed = 0;   // sum of weights
  bool constant = true;  // to the last bit
};
OutputMoments output_moments(MatrixView<const double> Y, int64_t output,
                             std::span<const double> weights);

/// (y - mean)/deviation by output, over observed targets. Without any the mean is 0; a constant
/// output has scale 1, or |mean| if it varies by rounding.
struct OutputUnits {
  std::vector<double> mean, scale;
};

OutputUnits output_units(MatrixView<const double> Y, std::span<const double> weights);

/// Y in units; missing targets stay so.
Matrix<double> in_units(MatrixView<const double> Y, const OutputUnits& units, Context& context);

}  // namespace mercer::model
