// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/select/left_out_scores.h"

#include <cmath>

#include "model/rows/row_sets.h"

namespace mercer::model {
namespace {

// Enough for a slope and an offset per class.
constexpr int64_t kMostScored = 5000;

}  // namespace

std::vector<int64_t> LeftOutScores::prepare(const solver::BlockSource& rows, int64_t most) {
  std::vector<int64_t> sample = sample_rows(all_rows(rows.rows()), most, seed_);
  const int64_t n = std::ssize(sample), outputs = rows.outputs();
  scored_ = {Matrix<double>(n, outputs, context_, "scores"),
             Matrix<double>(n, outputs, context_, "targets"), std::vector<double>(sample.size()),
             rows.reduction()};
  return sample;
}

LeftOutRow LeftOutScores::adding() {
  return [this](int64_t row, const double* code, double weight, const double* residuals) {
    bool known = true;
    for (int64_t o = 0; o < scored_.scores.cols(); ++o) {
      known = known && std::isfinite(residuals[o]);
      scored_.scores(row, o) = known ? code[o] - residuals[o] : 0.0;
      scored_.targets(row, o) = code[o];
    }
    scored_.weights[row] = known ? weight : 0.0;
  };
}

void LeftOutScores::take(const solver::BlockSource& rows, const solver::RidgePath& path,
                         double lambda) {
  const std::vector<int64_t> sample = prepare(rows, kMostScored);
  for_each_left_out(*rows.subset(sample), path, {&lambda, 1}, context_, adding());
}

void LeftOutScores::take(const solver::BlockSource& rows, const solver::CoupledPath& path,
                         double lambda) {
  prepare(rows, rows.rows());
  for_each_left_out(rows, path, {&lambda, 1}, context_, adding());
}

void LeftOutScores::take(const solver::BlockSource& rows, const solver::RidgeFactor& factor,
                         const solver::Weights& weights) {
  const std::vector<int64_t> sample = prepare(rows, kMostScored);
  for_each_left_out(*rows.subset(sample), factor, weights, context_, adding());
}

void LeftOutScores::take(const solver::DualSystem& system, const Matrix<double>& residuals) {
  const int64_t n = system.rows(), outputs = system.outputs();
  scored_ = {Matrix<double>(n, outputs, context_, "scores"),
             Matrix<double>(n, outputs, context_, "targets"), std::vector<double>(n), nullptr};
  const LeftOutRow add = adding();
  for (int64_t i = 0; i < n; ++i)
    add(i, system.targets().row(i), system.weight_of(i), residuals.view().row(i));
}

}  // namespace mercer::model
