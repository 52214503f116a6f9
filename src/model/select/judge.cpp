// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/select/judge.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/blas.h"
#include "model/prepare/row_coding.h"
#include "model/rows/row_sets.h"
#include "statistic/metrics.h"

namespace mercer::model {
namespace {

constexpr double kSoftness = 0.1;  // width of the smooth step, in margins
// Rows left out: enough for a slope and an offset per class.
constexpr int64_t kMostScored = 5000;

}  // namespace

double margin(const double* scores, const double* code, int64_t classes) noexcept {
  double own = 0, other = -kInfinity;
  for (int64_t o = 0; o < classes; ++o) {
    if (std::isnan(scores[o])) return scores[o];  // std::max would ignore it
    if (code[o] == 1.0) {
      own = scores[o];
    } else {
      other = std::max(other, scores[o]);
    }
  }
  return own - other;
}

double soft_error(double margin) noexcept {
  return std::isnan(margin) ? 1.0 : 1.0 / (1.0 + std::exp(margin / kSoftness));
}

double Judge::loss(const double* scores, const double* code) const noexcept {
  if (classifies()) return soft_error(margin(scores, code, outputs_));
  double loss = 0;
  for (int64_t o = 0; o < outputs_; ++o) {
    const double error = std::isnan(code[o]) ? 0.0 : scores[o] - code[o];
    loss += scales_[o] * error * error;
  }
  return loss;
}

void Judge::take_scales(MatrixView<const double> Y, solver::RowSet rows,
                        std::span<const double> all) {
  const std::vector<double> weights = solver::numbers_of(all, rows);
  const auto weight = [&](int64_t i) { return weights.empty() ? 1.0 : weights[i]; };
  const double n = solver::total_weight(weights, rows.count);
  for (int64_t o = 0; o < outputs_; ++o) {
    double origin = 0, observed = 0, sum = 0, squares = 0;  // about the origin constants cancel
    for (int64_t i = 0; i < rows.count; ++i) {
      const double y = Y(rows[i], o);
      if (std::isnan(y)) continue;
      if (observed == 0) origin = y;
      observed += weight(i);
      sum += weight(i) * (y - origin);
    }
    for (int64_t i = 0; i < rows.count; ++i) {
      const double y = Y(rows[i], o);
      if (std::isnan(y)) continue;
      const double deviation = y - origin - sum / observed;
      squares += weight(i) * deviation * deviation;
    }
    varies_ = varies_ && squares > 0;
    // An output that is constant on these rows has no R^2: its error is not scaled.
    scales_[o] = (squares > 0 ? n / squares : 1.0) / static_cast<double>(outputs_);
  }
}

Judge::Judge(const TargetOptions& coding, MatrixView<const double> Y, solver::RowSet rows,
             std::span<const double> weights)
    : Judge(coding.task, coded_outputs(coding, Y.cols)) {
  if (classifies()) return;
  take_scales(Y, rows, weights);
  std::vector<Range> ranges;
  for (int64_t o = 0; o < Y.cols; ++o) {
    double lowest = kInfinity, highest = -lowest;
    for (int64_t i = 0; i < rows.count; ++i) {
      const double y = Y(rows[i], o);
      if (std::isnan(y)) continue;
      lowest = std::min(lowest, y);
      highest = std::max(highest, y);
    }
    ranges.push_back({lowest, lowest, highest, highest});
  }
  limits_ = target_limits(ranges, Link::identity);
}

Judge Judge::of(const Preparation& by, MatrixView<const double> Y) const {
  Judge judge = *this;
  if (by.targets.empty()) return judge;
  judge.by_ = &by;
  judge.Y_ = Y;
  return judge;
}

Judge Judge::on(solver::RowSet rows) const {
  Judge judge = *this;
  judge.rows_ = rows;
  return judge;
}

double Judge::loss(int64_t i, const double* scores, const double* code,
                   double* scratch) const noexcept {
  if (by_ == nullptr) return loss(scores, code);
  std::copy_n(scores, outputs_, scratch);
  const MatrixView<double> restored(scratch, 1, outputs_);
  by_->restore_targets(restored);
  limit_scores(limits_, restored);
  return loss(scratch, Y_.row(rows_[i]));
}

double Judge::score(double loss, double error_rate) const noexcept {
  if (classifies()) return error_rate;
  return varies_ ? loss : kNaN;
}

std::vector<HeldOutScore> score_rows(const solver::BlockSource& rows, Task task,
                                     std::span<const solver::Weights> weights, Context& context) {
  const int64_t outputs = weights[0].outputs();
  const Judge squares(Task::regression, outputs);
  std::vector<double> squared(weights.size(), 0.0), wrong(weights.size(), 0.0);
  double all = 0;
  for_each_scored(rows, weights, context,
                  [&](int64_t, const double* code, double weight, const double* scores) {
                    if (weight == 0) return;  // it may hold anything
                    all += weight;
                    for (size_t k = 0; k < squared.size(); ++k, scores += outputs) {
                      squared[k] += weight * squares.loss(scores, code);
                      if (task == Task::classification && squares.wrong(scores, code))
                        wrong[k] += weight;
                    }
                  });
  solver::reduce(rows, {&all, 1});
  solver::reduce(rows, squared);
  solver::reduce(rows, wrong);
  std::vector<HeldOutScore> result;
  for (size_t k = 0; k < squared.size(); ++k)
    result.push_back({all, squared[k] / all, wrong[k] / all});
  return result;
}

ScoredRows score_all(const solver::BlockSource& rows, const Scoring& scoring, Context& context) {
  ScoredRows all{Matrix<double>(rows.rows(), rows.outputs(), context, "scores"),
                 Matrix<double>(rows.rows(), rows.outputs(), context, "targets"),
                 {},
                 rows.reduction()};
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    const int64_t last = block.first + block.Z.rows;
    solver::copy_rows(block.Y, all.targets.view().block_rows(block.first, last));
    for (int64_t i = 0; i < block.Z.rows; ++i) all.weights.push_back(block.weight(i));
    scoring(block.Z, all.scores.view().block_rows(block.first, last));
  });
  return all;
}

ScoredRows score_all(const solver::BlockSource& rows, const solver::Weights& weights,
                     Context& context) {
  const auto linear = [&](MatrixView<const double> Z, MatrixView<double> scores) {
    solver::linear_scores(weights, Z, scores);
  };
  return score_all(rows, linear, context);
}

std::vector<double> row_losses(const solver::LossOptions& options, const ScoredRows& rows) {
  const int64_t outputs = rows.scores.cols();
  const int64_t columns = solver::loss_columns(*options.loss, outputs);
  const auto count = static_cast<size_t>(columns);
  const Matrix<double> S(rows.scores.rows(), columns);
  const MatrixView<const double> Y = rows.targets.view().block_cols(outputs - columns, outputs);
  for (int64_t i = 0; i < S.rows(); ++i) {
    const double* scores = rows.scores.view().row(i);
    std::copy_n(scores, count, S.view().row(i));
    if (columns < outputs) S(i, 0) = scores[1] - scores[0];
  }
  std::vector<double> losses;
  if (options.loss->by_scores) {
    for (const auto& one : losses_by_scores(*options.parameters.scores, S.view(), Y, rows.weights))
      losses.push_back(one.value);
    return losses;
  }
  for (int64_t i = 0; i < S.rows(); ++i) {
    const std::span<double> s(S.view().row(i), count);
    losses.push_back(loss_of_row(*options.loss, s, {Y.row(i), count}, options.parameters, s).value);
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
          "the weights of the rows held out with a target sum to %g, expected a positive number",
          sums[1]);
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

solver::LeftOutRow scores_left_out(int64_t outputs, int64_t sets, ScoredRow body) {
  return [outputs, body = std::move(body), scores = std::vector<double>(outputs * sets)](
             int64_t row, const double* code, double weight, const double* residuals) mutable {
    for (size_t k = 0; k < scores.size(); ++k)
      scores[k] = code[static_cast<int64_t>(k) % outputs] - residuals[k];
    body(row, code, weight, scores.data());
  };
}

solver::Weights LeftOutScores::solve(const solver::BlockSource& rows,
                                     const solver::RidgeProblem& problem,
                                     solver::RidgeSystem& system, double lambda) {
  const bool all = !solver::is_primal(rows, problem);
  const std::vector<int64_t> sample =
      all ? all_rows(rows.rows()) : sample_rows(rows.rows(), kMostScored, seed_);
  const int64_t n = std::ssize(sample), outputs = rows.outputs();
  scored_ = {Matrix<double>(n, outputs, context_, "scores"),
             Matrix<double>(n, outputs, context_, "targets"), std::vector<double>(sample.size()),
             rows.reduction()};
  const auto add = [&](int64_t row, const double* code, double weight, const double* residuals) {
    bool known = true;
    for (int64_t o = 0; o < outputs; ++o) {
      known = known && std::isfinite(residuals[o]);
      scored_.scores(row, o) = known ? code[o] - residuals[o] : 0.0;
      scored_.targets(row, o) = code[o];
    }
    scored_.weights[row] = known ? weight : 0.0;
  };
  return (all ? system.solve_leaving_out(rows, lambda, context_, add)
              : system.solve_leaving_out(*rows.subset(sample), lambda, context_, add))
      .weights;
}

}  // namespace mercer::model
