// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/candidate_rows.h"

#include "model/fit_checks.h"
#include "model/map_from_rows.h"

namespace mercer::model {
Standardizer divided_by(const Standardizer& standardizer, int64_t d,
                        std::span<const double> lengthscales) {
  Standardizer result = standardizer;
  if (result.mean.empty()) {
    const auto inputs = static_cast<size_t>(d);
    result = {std::vector<double>(inputs, 0.0), std::vector<double>(inputs, 1.0)};
  }
  for (size_t j = 0; j < result.scale.size(); ++j)
    result.scale[j] *= lengthscales[lengthscales.size() == 1 ? 0 : j];
  return result;
}

std::shared_ptr<const feature::FeatureMap> CandidateRows::make(
    double lengthscale, int64_t features, const std::vector<int64_t>& train) const {
  std::shared_ptr<const feature::FeatureMap> map;
  if (maker_.needs_rows()) {
    const Matrix<double> rows =
        rows_for_map(X_, standardizer_, train, features, options_.seed, context_);
    map = maker_.make_from(lengthscale, features, rows.view(), context_);
  } else {
    map = maker_.make(lengthscale, features);
  }
  check_map(*map, X_.cols());
  return map;
}

const solver::BlockSource& CandidateRows::at(double lengthscale, int64_t features,
                                             const std::vector<int64_t>& train) {
  rows_.reset();
  if (maker_.needs_rows()) {
    map_ = make(lengthscale, features, train);
  } else if (map_ == nullptr || unit_features_ != features) {
    map_.reset();
    map_ = make(1.0, features, train);
    unit_features_ = features;
  }
  const bool scales = maker_.has_lengthscale() && !maker_.needs_rows();
  inputs_ = scales ? divided_by(standardizer_, X_.cols(), {&lengthscale, 1}) : standardizer_;
  return rows_.emplace(*map_, inputs_, options_, X_, Y_);
}

void CandidateRows::release() {
  rows_.reset();
  map_.reset();
}

}  // namespace mercer::model
