// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A trial of one map: ridge on some rows for many lambdas, and the loss of each held-out row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/prepare/coding.h"
#include "model/prepare/preparation.h"
#include "model/rows/guard.h"
#include "model/select/row_loss.h"
#include "model/select/selecting.h"
#include "solver/coupled_path.h"

namespace mercer::model {

/// The fit for one lambda.
struct TrialPoint {
  double lambda = 0;
  double loss = 0;       // mean row loss, by which trials are compared
  double score = 0;      // reported: 1 - R^2 (NaN for constant targets), or error rate
  double dimension = 0;  // Tr H
};

struct Trial {
  std::vector<TrialPoint> points;
  std::vector<std::vector<double>> losses;  // of each point, row after row
  std::vector<double> weights;              // of these rows; with weight 0 the loss is 0
  double unit = 1;                          // of lambda, lambda_unit of the rows that were fitted

  /// The first point of least loss; NaN never wins.
  const TrialPoint& best() const;
  size_t best_place() const { return static_cast<size_t>(&best() - points.data()); }
};

/// a < b, and NaN is larger than all.
inline bool is_less(double a, double b) { return a < b || (a == a && b != b); }

/// Computes row losses and scores.
class Judge {
 public:
  /// Regression: losses are in units of the targets' variance over these rows, so that their mean
  /// is 1 - R^2. weights: of the rows of Y, or none.
  Judge(const Coding& coding, MatrixView<const double> Y, solver::RowSet rows,
        std::span<const double> weights = {});
  /// A judge for scores of transformed targets: undoes the target transforms of `by`, limits scores
  /// as predictions are, and compares with Y. Without transforms, this judge. References are kept.
  Judge of(const Preparation& by, MatrixView<const double> Y) const;
  /// A judge for these rows of Y.
  Judge on(solver::RowSet rows) const;
  /// i: the row's position among the judged rows. scratch: one number per output.
  double loss(int64_t i, const double* scores, const double* code, double* scratch) const noexcept;
  bool wrong(const double* scores, const double* code) const noexcept;
  bool varies() const noexcept { return varies_; }
  bool classifies() const noexcept { return task_ == Task::classification; }
  /// The score of a point: the error rate, or the loss if every target varies.
  double score(double loss, double error_rate) const noexcept;

 private:
  Task task_;
  int64_t outputs_;
  bool varies_ = true;
  RowLoss loss_;
  std::vector<Limits> limits_;       // of predictions, for regression
  const Preparation* by_ = nullptr;  // with target transforms
  MatrixView<const double> Y_ = {};  // original targets
  solver::RowSet rows_ = {};
  std::vector<double> scales(MatrixView<const double> Y, solver::RowSet rows,
                             std::span<const double> weights);
};

/// Collects row losses for a list of lambdas.
class TrialSums {
 public:
  TrialSums(const Judge& judge, int64_t outputs, int64_t points);
  /// scores: of all points, one after the other.
  void add(int64_t i, const double* code, double weight, const double* scores);
  /// points: lambda and dimension of each.
  Trial finish(std::vector<TrialPoint> points);

 private:
  const Judge& judge_;
  int64_t outputs_;
  std::vector<std::vector<double>> losses_;
  std::vector<double> weights_, wrong_, scratch_;
};

/// Leave-one-out for every lambda, from one decomposition; in the dual form if n < D.
Trial left_out_trial(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                     std::span<const double> lambdas, const Judge& judge, Context& context,
                     const solver::RowsDone& done);

/// Joins trials of disjoint rows, at the lambdas that all of them have.
Trial joined(std::vector<Trial> parts);
/// Merges the rows of a cluster into one of their mean loss and total weight, so that standard
/// errors are those of independent clusters. clusters: a number per row; empty: no change.
void cluster(Trial& trial, const std::vector<int64_t>& clusters);

/// Lambdas, largest first, with scores, or losses if scores are undefined.
std::vector<PathPoint> path_of(const Trial& trial);

/// The choice of the paired rule over all points of trials of the same rows.
struct Picked {
  size_t trial = 0, point = 0;
};
Picked paired_pick(std::span<const Trial* const> trials);
/// The chosen point of one trial.
size_t paired_pick(const Trial& trial);
/// By how much one fit's mean loss is below another's on the same rows, and the standard error of
/// the difference. share: of the rows, as many of equal differences would have the ratio of mean
/// absolute and root mean square that these have. a, b: points of the trials.
struct Gain {
  double mean = 0, error = 0, share = 0;
};
Gain gain(const Trial& one, size_t a, const Trial& other, size_t b);
/// Whether the gain exceeds `errors` standard errors.
bool beats(const Trial& one, size_t a, const Trial& other, size_t b, double errors);

}  // namespace mercer::model
