// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps that a fit makes itself, from its rows as the map will see them: standardised; and from
// their targets, of classes one-hot codes, where the map learns from them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "feature/feature_map.h"
#include "model/model.h"
#include "model/prepare/coding.h"
#include "model/prepare/found.h"
#include "model/prepare/prepared_rows.h"
#include "model/rows/targeted_rows.h"

namespace mercer::model {

struct MapFromRows {
  int64_t inputs;
  int64_t features;
  std::function<std::shared_ptr<const feature::FeatureMap>(
      const Rows& standardised, const MatrixView<const double>& targets, Context&)>
      make;
  std::optional<InputDomain> domain = {};  // of its kernel
};

/// Of the rows `from` those that a map of so many features is made from: all up to 10,000 (or
/// `features`, if more), else as many of them, chosen by seed.
struct RowsForMap {
  PreparedRows X;
  Matrix<double> Y;  // coded
};
RowsForMap rows_for_map(const TargetedRows& rows, const Preparation& preparation,
                        const Coding& coding, const std::vector<int64_t>& from, int64_t features,
                        uint64_t seed, Context& context);

/// As fit of a given map, with one that is made from X; so a standardised model has the map that
/// standardised rows by themselves would give. Errors: those of `make` as well.
Model fit(const MapFromRows& map, const Fitting& asked, const Rows& X, MatrixView<const double> Y,
          Context& context, std::span<const double> weights = {},
          std::span<const double> groups = {});

}  // namespace mercer::model
