// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Addition, subtraction and copies of statistics.
#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "solver/origin.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

void RowStatistics::accumulate(double sign, const RowStatistics& other) {
  require(other.features_ == features_ && other.outputs_ == outputs_, MERCER_DIMENSION_MISMATCH,
          "other has %ld features and %ld outputs, expected %ld and %ld", other.features_,
          other.outputs_, features_, outputs_);
  if (sign > 0) checked_add(rows_, other.rows_, "rows of statistics");
  require(sign > 0 || other.rows_ <= rows_, MERCER_INVALID_ARGUMENT,
          "subtract: other holds %ld rows, but only %ld are present", other.rows_, rows_);
  if (other.rows_ == 0) return;
  if (rows_ == 0) return copy_from(other);
  if (sign > 0 && weight_ == 0) {
    std::ranges::copy(other.origin_features(), parts().origin_features.begin());
    std::ranges::copy(other.origin_outputs(), parts().origin_outputs.begin());
  }
  heaviest_ = std::max(heaviest_, weight_);
  add_about_origin(sign, other, parts());
  if (nothing_left(sign)) return clear();
  if (sign < 0) keep_origin_near();
  clip_squares();
}

void RowStatistics::merge(const RowStatistics& other) { accumulate(1.0, other); }
void RowStatistics::subtract(const RowStatistics& other) { accumulate(-1.0, other); }
void RowStatistics::scale(double factor) {
  const Parts own = parts();
  own.weight *= factor;
  heaviest_ *= factor;
  for (int64_t i = 0; i < features_; ++i)
    for (int64_t j = 0; j <= i; ++j) own.gram(i, j) *= factor;
  for (int64_t k = 0; k < features_ * outputs_; ++k) cross_.data()[k] *= factor;
  for (const auto sums : {own.sum_features, own.sum_outputs, own.sum_squared_outputs})
    for (double& sum : sums) sum *= factor;
}

void RowStatistics::copy_from(const RowStatistics& other) {
  std::ranges::copy(other.sums_, sums_.begin());
  std::copy_n(other.cross_.data(), features_ * outputs_, cross_.data());
  for (int64_t i = 0; i < features_; ++i) std::copy_n(&other.gram_(i, 0), i + 1, &gram_(i, 0));
  complex_ = other.complex_;
  rows_ = other.rows_;
  weight_ = other.weight_;
  heaviest_ = std::max(other.heaviest_, other.weight_);
}

RowStatistics RowStatistics::clone() const {
  RowStatistics copy(features_, outputs_);
  copy.copy_from(*this);
  return copy;
}

RowStatistics RowStatistics::clone(Context& context) const {
  RowStatistics copy(features_, outputs_, context);
  copy.copy_from(*this);
  return copy;
}

}  // namespace mercer::solver
