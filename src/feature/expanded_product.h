// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products of sums as sums of products: the columns of a sum estimate its kernel together, not one
// by one, so that they cannot be multiplied; those of its parts can.
#pragma once

#include <memory>
#include <optional>

#include "feature/map_entry.h"

namespace mercer::feature {

/// Of canonical Parameters of a map "product": the map "sum", with the same seed, inputs and
/// features, of the products of one part of each sum inside, at every depth; none where there is no
/// sum. A product has the share of the features, and the variance, that its factors leave it.
/// Errors: INVALID_ARGUMENT for more products than a sum may have parts.
std::optional<Parameters> expanded_product(const Parameters& canonical);

/// The map of these, which says of itself what `arguments` say.
std::unique_ptr<FeatureMap> make_expanded_product(const MapArguments& arguments,
                                                  const Parameters& expanded);

}  // namespace mercer::feature
