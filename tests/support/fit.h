// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits of rows by a plan, or of one map by options.
#pragma once

#include <span>
#include <utility>

#include "model/fit.h"

namespace mercer::test {

inline model::Model fit(const model::FitPlan& plan, const model::GivenMap& map, const Rows& X,
                        MatrixView<const double> Y, std::span<const double> weights,
                        Context& context, std::span<const double> groups = {}) {
  return model::fit(plan, {.map = map, .rows = {X, Y, weights, groups}}, context);
}
inline model::Model fit(const model::GivenMap& map, const model::FitOptions& asked, const Rows& X,
                        MatrixView<const double> Y, Context& context,
                        std::span<const double> weights = {}, std::span<const double> groups = {}) {
  return fit({.search = {.fit = asked}}, map, X, Y, weights, context, groups);
}

/// map: null, or has as many inputs.
inline model::Model fit_stream(const model::FitPlan& plan, const model::GivenMap& map,
                               model::RowStream& stream, int64_t inputs, int64_t targets,
                               Context& context) {
  return model::fit(plan, {.map = map, .source = &stream, .inputs = inputs, .targets = targets},
                    context);
}
inline model::Model fit_stream(const model::GivenMap& map, const model::FitOptions& asked,
                               model::RowStream& stream, int64_t targets, Context& context) {
  return fit_stream({.search = {.fit = asked}}, map, stream, map->inputs(), targets, context);
}

inline model::Model search(const model::PartialMap& maps, const model::SearchOptions& options,
                           const Rows& X, MatrixView<const double> Y, Context& context,
                           std::span<const double> weights = {},
                           std::span<const double> groups = {}) {
  return model::search(maps, options, {X, Y, weights, groups}, context);
}

}  // namespace mercer::test
