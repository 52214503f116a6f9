// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps that draw nothing: the same for every seed, which is still kept in their spec. Their
// estimate has no variance, but may have a bias.
#pragma once

#include <memory>
#include <utility>

#include "feature/feature_map.h"
#include "feature/moments.h"

namespace mercer::feature {

class FixedMap : public FeatureMap, public Moments {
 public:
  const kernel::Kernel& kernel() const noexcept final { return *kernel_; }
  Parameters parameters() const override { return common_parameters(seed_); }
  void prepare(Precision, Context&) const override {}
  const Moments& moments() const final { return *this; }
  double variance_at(const double*, const double*) const final { return 0; }

 protected:
  FixedMap(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D, uint64_t seed)
      : FeatureMap(d, D, false), kernel_(std::move(kernel)), seed_(seed) {}

 private:
  std::unique_ptr<const kernel::Kernel> kernel_;
  uint64_t seed_;
};

}  // namespace mercer::feature
