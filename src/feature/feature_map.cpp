// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/feature_map.h"

#include <string>

#include "base/error.h"

namespace mercer::feature {

void FeatureMap::variance(MatrixView<const double>, MatrixView<const double>, std::span<double>) const {
  fail(MERCER_UNSUPPORTED, "the variance of map %s has no closed form", std::string(name()).c_str());
}

void FeatureMap::pseudo_variance(MatrixView<const double>, MatrixView<const double>, std::span<double>) const {
  fail(MERCER_UNSUPPORTED, "the pseudo-variance of map %s has no closed form", std::string(name()).c_str());
}

}  // namespace mercer::feature
