// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exponentials of a row of P, divided by the largest of them.
#pragma once

#include <memory>

#include "feature/feature_map.h"

namespace mercer::feature {

/// Z_ij = scale exp(P_ij - m_i), m_i the largest of the row, P the features of `exponents`;
/// `hyperbolic`: [exp(P - m) | exp(-P - m)]. Ratios within a row are those of exp(P), and its
/// largest column is `scale`. `like`: the map of the same columns without the division; name,
/// kernel and parameters are its own, except for "stabilize".
std::unique_ptr<FeatureMap> make_stabilized(std::unique_ptr<const FeatureMap> exponents,
                                            std::unique_ptr<const FeatureMap> like, double scale,
                                            bool hyperbolic);

}  // namespace mercer::feature
