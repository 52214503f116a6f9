// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/block_statistics.h"

#include <cmath>

#include "base/error.h"

namespace mercer::solver {

void add_blocks(const BlockSource& source, RowStatistics& statistics, Context& context,
                const RowsDone& done) {
  if (source.is_complex()) statistics.set_complex();
  if (source.add_to(statistics, context, done, {})) return require_finite_features(statistics);
  source.for_each(context, [&](const FeatureBlock& block) {
    block.visit([&](auto Z) { statistics.add(Z, block.Y, context, block.weights); });
    if (done) done(block.rows());
  });
  require_finite_features(statistics);
}

void require_finite_features(const RowStatistics& statistics) {
  for (int64_t j = 0; j < statistics.features(); ++j) {
    require(std::isfinite(statistics.gram()(j, j)), MERCER_INVALID_ARGUMENT, kFeaturesNotFinite);
  }
}

void remove_blocks(const BlockSource& source, RowStatistics& statistics, Context& context,
                   const RowsDone& done) {
  source.for_each(context, [&](const FeatureBlock& block) {
    block.visit([&](auto Z) { statistics.remove(Z, block.Y, context, block.weights); });
    if (done) done(block.rows());
  });
}

RowStatistics take_reduced(const BlockSource& source, RowStatistics&& statistics) {
  if (source.reduction() != nullptr) all_reduce(statistics, *source.reduction());
  return std::move(statistics);
}

}  // namespace mercer::solver
