// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Candidates for the hyper-parameter search from a map spec that leaves open what the search
// decides.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/parameters.h"
#include "model/search/map_maker.h"

namespace mercer::model {

class PartialMap final : public MapMaker {
 public:
  /// `canonical`: a canonical map spec; its features are replaced by those of make(), or by the one
  /// number that the map can have, and so is its
  /// lengthscale, if any. Lengthscales for each input, and those of parts, are multiplied by it
  /// instead.
  explicit PartialMap(Parameters canonical, std::vector<double> shapes = {});

  bool has_lengthscale() const override;
  std::shared_ptr<const feature::FeatureMap> make(double lengthscale,
                                                  int64_t features) const override;
  /// 1 for a spec with a lengthscale for each input, or with one of a part other than 1.
  double start() const override { return given_.size() > 1 || is_factor_ ? 1 : 0; }
  bool has_input_lengthscales() const override {
    return given_.size() == 1 && !joins_outputs_ && scales_inputs();
  }
  std::vector<double> shapes() const override { return shapes_; }
  std::unique_ptr<MapMaker> at_shape(double shape) const override;
  std::unique_ptr<MapMaker> of_scalar() const override;
  std::vector<std::unique_ptr<MapMaker>> other_kernels() const override;
  /// From the spec that these candidates complete, which leaves the kernel open.
  void leave_kernel_open(Parameters partial) { partial_ = std::move(partial); }
  /// Candidates of a kernel of several outputs have a K(x, x) of mean diagonal 1. INVALID_ARGUMENT
  /// where its variance is given.
  void take_unit_diagonal();
  std::shared_ptr<const feature::FeatureMap> make_per_input(std::span<const double> lengthscales,
                                                            int64_t features) const override;
  std::optional<InputDomain> domain() const override;
  bool needs_rows() const override;
  /// Not where a part has no lengthscale, nor of maps that say that they are of x itself.
  bool scales_inputs() const override;
  bool has_candidate(double lengthscale) const override;
  int64_t features_of(int64_t wanted, int64_t rows) const override;
  bool keeps_all_rows() const override;
  std::shared_ptr<const feature::FeatureMap> make_from(double lengthscale, int64_t features,
                                                       const Rows& rows,
                                                       const MatrixView<const double>& targets,
                                                       Context& context) const override;

  /// MapEntry::chooses_projection.
  bool chooses_projection() const;
  std::unique_ptr<const kernel::Kernel> kernel() const;
  /// The kernel is one of distances.
  bool is_isotropic() const;
  /// The kernel's lengthscale in the spec, its default if it was not given; none for kernels
  /// without one.
  std::optional<double> lengthscale() const;

 private:
  Parameters at(Parameters kernel, int64_t features) const;
  Parameters kernel_at(double lengthscale) const;
  /// Of as few features as the map can have.
  std::shared_ptr<const feature::FeatureMap> smallest(double lengthscale) const;
  Parameters canonical_;
  std::vector<double> given_;        // lengthscales of the kernel: none, one, or one for each input
  bool has_scaled_parts_ = false;    // parts have lengthscales
  bool has_unscaled_parts_ = false;  // and others have none
  std::vector<double> shapes_;
  std::optional<Parameters> partial_;  // of an open kernel
  bool joins_outputs_ = false;         // the kernel has several
  bool of_unit_diagonal_ = false;
  bool is_factor_ = false;  // some of them are not 1
};

/// kHashBuckets where sparse rows of d inputs are hashed before such a map sees them: those
/// of more than kMostPlainInputs, for a map that would choose its projection of an isotropic
/// kernel of one lengthscale. Else 0. Errors: those of map_maker.
int64_t hash_buckets(const Parameters& partial, int64_t d);

/// From a map spec that may leave anything open: "features" is what make() is told, "inputs" can be
/// d alone, the prepared inputs of the rows, and `seed` is of specs without; "map" defaults to
/// the kernel's default_map, to "fourier" without a kernel, "kernel" to the map's default_kernel, beside
/// which a search may try others, the "projection" of a map that chooses it by feature::projection_rules(), and so that of such
/// parts of a sum or product without "parts". Errors: those of map_from_spec; DIMENSION_MISMATCH for
/// other inputs. d >= 1.
std::unique_ptr<PartialMap> partial_map(Parameters partial, int64_t d, uint64_t seed);

}  // namespace mercer::model
