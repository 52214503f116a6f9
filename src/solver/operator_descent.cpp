// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// theta_t = theta_{t-1} - gamma_t (blocks / N sum over block i_t of Phi(x_i) slope_i + lambda
// theta_{t-1}), and the mean of the later half (Polyak, Juditsky 1992; step lengths as in Xu 2011
// with a = lambda and c = 3/4, but gamma_0 from the curvature in the place of trials).
#include "solver/operator_descent.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::solver {
namespace {

using Long = long long;

constexpr int64_t kProbedBlocks = 16, kPowerIterations = 30;
constexpr int64_t kUnits = 1000;  // of progress
constexpr const char* kWhat = "averaged gradients";

class Descent {
 public:
  Descent(const OperatorObjective& objective, const DescentOptions& options, Context& context,
          std::span<double> theta)
      : objective_(objective),
        options_(options),
        context_(context),
        theta_(theta),
        size_(std::min(options.block_rows, rows().rows())),
        blocks_((rows().rows() + size_ - 1) / size_),
        scores_(size_, rows().outputs(), context, kWhat),
        vectors_(2, rows().coefficients(), context, kWhat),
        stage_(context, kUnits) {}

  DescentResult run() {
    DescentResult result;
    result.first_step = options_.first_step > 0 ? options_.first_step : step_by_rule();
    std::ranges::fill(mean_, 0.0);
    std::vector<int64_t> order(static_cast<std::size_t>(blocks_));
    int64_t averaged = 0;
    for (int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
      random::Cursor cursor({options_.seed, random::Tag::sample, static_cast<uint64_t>(epoch)});
      random::permutation(cursor, order);
      for (const int64_t block : order) {
        take_step(block, result.first_step, result.steps++);
        pass(1);
        if (2 * epoch < options_.epochs - 1) continue;
        ++averaged;
        for (std::size_t j = 0; j < mean_.size(); ++j)
          mean_[j] += (theta_[j] - mean_[j]) / static_cast<double>(averaged);
      }
    }
    std::ranges::copy(mean_, theta_.begin());
    result.value = objective_(theta_, gradient_, context_);
    require(std::isfinite(result.value), MERCER_NOT_CONVERGED,
            "f = %g after %lld steps from step length %g, expected a finite value: the step is too "
            "long",
            result.value, static_cast<Long>(result.steps), result.first_step);
    return result;
  }

 private:
  const OperatorRows& rows() const { return objective_.rows(); }
  int64_t first_of(int64_t block) const { return block * size_; }
  MatrixView<double> scores_of(int64_t block) const {
    return scores_.view().block_rows(0, std::min(size_, rows().rows() - first_of(block)));
  }

  /// Of the curvature's products, each as much as a step, of the steps, and of all rows at the end.
  void pass(int64_t steps) {
    passed_ += static_cast<double>(steps);
    const double probes =
        options_.first_step > 0 ? 0 : static_cast<double>(probed() * kPowerIterations);
    const double all = probes + static_cast<double>(options_.epochs) * static_cast<double>(blocks_);
    stage_.reach(passed_ / (all + static_cast<double>(blocks_)));
  }

  int64_t probed() const { return std::min(kProbedBlocks, blocks_); }

  void take_step(int64_t block, double first_step, int64_t t) {
    context_.checkpoint();
    const MatrixView<double> S = scores_of(block);
    const int64_t first = first_of(block);
    rows().values(first, as_column(std::span<const double>(theta_)), context_, S);
    take_slopes(objective_.loss(), objective_.targets().block_rows(first, first + S.rows), S);
    std::ranges::fill(gradient_, 0.0);
    rows().add_adjoint(first, S, context_, as_column(gradient_));
    // Every row counts once an epoch: blocks / N in the place of 1 / rows of the block.
    const double share = static_cast<double>(blocks_) / static_cast<double>(rows().rows());
    const double lambda = objective_.lambda();
    const double step =
        first_step * std::pow(1 + lambda * first_step * static_cast<double>(t), -0.75);
    for (std::size_t j = 0; j < theta_.size(); ++j)
      theta_[j] -= step * (share * gradient_[j] + lambda * theta_[j]);
  }

  double step_by_rule() {
    double most = 0;
    for (int64_t k = 0; k < probed(); ++k) {
      const double value = largest_eigenvalue(k * blocks_ / probed());
      if (!(value <= most) && !std::isnan(most)) most = value;  // NaN stays
      pass(kPowerIterations);
    }
    const double L = objective_.loss().largest_curvature() * most + objective_.lambda();
    require(std::isfinite(L) && L > 0, MERCER_INVALID_ARGUMENT,
            "the largest eigenvalue of a block of rows is %g, expected a positive number", most);
    return 1 / L;
  }

  /// Of the sum of Phi(x_i) Phi(x_i)' over a block, times blocks / N.
  double largest_eigenvalue(int64_t block) {
    const MatrixView<double> S = scores_of(block);
    for (int64_t i = 0; i < S.rows; ++i) std::fill_n(S.row(i), S.cols, 1.0);
    double value = 0;
    for (int64_t k = 0; k < kPowerIterations; ++k) {
      std::ranges::fill(gradient_, 0.0);
      rows().add_adjoint(first_of(block), S, context_, as_column(gradient_));
      const double size = std::sqrt(linalg::dot(gradient_, gradient_));
      if (!(size > 0)) return size;
      for (double& v : gradient_) v /= size;
      rows().values(first_of(block), as_column(std::span<const double>(gradient_)), context_, S);
      value = 0;
      for (int64_t i = 0; i < S.rows; ++i)
        for (int64_t j = 0; j < S.cols; ++j) value += S(i, j) * S(i, j);
    }
    return value * static_cast<double>(blocks_) / static_cast<double>(rows().rows());
  }

  const OperatorObjective& objective_;
  const DescentOptions& options_;
  Context& context_;
  std::span<double> theta_;
  int64_t size_, blocks_;
  Matrix<double> scores_, vectors_;
  std::span<double> gradient_{vectors_.view().row(0), theta_.size()},
      mean_{vectors_.view().row(1), theta_.size()};
  Stage stage_;
  double passed_ = 0;  // steps
};

}  // namespace

DescentResult averaged_descent(const OperatorObjective& objective, const DescentOptions& options,
                               Context& context, std::span<double> theta) {
  require(options.epochs >= 1 && options.block_rows >= 1, MERCER_INVALID_ARGUMENT,
          "epochs = %lld and block_rows = %lld, expected at least 1",
          static_cast<Long>(options.epochs), static_cast<Long>(options.block_rows));
  require(std::isfinite(options.first_step) && options.first_step >= 0, MERCER_INVALID_ARGUMENT,
          "first_step = %g, expected 0 or a positive number", options.first_step);
  require(static_cast<int64_t>(theta.size()) == objective.rows().coefficients(),
          MERCER_DIMENSION_MISMATCH, "theta has %zu entries, expected coefficients = %lld",
          theta.size(), static_cast<Long>(objective.rows().coefficients()));
  return Descent(objective, options, context, theta).run();
}

}  // namespace mercer::solver
