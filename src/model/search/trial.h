// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One map tried: ridge on some rows for many lambdas, and each row's loss under a fit that it had
// no part in.
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
  double loss = 0;       // mean of the rows' losses: what is compared
  double score = 0;      // what is reported: 1 - R^2 (NaN for targets that do not
                         // vary), or error rate
  double dimension = 0;  // Tr H
};

struct Trial {
  std::vector<TrialPoint> points;
  std::vector<std::vector<double>> losses;  // of each point, row after row
  std::vector<double> weights;              // of these rows; losses of those of weight 0 are 0

  /// The first point of least loss; NaN never wins.
  const TrialPoint& best() const;
  size_t best_place() const { return static_cast<size_t>(&best() - points.data()); }
};

/// a < b, and NaN is larger than all.
inline bool is_less(double a, double b) { return a < b || (a == a && b != b); }

/// How rows are judged.
class Judge {
 public:
  /// Regression: losses in units of the targets' variance over these rows, so that their mean is 1
  /// - R^2. weights: of the rows of Y, or none.
  Judge(const Coding& coding, MatrixView<const double> Y, solver::RowSet rows,
        std::span<const double> weights = {});
  /// Of scores of targets that went through the curves of `by`, carried back and limited as
  /// predictions are: they are held against the targets themselves, in Y. Without curves it is the
  /// same judge. References are kept.
  Judge of(const Preparation& by, MatrixView<const double> Y) const;
  /// The rows that are judged, by their numbers in Y.
  Judge on(solver::RowSet rows) const;
  /// i: the row's place among those judged. scratch: a number for each output.
  double loss(int64_t i, const double* scores, const double* code, double* scratch) const noexcept;
  bool wrong(const double* scores, const double* code) const noexcept;
  bool varies() const noexcept { return varies_; }
  bool classifies() const noexcept { return task_ == Task::classification; }
  /// Of a point: the error rate, or the loss itself where every target varies.
  double score(double loss, double error_rate) const noexcept;

 private:
  Task task_;
  int64_t outputs_;
  bool varies_ = true;
  RowLoss loss_;
  std::vector<Limits> limits_;       // of predictions of a regression
  const Preparation* by_ = nullptr;  // with curves of targets
  MatrixView<const double> Y_ = {};  // as they are given
  solver::RowSet rows_ = {};
  std::vector<double> scales(MatrixView<const double> Y, solver::RowSet rows,
                             std::span<const double> weights);
};

/// Collects the rows' losses of a list of lambdas.
class TrialSums {
 public:
  TrialSums(const Judge& judge, int64_t outputs, int64_t points);
  /// scores: of every point, one after the other.
  void add(int64_t i, const double* code, double weight, const double* scores);
  /// points: lambda and dimension of each.
  Trial finish(std::vector<TrialPoint> points);

 private:
  const Judge& judge_;
  int64_t outputs_;
  std::vector<std::vector<double>> losses_;
  std::vector<double> weights_, wrong_, scratch_;
};

/// Every lambda by leave-one-out, from one decomposition; the dual form for fewer rows than
/// features.
Trial left_out_trial(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                     std::span<const double> lambdas, const Judge& judge, Context& context,
                     const solver::RowsDone& done);

/// Parts that judged other rows each, by the lambdas that all of them have, as one trial.
Trial joined(std::vector<Trial> parts);
/// Rows of a cluster, of which there is a number for each row, become one of their mean loss and
/// all of their weight: what is compared then has the error of clusters, not of rows. No numbers:
/// rows stay as they are.
void cluster(Trial& trial, const std::vector<int64_t>& clusters);

/// Lambdas, largest first, with scores, or losses where a score is not defined.
std::vector<PathPoint> path_of(const Trial& trial);

/// The trial and the point of it that the paired rule takes over all of the trials' points. The
/// trials are of the same rows.
struct Picked {
  size_t trial = 0, point = 0;
};
Picked paired_pick(std::span<const Trial* const> trials);
/// The place of the point of one trial.
size_t paired_pick(const Trial& trial);
/// By how much one fit's mean loss is below another's, and the standard error of that over the rows,
/// which are the same. a, b: places among the trials' points.
struct Gain {
  double mean = 0, error = 0;
};
Gain gain(const Trial& one, size_t a, const Trial& other, size_t b);
/// It is more than `errors` of its standard errors.
bool beats(const Trial& one, size_t a, const Trial& other, size_t b, double errors);

}  // namespace mercer::model
