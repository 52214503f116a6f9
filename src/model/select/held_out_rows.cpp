// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/select/held_out_rows.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/blas.h"
#include "model/rows/feature_rows.h"
#include "model/rows/row_sets.h"
#include "statistic/metrics.h"

namespace mercer::model {
namespace {

constexpr double kSoftness = 0.1;  // width of the smooth step, in margins

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

double RowLoss::operator()(const double* scores, const double* code) const noexcept {
  const auto outputs = static_cast<int64_t>(scale_.size());
  if (task_ == Task::classification) return soft_error(margin(scores, code, outputs));
  double loss = 0;
  for (int64_t o = 0; o < outputs; ++o) {
    const double error = std::isnan(code[o]) ? 0.0 : scores[o] - code[o];
    loss += scale_[o] * error * error;
  }
  return loss;
}

RowLoss plain_loss(Task task, int64_t outputs) { return {task, std::vector<double>(outputs, 1.0)}; }

std::vector<HeldOutScore> score_rows(const solver::BlockSource& rows, Task task,
                                     std::span<const solver::Weights> weights, Context& context) {
  const int64_t outputs = weights[0].w.cols();
  const RowLoss squares = plain_loss(Task::regression, outputs);
  std::vector<double> squared(weights.size(), 0.0), wrong(weights.size(), 0.0);
  double all = 0;
  for_each_scored(rows, weights, context,
                  [&](int64_t, const double* code, double weight, const double* scores) {
                    if (weight == 0) return;  // it may hold anything
                    all += weight;
                    for (size_t k = 0; k < squared.size(); ++k, scores += outputs) {
                      squared[k] += weight * squares(scores, code);
                      if (task == Task::classification && !(margin(scores, code, outputs) > 0))
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

// Processes few rows at a time, so that lambdas times classes times rows stay bounded.

namespace {

constexpr int64_t kScoredNumbers = int64_t{1} << 21;  // residuals of a chunk

int64_t rows_of_chunk(std::span<const double> lambdas, int64_t outputs) {
  return std::max<int64_t>(1, kScoredNumbers / std::max<int64_t>(1, std::ssize(lambdas) * outputs));
}

/// leave_out: computes the residuals of a block.
template <class LeaveOut>
void for_each_chunk(const solver::BlockSource& rows, std::span<const double> lambdas,
                    Context& context, const LeftOutRow& body, const solver::RowsDone& done,
                    const LeaveOut& leave_out) {
  const int64_t size = rows_of_chunk(lambdas, rows.outputs());
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    for (int64_t first = 0; first < block.Z.rows; first += size) {
      const int64_t last = std::min(first + size, block.Z.rows);
      const auto weights =
          block.weights.empty() ? block.weights : block.weights.subspan(first, last - first);
      const solver::WideBlock chunk{block.first + first, block.Z.block_rows(first, last),
                                    block.Y.block_rows(first, last), weights};
      const Matrix<double> residuals = leave_out(chunk);
      for (int64_t i = 0; i < chunk.Z.rows; ++i)
        body(chunk.first + i, chunk.Y.row(i), chunk.weight(i), residuals.view().row(i));
    }
    if (done) done(block.Z.rows);
  });
}

}  // namespace

void for_each_left_out(const solver::BlockSource& rows, const solver::RidgePath& path,
                       std::span<const double> lambdas, Context& context, const LeftOutRow& body,
                       const solver::RowsDone& done) {
  for_each_chunk(rows, lambdas, context, body, done, [&](const solver::WideBlock& chunk) {
    return path.leave_one_out(lambdas, chunk.Z, chunk.Y, context, chunk.weights);
  });
}

void for_each_left_out(const solver::BlockSource& rows, const solver::CoupledPath& path,
                       std::span<const double> lambdas, Context& context, const LeftOutRow& body,
                       const solver::RowsDone& done) {
  for_each_chunk(rows, lambdas, context, body, done, [&](const solver::WideBlock& chunk) {
    return path.leave_one_out(lambdas, chunk, context);
  });
}

void for_each_left_out(const solver::BlockSource& rows, const solver::RidgeFactor& factor,
                       const solver::Weights& weights, Context& context, const LeftOutRow& body) {
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    const Matrix<double> residuals =
        factor.leave_one_out(weights, block.Z, block.Y, context, block.weights);
    for (int64_t i = 0; i < block.Z.rows; ++i)
      body(block.first + i, block.Y.row(i), block.weight(i), residuals.view().row(i));
  });
}

void for_each_left_out(const solver::DualSystem& system, std::span<const double> lambdas,
                       Context& context, const LeftOutRow& body) {
  const int64_t size = rows_of_chunk(lambdas, system.outputs());
  for (int64_t first = 0; first < system.rows(); first += size) {
    const int64_t last = std::min(first + size, system.rows());
    const Matrix<double> residuals = system.leave_one_out(lambdas, first, last, context);
    for (int64_t i = first; i < last; ++i)
      body(i, system.targets().row(i), system.weight_of(i), residuals.view().row(i - first));
    context.checkpoint();
  }
}

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

// Keeps second moments of all pairs instead of every row's losses. The error of a difference that
// is 1e-6 of the losses keeps four digits.

namespace {

// A huge loss in one row has a standard error as large as its excess, so the error alone would not
// exclude it.
constexpr double kMostExcess = 1;  // of the least loss

}  // namespace

PairedLosses::PairedLosses(int64_t candidates)
    : sums_(static_cast<size_t>(candidates), 0.0),
      weighted_sums_(candidates, 0.0),
      products_(candidates, candidates) {
  products_.fill(0);
}

void PairedLosses::add(const double* losses, double weight) {
  if (weight == 0) return;
  const double square = weight * weight;
  counts_[0] += 1;
  counts_[1] += weight;
  counts_[2] += square;
  for (int64_t a = 0; a < candidates(); ++a) {
    sums_[a] += weight * losses[a];
    weighted_sums_[a] += square * losses[a];
    const double factor = square * losses[a];
    double* const row = products_.view().row(a);
    for (int64_t b = 0; b <= a; ++b) row[b] += factor * losses[b];
  }
}

void PairedLosses::reduce(const solver::BlockSource& rows) {
  solver::reduce(rows, counts_);
  solver::reduce(rows, sums_);
  solver::reduce(rows, weighted_sums_);
  solver::reduce(rows, {products_.data(), sums_.size() * sums_.size()});
}

double PairedLosses::mean(int64_t k) const { return sums_[k] / counts_[1]; }

double PairedLosses::error_of_difference(int64_t a, int64_t b) const {
  const double n = counts_[0], weight = counts_[1];
  if (n < 2) return kInfinity;
  const double mean_difference = mean(a) - mean(b);
  const double first = weighted_sums_[a] - weighted_sums_[b];
  const double second =
      products_(a, a) - 2 * products_(std::max(a, b), std::min(a, b)) + products_(b, b);
  const double squares = second - mean_difference * (2 * first - mean_difference * counts_[2]);
  return std::sqrt(std::max(squares, 0.0) * n / (n - 1)) / weight;
}

int64_t least_loss(const PairedLosses& losses) {
  int64_t best = 0;
  for (int64_t k = 1; k < losses.candidates(); ++k) {
    const double old = losses.mean(best);
    if (losses.mean(k) < old || (!std::isfinite(old) && std::isfinite(losses.mean(k)))) best = k;
  }
  return best;
}

int64_t paired_choice(const PairedLosses& losses, std::span<const double> dimensions) {
  const int64_t best = least_loss(losses);
  const auto dimension = [&](int64_t k) { return dimensions[k]; };
  const double least = losses.mean(best);
  const double bound = least > 0 ? kMostExcess * least : kInfinity;
  int64_t chosen = best;
  for (int64_t k = 0; k < losses.candidates(); ++k) {
    const double excess = losses.mean(k) - losses.mean(best);
    if (!(excess <= losses.error_of_difference(k, best)) || excess > bound) continue;
    if (dimension(k) < dimension(chosen)) chosen = k;
  }
  return chosen;
}

}  // namespace mercer::model
