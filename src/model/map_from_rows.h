// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps that a fit makes from its standardised rows, and from their targets (one-hot codes for
// classes) if the map learns from them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "feature/feature_map.h"
#include "model/model.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/preparation.h"
#include "model/prepare/row_coding.h"
#include "model/rows/row_sets.h"

namespace mercer::model {

struct MapFromRows {
  int64_t inputs;
  int64_t features;
  std::function<std::shared_ptr<const feature::FeatureMap>(
      const Rows& standardised, const MatrixView<const double>& targets, Context&)>
      make;
  std::optional<InputDomain> domain = {};  // of the map's kernel
  bool reads_all_rows = false;             // where a sample would not do
  bool keeps_all_rows = false;             // a feature for each row, also for one of weight 0
};

/// The rows that a map is made from: all of `from`, or a seeded sample of max(10,000, sample).
struct RowsForMap {
  PreparedRows X;
  Matrix<double> Y;  // coded
};
RowsForMap rows_for_map(const TargetedRows& rows, const Preparation& preparation,
                        const Coding& coding, const std::vector<int64_t>& from, int64_t sample,
                        uint64_t seed, Context& context);

/// fit (model.h) with a map made from the standardised rows of X. Errors: also those of `make`.
Model fit(const MapFromRows& map, const Fitting& asked, const Rows& X, MatrixView<const double> Y,
          Context& context, std::span<const double> weights = {},
          std::span<const double> groups = {});

}  // namespace mercer::model
