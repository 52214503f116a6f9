// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products of sums, multiplied out: the columns of a sum estimate its kernel only together, so they
// cannot be multiplied, but those of its parts can.
#pragma once

#include <memory>
#include <optional>

#include "feature/map_entry.h"

namespace mercer::feature {

/// Given canonical Parameters of a map "product": the map "sum", with the same seed, inputs and
/// features, of all products of one part of each sum inside, at every depth; nothing where there is
/// no sum inside. The share of features and the variance of each product are those of its factors,
/// multiplied. Errors: INVALID_ARGUMENT for more products than a sum may have parts.
std::optional<Parameters> expanded_product(const Parameters& canonical);

/// The map of `expanded` under the name and parameters that `arguments` say.
std::unique_ptr<FeatureMap> make_expanded_product(const MapArguments& arguments,
                                                  const Parameters& expanded);

}  // namespace mercer::feature
