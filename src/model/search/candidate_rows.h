// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The rows of a search, mapped with many lengthscales.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/rows/feature_rows.h"
#include "model/search/map_maker.h"

namespace mercer::model {

class CandidateRows {
 public:
  /// References are kept.
  CandidateRows(const MapMaker& maker, const Coding& coding, feature::Precision precision,
                uint64_t seed, const TargetedRows& rows, Context& context)
      : maker_(&maker),
        coding_(coding),
        precision_(precision),
        seed_(seed),
        data_(rows),
        context_(context) {}

  /// All rows, prepared and mapped with `features` at one lengthscale, one for each input, or none.
  /// A map that is made from rows is made from `train`; other maps are one map of lengthscale 1,
  /// applied to x_j / lengthscale. Valid until the next call.
  const solver::BlockSource& at(const Preparation& preparation,
                                std::span<const double> lengthscales, int64_t features,
                                const std::vector<int64_t>& train);
  /// The shared map of lengthscale 1. Valid until a call with another number of features.
  const feature::FeatureMap& unit(const Preparation& preparation, int64_t features);
  /// The candidate's own map, for rows that are standardised but not divided by lengthscales.
  std::shared_ptr<const feature::FeatureMap> make(const Preparation& preparation,
                                                  std::span<const double> lengthscales,
                                                  int64_t features,
                                                  const std::vector<int64_t>& train) const;
  /// The map of the last candidate.
  const feature::FeatureMap& map() const { return *map_; }
  /// Switches to candidates of another maker.
  void use(const MapMaker& maker) {
    if (maker_ == &maker) return;
    maker_ = &maker;
    release();
  }
  /// Frees the last map and its draws.
  void release();

 private:
  const MapMaker* maker_;
  Coding coding_;
  feature::Precision precision_;
  uint64_t seed_;
  TargetedRows data_;
  Context& context_;
  std::shared_ptr<const feature::FeatureMap> map_;
  int64_t unit_features_ = 0;  // of map_, if it has lengthscale 1
  Preparation inputs_;
  std::optional<FeatureRows> rows_;
};

/// The preparation with (x - mean) / (scale lengthscales[j]) for d inputs; lengthscales: one for
/// all inputs or one for each.
Preparation divided_by(const Preparation& preparation, int64_t d,
                       std::span<const double> lengthscales);

}  // namespace mercer::model
