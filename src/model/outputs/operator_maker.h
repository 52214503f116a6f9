// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Operator maps of one spec with other lengthscales, shapes and numbers of features, for rows and
// targets whose units it knows.
#pragma once

#include <memory>
#include <vector>

#include "base/parameters.h"
#include "feature/field/field_map.h"
#include "kernel/kernel.h"
#include "model/outputs/output_units.h"

namespace mercer::model {

/// Where the Gamma of a decomposable map without "gamma" comes from, and what its shape is. Of C,
/// the outputs' correlations, and S, their mean squared distances, targets are standardised and
/// pairs that were observed together count; an output that does not vary is as one without
/// correlations. Where gaps make C or exp(-gamma S) indefinite, negative eigenvalues become 0.
enum class OutputStructure {
  independent,  // I
  covariance,   // (1 - w) I + w C, w from 0 to 1
  laplacian,    // (I + gamma L)^-1 of the graph's Laplacian over its mean degree, gamma >= 0
  similarity    // exp(-gamma S), gamma >= 0
};

struct OperatorPlan {
  /// Of a map of a kernel of several outputs, "gamma" and "alpha" left out where they are searched.
  /// "features" counts columns of the map of its scalar kernel, D, since what is searched decides
  /// q; "map", "inputs", "features" (1024), "seed", for fields "root" (orthonormal) are filled in.
  Parameters spec;
  OutputStructure structure = OutputStructure::covariance;
  MatrixView<const double> graph = {};  // p x p weights >= 0, of a Laplacian
  uint64_t seed = 0;
  bool of_part = false;  // outputs that these rows do not have together count as uncorrelated
};

class OperatorMaker {
 public:
  /// X n x d of finite numbers and Y n x p, of which some may be missing, are not kept. Errors:
  /// those of the spec; DIMENSION_MISMATCH for targets that the map has not; UNSUPPORTED for a
  /// graph or similarity where Gamma is not searched; INVALID_ARGUMENT for a variance of the
  /// kernel, which is set here, and for covariance and similarity of targets that never were
  /// observed together.
  OperatorMaker(const OperatorPlan& plan, MatrixView<const double> X, MatrixView<const double> Y,
                Context& context);

  /// The kernel's lengthscale is that many units of the inputs (fields: the root of their mean
  /// variance; else standard deviations), its variance such that K(x, x) has the mean diagonal 1.
  std::shared_ptr<const feature::FieldMap> make(double lengthscale, double shape,
                                                int64_t features) const;

  bool searches_lengthscale() const noexcept { return !unit_.empty(); }
  /// The median distance of rows in units; 1 where there is none to be had.
  double central() const noexcept { return central_; }
  /// Shapes to try, the first a fair one; {0} where the map has none, as of one output.
  const std::vector<double>& shapes() const noexcept { return shapes_; }
  /// Errors: INVALID_ARGUMENT for a shape out of its domain, or of a map without one.
  void check_shape(double shape) const;
  int64_t features() const noexcept { return features_; }
  /// All shapes have the same scalar features.
  bool separable() const noexcept { return entry_->outputs == kernel::OutputCount::gamma; }
  const OutputUnits& units() const noexcept { return units_; }
  bool own_scales() const noexcept { return own_scales_; }

 private:
  bool is_field() const noexcept { return entry_->outputs == kernel::OutputCount::inputs; }
  void read_kernel();
  /// The map's spec of a shape, filled in; "features" is D.
  Parameters canonical_of(double shape) const;
  std::vector<double> gamma(double shape) const;
  void read_units(MatrixView<const double> X, uint64_t seed, Context& context);
  void read_structure(const OperatorPlan& plan, MatrixView<const double> Y, Context& context);

  Parameters spec_, kernel_;  // as given
  OutputStructure structure_ = OutputStructure::independent;
  const kernel::KernelEntry* entry_ = nullptr;
  bool given_gamma_ = false, own_scales_ = false;
  bool keeps_lengthscale_ = true;  // it was given, or there is none
  int64_t features_ = 0, p_ = 0;
  std::vector<double> unit_;  // of inputs, d; or one; empty: the lengthscale stays
  double central_ = 1;
  std::vector<double> shapes_ = {0};
  OutputUnits units_;
  Matrix<double> basis_;  // C, S, or eigenvectors by rows of L
  std::vector<double> values_;
};

}  // namespace mercer::model
