// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Questions in JSON that are answered in JSON: certificates of a map, which map suits rows, bounds,
// the self-test.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/parameters.h"
#include "feature/feature_map.h"
#include "statistic/recommendation.h"

namespace mercer::spec {

// What mercer_map_certify reads and answers.

std::vector<Field> certificate_fields();

/// The request with what was found, as JSON.
std::string certify(std::string_view json, const feature::FeatureMap& map,
                    MatrixView<const double> X, Context& context);

std::vector<Field> recommend_fields();

struct Recommendation {
  std::shared_ptr<const feature::FeatureMap> map;  // the first
  std::string answer;
};
/// Errors: INVALID_ARGUMENT naming key, value and what is allowed; those of statistic::recommend.
Recommendation recommend(std::string_view json, MatrixView<const double> X, Context& context);

/// The report of mercer/self_test.h. Errors: CANCELLED, OUT_OF_MEMORY.
std::string self_test(Context& context);

/// A bound's canonical spec with its answers. Errors: INVALID_ARGUMENT naming key, value and what is
/// allowed, or an answer beyond the range of double; UNSUPPORTED where no theorem applies.
std::string answer_bound(std::string_view json);

}  // namespace mercer::spec
