// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "statistic/recommendation.h"

namespace mercer::spec {

std::vector<Field> recommend_fields();

struct Recommended {
  std::shared_ptr<const feature::FeatureMap> map;  // the first
  std::string answer;
};
/// Errors: INVALID_ARGUMENT naming key, value and what is allowed; those of statistic::recommend.
Recommended recommend(std::string_view json, MatrixView<const double> X, Context& context);

}  // namespace mercer::spec
