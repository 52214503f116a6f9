// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/search/candidate_rows.h"

#include <array>

#include "base/error.h"
#include "model/fit_checks.h"
#include "model/map_from_rows.h"

namespace mercer::model {

Preparation divided_by(const Preparation& preparation, int64_t d,
                       std::span<const double> lengthscales) {
  require(lengthscales.size() == 1 || preparation.row_norm == 0, MERCER_UNSUPPORTED,
          "unit rows with a lengthscale for each input, which would change their norm");
  if (lengthscales.size() == 1) return preparation.divided_by(lengthscales[0], d);
  Preparation result = preparation.divided_by(1, d);
  for (size_t j = 0; j < result.scale.size(); ++j) result.scale[j] *= lengthscales[j];
  return result;
}

std::shared_ptr<const feature::FeatureMap> CandidateRows::make(
    const Preparation& preparation, std::span<const double> lengthscales, int64_t features,
    const std::vector<int64_t>& train) const {
  const double lengthscale = lengthscales.empty() ? 0.0 : lengthscales[0];
  std::shared_ptr<const feature::FeatureMap> map;
  if (maker_->needs_rows()) {
    const int64_t own = maker_->features_of(features, std::ssize(train));
    const int64_t sample = maker_->reads_all_rows() ? std::ssize(train) : own;
    const RowsForMap rows =
        rows_for_map(data_, preparation, coding_, train, sample, seed_, context_);
    map = maker_->make_from(lengthscale, own, rows.X.view(), rows.Y.view(), context_);
  } else {
    map = lengthscales.size() > 1 ? maker_->make_per_input(lengthscales, features)
                                  : maker_->make(lengthscale, features);
  }
  require(
      !map->is_complex(), MERCER_UNSUPPORTED,
      "a search of a complex map, expected \"search\": false, or a real one, such as form pair or "
      "phase, or field real or complex_to_real");
  check_inputs(map->inputs(), preparation.prepared(data_.X.cols()));
  check_row_norms(map->kernel(), preparation);
  return map;
}

const feature::FeatureMap& CandidateRows::unit(const Preparation& preparation, int64_t features) {
  if (map_ == nullptr || unit_features_ != features) {
    map_.reset();
    map_ = make(preparation, std::array{1.0}, features, {});
    unit_features_ = features;
  }
  return *map_;
}

const solver::BlockSource& CandidateRows::at(const Preparation& preparation,
                                             std::span<const double> lengthscales, int64_t features,
                                             const std::vector<int64_t>& train) {
  rows_.reset();
  if (maker_->scales_inputs()) {
    unit(preparation, features);
  } else {
    map_ = make(preparation, lengthscales, features, train);
  }
  const bool scales = !lengthscales.empty() && maker_->scales_inputs();
  inputs_ = scales ? divided_by(preparation, data_.X.cols(), lengthscales) : preparation;
  return rows_.emplace(*map_, inputs_, coding_, precision_, data_, train);
}

void CandidateRows::release() {
  rows_.reset();
  map_.reset();
  unit_features_ = 0;
}

}  // namespace mercer::model
