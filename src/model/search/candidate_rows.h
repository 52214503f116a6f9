// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of a search under maps of many lengthscales.
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

  /// All rows prepared and mapped with `features` at one lengthscale, or one for each input (none for
  /// a kernel without one). A map that is made from rows is made from those of `train`; all others
  /// share the draws of one of lengthscale 1, which x_j / lengthscale goes through. Valid until the
  /// next one.
  const solver::BlockSource& at(const Preparation& preparation,
                                std::span<const double> lengthscales, int64_t features,
                                const std::vector<int64_t>& train);
  /// The map of lengthscale 1 whose draws are shared. Valid until a call for other features.
  const feature::FeatureMap& unit(const Preparation& preparation, int64_t features);
  /// The same map by itself, of rows that are standardised only.
  std::shared_ptr<const feature::FeatureMap> make(const Preparation& preparation,
                                                  std::span<const double> lengthscales,
                                                  int64_t features,
                                                  const std::vector<int64_t>& train) const;
  /// The map of the last candidate.
  const feature::FeatureMap& map() const { return *map_; }
  /// Candidates of another maker from now on.
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
  int64_t unit_features_ = 0;  // of map_, where it has lengthscale 1
  Preparation inputs_;
  std::optional<FeatureRows> rows_;
};

/// (x - mean) / (scale lengthscales[j]) of d inputs: standardised rows in units of lengthscales,
/// one for all inputs or one for each.
Preparation divided_by(const Preparation& preparation, int64_t d,
                       std::span<const double> lengthscales);

}  // namespace mercer::model
