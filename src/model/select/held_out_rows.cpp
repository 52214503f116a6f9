// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/select/held_out_rows.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "linalg/blas.h"
#include "statistic/metrics.h"

namespace mercer::model {

ScoredRows score_all(const solver::BlockSource& rows, const Scoring& scoring, Context& context) {
  ScoredRows all{Matrix<double>(rows.rows(), rows.outputs(), context, "scores"),
                 Matrix<double>(rows.rows(), rows.outputs(), context, "targets"),
                 {},
                 rows.reduction()};
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    for (int64_t i = 0; i < block.Z.rows; ++i) {
      std::copy_n(block.Y.row(i), block.Y.cols, all.targets.view().row(block.first + i));
      all.weights.push_back(block.weight(i));
    }
    scoring(block.Z, all.scores.view().block_rows(block.first, block.first + block.Z.rows));
  });
  return all;
}

ScoredRows score_all(const solver::BlockSource& rows, const solver::Weights& weights,
                     Context& context) {
  const auto linear = [&](MatrixView<const double> Z, MatrixView<double> scores) {
    for (int64_t i = 0; i < scores.rows; ++i) std::ranges::copy(weights.intercept, scores.row(i));
    linalg::multiply(1.0, linalg::Transpose::no, Z, linalg::Transpose::no, weights.w.view(), 1.0,
                     scores);
  };
  return score_all(rows, linear, context);
}

std::vector<double> row_losses(const solver::LossOptions& options, const ScoredRows& rows) {
  const int64_t outputs = rows.scores.cols();
  const int64_t columns = solver::loss_columns(*options.loss, outputs);
  const auto count = static_cast<size_t>(columns);
  std::vector<double> losses, s(count), slope(count);
  for (int64_t i = 0; i < rows.scores.rows(); ++i) {
    const double* scores = rows.scores.view().row(i);
    std::copy_n(scores, count, s.begin());
    if (columns < outputs) s[0] = scores[1] - scores[0];
    const double* targets = rows.targets.view().row(i) + (outputs - columns);
    losses.push_back(options.loss->at(s, {targets, count}, options.parameters, slope).value);
  }
  return losses;
}

ScoredRows joined(const std::vector<ScoredRows>& parts, Context& context) {
  int64_t rows = 0;
  for (const ScoredRows& part : parts) rows += part.scores.rows();
  const int64_t outputs = parts[0].scores.cols();
  ScoredRows all{Matrix<double>(rows, outputs, context, "scores"),
                 Matrix<double>(rows, outputs, context, "targets"),
                 {},
                 parts[0].reduction};
  int64_t first = 0;
  for (const ScoredRows& part : parts) {
    const int64_t count = part.scores.rows() * outputs;
    std::copy_n(part.scores.data(), count, all.scores.data() + first);
    std::copy_n(part.targets.data(), count, all.targets.data() + first);
    all.weights.insert(all.weights.end(), part.weights.begin(), part.weights.end());
    first += count;
  }
  return all;
}

std::vector<double> log_losses(const ScoredRows& rows, const Calibration& calibration) {
  std::vector<double> losses, p(rows.scores.cols());
  for (int64_t i = 0; i < rows.scores.rows(); ++i) {
    std::copy_n(rows.scores.view().row(i), p.size(), p.begin());
    calibration.apply({p.data(), 1, rows.scores.cols()});
    losses.push_back(0);
    for (size_t k = 0; k < p.size(); ++k)
      if (rows.targets(i, static_cast<int64_t>(k)) == 1)
        losses.back() -= std::log(std::max(p[k], 1e-15));
  }
  return losses;
}

double weighted_mean(std::span<const double> x, std::span<const double> weights,
                     solver::Reduction* reduction) {
  double sums[2] = {};
  for (size_t i = 0; i < x.size(); ++i) {
    if (weights[i] == 0) continue;  // the row may hold anything
    sums[0] += weights[i] * x[i];
    sums[1] += weights[i];
  }
  if (reduction != nullptr) reduction->sum(sums);
  require(sums[1] > 0, MERCER_INVALID_ARGUMENT,
          "the weights of the rows held out sum to %g, expected a positive number", sums[1]);
  return sums[0] / sums[1];
}

double error_rate(const ScoredRows& rows) {
  double sums[2] = {};  // weights of errors, of all rows
  for (int64_t i = 0; i < rows.scores.rows(); ++i) {
    const double weight = rows.weights[i];
    const int64_t found =
        statistic::class_of({rows.scores.view().row(i), static_cast<size_t>(rows.scores.cols())});
    sums[0] += found != statistic::kNoClass && rows.targets(i, found) == 1 ? 0 : weight;
    sums[1] += weight;
  }
  if (rows.reduction != nullptr) rows.reduction->sum(sums);
  return sums[0] / sums[1];
}

Calibration fit_calibration(const ScoredRows& rows, Context& context, Prior prior) {
  return fit_calibration(rows.scores.view(), rows.targets.view(), rows.weights, context,
                         rows.reduction, prior);
}

}  // namespace mercer::model
