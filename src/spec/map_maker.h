// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Candidates for the hyper-parameter search from a map spec that leaves open what the search
// decides.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/parameters.h"
#include "model/search.h"

namespace mercer::spec {

class SpecMapMaker final : public model::MapMaker {
 public:
  /// `canonical`: a canonical map spec; its lengthscale, if any, and features are replaced by those
  /// of make().
  explicit SpecMapMaker(Parameters canonical);

  bool has_lengthscale() const override;
  std::shared_ptr<const feature::FeatureMap> make(double lengthscale,
                                                  int64_t features) const override;
  bool needs_rows() const override;
  int64_t most_features(int64_t rows) const override;
  std::shared_ptr<const feature::FeatureMap> make_from(double lengthscale, int64_t features,
                                                       const Rows& rows,
                                                       Context& context) const override;

  /// The kernel's lengthscale in the spec, its default if it was not given; none for kernels
  /// without one.
  std::optional<double> lengthscale() const;

 private:
  Parameters at(double lengthscale, int64_t features) const;
  Parameters canonical_;
};

/// From a map spec without "inputs", "features" and "seed", which the call fixes; "map" defaults to
/// "fourier", "kernel" to the map's default_kernel; empty text is {}. Errors: those of
/// map_from_spec; INVALID_ARGUMENT for the three keys; UNSUPPORTED for a lengthscale per input,
/// which a search over one number would throw away. d >= 1.
std::unique_ptr<SpecMapMaker> map_maker(std::string_view partial, int64_t d, uint64_t seed);

}  // namespace mercer::spec
