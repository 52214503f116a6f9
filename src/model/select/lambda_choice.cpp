// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/select/lambda_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/lbfgs.h"

namespace mercer::model {
namespace {

// A huge loss in one row has a standard error as large as its excess, so the error alone would not
// exclude it.
constexpr double kMostExcess = 1;          // of the least loss
constexpr double kFarther = 100;           // step of a walk while there is no fit
constexpr double kLambdaTolerance = 1e-3;  // of log lambda
constexpr double kStillFalls = 0.01;
constexpr double kNearlyExact = 1e-3;  // of a constant: without noise no lambda is needed

double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void require_score(const PathPoint& best, const char* by) {
  require(
      std::isfinite(best.score), MERCER_INVALID_ARGUMENT,
      "no lambda has a finite score by %s: the rows' weights sum to less than the features have "
      "degrees of freedom, expected more rows, weights of mean 1 or another selection",
      by);
}

}  // namespace

std::vector<PathPoint> empty_path(const SelectionOptions& how) {
  std::vector<PathPoint> path;
  for (const double lambda :
       solver::lambda_grid(how.lambda_largest, how.lambda_smallest, how.lambda_count)) {
    path.push_back({how.unit * lambda, 0.0});
  }
  return path;
}

const PathPoint& best_point(const std::vector<PathPoint>& path) {
  size_t best = 0;
  for (size_t k = 1; k < path.size(); ++k) {
    if (path[k].score < path[best].score || std::isnan(path[best].score)) best = k;
  }
  return path[best];
}

// By the paired rule the least lambda is chosen only where it is better than the next by more than
// the error of their difference, however little that is. Errors of n rows are known to sqrt(2 / n)
// of themselves: a hundredth is seen in a score of 20,000 rows or more.
std::vector<std::string> end_warnings(std::span<const PathPoint> path,
                                      const SelectionOptions& chosen, double constant,
                                      bool interpolates) {
  if (path.size() < 2) return {};
  const bool evidence = chosen.selection == Selection::evidence;  // half a logarithm
  const auto falls = [&](const PathPoint& next, const PathPoint& end) {
    const double by = next.score - end.score;
    return by > (evidence ? kStillFalls / 2 : kStillFalls * end.score);
  };
  const PathPoint &largest = path.front(), &least = path.back();
  const char* what = nullptr;
  char text[256];
  if (chosen.lambda >= largest.lambda) {
    // Coefficients are a tenth or less of those of least squares.
    if (largest.lambda >= SelectionOptions().lambda_largest * chosen.unit)
      what =
          "largest that was tried, ten times the mean of k(x, x): these features foretell no "
          "target, and the model is nearly constant";
    else if (falls(path[1], largest))
      what = "largest that was tried, and scores still fall there: a larger one may predict better";
  } else if (chosen.lambda <= least.lambda &&
             (evidence || least.score >= kNearlyExact * constant)) {
    if (interpolates)
      what = "smallest that was tried: the model nearly interpolates";
    else if (falls(path[path.size() - 2], least))
      what =
          "smallest that was tried, and scores still fall there: a smaller one may predict better";
  }
  if (what == nullptr) return {};
  std::snprintf(text, sizeof text, "lambda %.3g is the %s", chosen.lambda, what);
  return {text};
}

// A line search by comparison over log lambda: the loss is nearly unimodal there.

void walk_lambda(const LambdaPlan& plan, const std::function<double(double lambda)>& loss_at) {
  const auto loss = [&](double multiple) { return loss_at(plan.unit * multiple); };
  double start = std::clamp(plan.start, plan.least, kMostLambda);
  double first = loss(start);
  while (std::isinf(first) && start < kMostLambda) {
    start = std::min(kFarther * start, kMostLambda);
    first = loss(start);
  }
  int64_t left = plan.most - 1;
  for (const double step : {1.0 / plan.factor, plan.factor}) {
    double best = first, at = start;
    for (; left > 0; --left) {
      const double lambda = at * step;
      if (lambda < plan.least || lambda > kMostLambda) break;
      const double next = loss(lambda);
      if (!(next < best || (std::isnan(best) && !std::isnan(next)))) {
        --left;
        break;
      }
      best = next;
      at = lambda;
    }
    if (at != start) break;
  }
}

// Keeps second moments of all pairs instead of every row's losses. The error of a difference that
// is 1e-6 of the losses keeps four digits.

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

PairedLosses paired_losses(std::span<const std::vector<double>* const> losses,
                           std::span<const double> weights) {
  PairedLosses sums(std::ssize(losses));
  std::vector<double> of_row(losses.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    for (size_t k = 0; k < of_row.size(); ++k) of_row[k] = (*losses[k])[i];
    sums.add(of_row.data(), weights[i]);
  }
  return sums;
}

int64_t least_loss(const PairedLosses& losses) {
  int64_t best = 0;
  for (int64_t k = 1; k < losses.candidates(); ++k) {
    const double old = losses.mean(best);
    if (losses.mean(k) < old || (!std::isfinite(old) && std::isfinite(losses.mean(k)))) best = k;
  }
  return best;
}

int64_t one_standard_error_choice(const PairedLosses& losses, std::span<const double> dimensions) {
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

// The evidence is nearly unimodal in log lambda: between the neighbours of the path's best it is
// maximised by sections.
PathPoint likeliest_point(const solver::RidgeSystem& system, std::vector<PathPoint>& path,
                          double noise) {
  const auto negative = [&](double lambda) { return total(system.evidence(lambda, noise)); };
  for (PathPoint& point : path) point.score = negative(point.lambda);
  const PathPoint& best = best_point(path);
  require_score(best, "the evidence");
  const double step = path.size() < 2 ? 0 : std::log(path[0].lambda / path[1].lambda);
  const double lambda = std::exp(
      linalg::golden_sections(std::log(best.lambda) - step, std::log(best.lambda) + step,
                              kLambdaTolerance, [&](double at) { return negative(std::exp(at)); }));
  return {lambda, negative(lambda)};
}

PathPoint choose_point(const solver::RidgeSystem& system, const solver::BlockSource& rows,
                       const SelectionOptions& how, Task task, Context& context,
                       std::vector<PathPoint>& path, const solver::RowsDone& done) {
  path = empty_path(how);
  if (how.selection == Selection::evidence) return likeliest_point(system, path, how.noise);
  if (how.selection == Selection::gcv) {
    for (PathPoint& point : path) point.score = total(system.gcv(point.lambda));
    require_score(best_point(path), "generalised cross-validation");
    return best_point(path);
  }
  std::vector<double> lambdas, dimensions;
  for (const PathPoint& point : path) lambdas.push_back(point.lambda);
  const int64_t outputs = rows.outputs();
  PairedLosses losses(std::ssize(path));
  const auto add = [&, judge = Judge(task, outputs), own = std::vector<double>(path.size())](
                       int64_t, const double* code, double weight, const double* scores) mutable {
    for (double& loss : own) {
      loss = judge.loss(scores, code);
      scores += outputs;
    }
    losses.add(own.data(), weight);
  };
  system.for_each_left_out(rows, lambdas, context, scores_left_out(outputs, std::ssize(path), add),
                           done);
  losses.reduce(rows);
  for (size_t k = 0; k < path.size(); ++k) {
    path[k].score = losses.mean(static_cast<int64_t>(k));
    dimensions.push_back(system.effective_dimension(path[k].lambda));
  }
  return path[one_standard_error_choice(losses, dimensions)];
}

}  // namespace mercer::model
