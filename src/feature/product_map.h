// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of products of kernels, from the maps of the parts.
#pragma once

#include <memory>

#include "feature/composed_map.h"

namespace mercer::feature {

/// form: that of the product. At least one part has it, the others have it or real columns.
std::unique_ptr<FeatureMap> make_product(const MapArguments& arguments, PartMaps maps,
                                         ColumnForm form);

}  // namespace mercer::feature
