// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Candidates of a search from a map spec that leaves parameters open.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/parameters.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "model/prepare/input_domain.h"

namespace mercer::model {

/// The maps of one kernel and projection for any lengthscale and number of features.
class PartialMap {
 public:
  /// `canonical`: a canonical map spec. make() replaces its features (unless the map has only one
  /// possible number) and its lengthscale, if any; lengthscales for each input, and those of parts,
  /// are multiplied by make()'s instead.
  explicit PartialMap(Parameters canonical, std::vector<double> shapes = {});

  // How the spec is completed.
  /// Scales a kernel of several outputs to mean diagonal 1 of K(x, x). INVALID_ARGUMENT if its
  /// variance is given.
  void take_unit_diagonal();
  /// Takes l = sqrt(offset / gamma) of a polynomial kernel whose gamma the spec leaves open for its
  /// lengthscale: as the amplitude is free,
  /// (gamma x'y + offset)^p, which is offset^p (x'y / l^2 + 1)^p, has one parameter.
  void take_ratio();

  // Maps.
  std::shared_ptr<const feature::FeatureMap> make(double lengthscale, int64_t features) const;
  /// A lengthscale for each input: make(1, D) at x_j / lengthscales[j].
  std::shared_ptr<const feature::FeatureMap> make_per_input(std::span<const double> lengthscales,
                                                            int64_t features) const;
  /// From prepared training rows and coded targets.
  std::shared_ptr<const feature::FeatureMap> make_from(double lengthscale, int64_t features,
                                                       const Rows& rows,
                                                       const MatrixView<const double>& targets,
                                                       Context& context) const;
  /// True: maps are made by make_from alone; requires_rows(): make() makes none, not even one less
  /// good.
  bool needs_rows() const;
  bool requires_rows() const;
  /// make_from reads all of them: a sample would not do.
  bool reads_all_rows() const;
  /// The map has a column for each row of the fit, held-out ones included.
  bool keeps_all_rows() const;
  /// The number of features that a map has for so many wanted and so many rows.
  int64_t features_of(int64_t wanted, int64_t rows) const;

  // Lengthscales.
  /// False: the kernel has none; make() ignores it, and only lambda is searched.
  bool has_lengthscale() const;
  /// The kernel's in the spec, or its default; none for kernels without one.
  std::optional<double> lengthscale() const;
  /// Whether the spec gives the kernel one that is not a factor.
  bool gives_lengthscale() const;
  /// Where a search for it starts: 1 for a spec with a lengthscale for each input, or a part's
  /// lengthscale other than 1; 0: at the median distance of rows.
  double start() const { return given_.size() > 1 || is_factor_ ? 1 : 0; }
  /// Whether make(lengthscale, D) at x is make(1, D) at x / lengthscale, so that all lengthscales
  /// share one map's draws. False if a part has no lengthscale, or if the map depends on x itself:
  /// every candidate is made by itself.
  bool scales_inputs() const;
  /// Whether there is a candidate of that lengthscale; if not, a search goes no further.
  bool has_candidate(double lengthscale) const;
  /// Whether the gradient of features in inputs gives that in the lengthscale.
  bool learns_lengthscale() const {
    return (given_.size() == 1 || has_ratio_) && !joins_outputs_ && scales_inputs();
  }
  bool has_input_lengthscales() const { return given_.size() == 1 && learns_lengthscale(); }

  // Other maps to try.
  /// For a kernel whose mixture is left open (KernelEntry::shape): the values to try, the first a
  /// default, and the maps of one of them.
  std::vector<double> shapes() const { return shapes_; }
  std::unique_ptr<PartialMap> at_shape(double shape) const;
  /// If the kernel is left open: maps whose features are the values of x'y at the rows that they are
  /// made from. Null: not for this map.
  std::unique_ptr<PartialMap> linear() const;
  /// If the kernel is left open: other kernels, of x / l as well.
  std::vector<std::unique_ptr<PartialMap>> other_kernels() const;
  /// Maps whose features are the values of this kernel of x - y at the rows they are made from, with
  /// a lengthscale for each input if these are several. Null: not for this map.
  std::unique_ptr<PartialMap> exact(std::span<const double> lengthscales = {}) const;
  /// Whether the spec names a kernel at most.
  bool leaves_map() const;
  /// The same maps of k(A x, A y), k this kernel of lengthscale 1, A by rows. Null: not for this map.
  std::unique_ptr<PartialMap> in_metric(MatrixView<const double> A) const;
  /// The same maps of a sum whose parts have so many times their variances.
  std::unique_ptr<PartialMap> with_part_weights(std::span<const double> factors) const;
  /// If the projection is left open, of up to 3 inputs: frequencies on a grid, of the same
  /// lengthscales, with as few features as are exact but for rounding. Null: not for this map.
  std::unique_ptr<PartialMap> on_grid() const;
  /// For a kernel of several outputs: its scalar kernel, which leaves open what the spec does. Null:
  /// one output.
  std::unique_ptr<PartialMap> of_scalar() const;

  // The kernel.
  std::unique_ptr<const kernel::Kernel> kernel() const;
  std::unique_ptr<const kernel::Kernel> unit_kernel() const;  // of lengthscale 1
  std::unique_ptr<const kernel::Kernel> kernel_of(double lengthscale) const;
  /// The input domain of every candidate's kernel; none if it is unbounded.
  std::optional<InputDomain> domain() const;
  /// Whether it is isotropic, or a function of x'y alone.
  bool is_isotropic() const;
  bool is_of_inner_products() const;
  /// MapEntry::chooses_projection.
  bool chooses_projection() const;

 private:
  friend std::unique_ptr<PartialMap> partial_map(Parameters partial, int64_t d, uint64_t seed);
  Parameters at(Parameters kernel, int64_t features) const;
  Parameters kernel_at(double lengthscale) const;
  /// The map with the fewest possible features.
  std::shared_ptr<const feature::FeatureMap> smallest(double lengthscale) const;
  Parameters canonical_;
  std::vector<double> given_;        // the kernel's lengthscales: none, one, or one per input
  bool has_scaled_parts_ = false;    // some parts have lengthscales
  bool has_unscaled_parts_ = false;  // some parts have none
  std::vector<double> shapes_;
  std::optional<Parameters> asked_;  // the spec that these candidates complete
  bool open_projection_ = false;     // on_grid() may choose
  bool joins_outputs_ = false;       // the kernel has several outputs
  bool of_unit_diagonal_ = false;
  double open_offset_ = 0;  // 0: gamma is not open
  bool has_ratio_ = false;  // gamma is open_offset_ / l^2
  bool is_factor_ = false;  // some part's lengthscale is not 1
};

/// kHashBuckets if sparse rows of d inputs are hashed: above kMostPlainInputs, for an isotropic
/// kernel of one lengthscale and a map that chooses its projection, or a kernel of x'y alone, which
/// hashing keeps unbiased. Else 0. Errors: those of
/// partial_map.
int64_t hash_buckets(const Parameters& partial, int64_t d);

/// Completes a map spec that may leave anything open. "features" are make()'s; "inputs" must be d
/// >= 1, the number of prepared inputs; `seed` is the default of "seed". "map" defaults to the
/// kernel's default_map, or "fourier" without a kernel; "kernel" to the map's default_kernel (a
/// search may try others); "projection" to the choice of feature::projection_rules(), also in parts
/// of a sum or product. Errors: those of map_from_spec; DIMENSION_MISMATCH for other inputs.
std::unique_ptr<PartialMap> partial_map(Parameters partial, int64_t d, uint64_t seed);

}  // namespace mercer::model
