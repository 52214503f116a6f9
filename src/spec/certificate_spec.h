// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What mercer_map_certify reads and answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.h"
#include "feature/feature_map.h"

namespace mercer::spec {

std::vector<Field> certificate_fields();

/// The request with what was found, as JSON.
std::string certify(std::string_view json, const feature::FeatureMap& map,
                    MatrixView<const double> X, Context& context);

}  // namespace mercer::spec
