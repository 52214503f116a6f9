// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A trial of one map: features of the search's rows with many lengthscales, ridge on some of them
// for many lambdas, and the loss of each row that is held out.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/prepare/preparation.h"
#include "model/rows/feature_rows.h"
#include "model/rows/row_sets.h"
#include "model/search/partial_map.h"
#include "model/select/judge.h"
#include "model/select/selection.h"
#include "solver/block_statistics.h"
#include "solver/ridge_system.h"

namespace mercer::model {

/// The fit for one lambda.
struct TrialPoint {
  double lambda = 0;
  double loss = 0;         // mean row loss, by which trials are compared
  double score = 0;        // reported: 1 - R^2 (NaN for constant targets), or error rate
  double dimension = 0;    // Tr H
  double evidence = kNaN;  // sum of RidgeSystem::evidence, of a regression by the dual form
};

struct Trial {
  std::vector<TrialPoint> points;
  std::vector<std::vector<double>> losses;  // of each point, row after row
  std::vector<double> weights;              // of these rows; with weight 0 the loss is 0
  int64_t features = 0;                     // of the map
  double unit = 1;                          // of lambda, lambda_unit of the rows that were fitted

  /// The first point of least loss; NaN never wins.
  const TrialPoint& best() const;
  size_t best_place() const { return static_cast<size_t>(&best() - points.data()); }
  /// Adds the first point of another trial of the same rows.
  void append(Trial more);
};

/// a < b, and NaN is larger than all.
inline bool is_less(double a, double b) { return a < b || (a == a && b != b); }

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

/// Leave-one-out for every lambda, from one decomposition, or for a few by factors and, while the
/// last of them is the best, for further ones. kept: null, or where the system is left.
Trial left_out_trial(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                     std::span<const double> lambdas, const Judge& judge, Context& context,
                     const solver::RowsDone& done,
                     std::unique_ptr<solver::RidgeSystem>* kept = nullptr);

/// Joins trials of disjoint rows, at the lambdas that all of them have.
Trial joined(std::vector<Trial> parts);
/// Merges the rows of a cluster into one of their mean loss and total weight, so that standard
/// errors are those of independent clusters. clusters: a number per row; empty: no change.
void cluster(Trial& trial, const std::vector<int64_t>& clusters);

/// Lambdas, largest first, with scores, or losses if scores are undefined.
std::vector<PathPoint> path_of(const Trial& trial);

struct TrialPlace {
  size_t trial = 0, point = 0;
};
/// The choice of the paired rule over all points of trials of the same rows: of those that losses do
/// not tell from the best the likeliest, or the simplest if the evidence of some is unknown. Of few
/// rows losses tell little apart, and the simplest of what they leave is near a constant.
TrialPlace paired_pick(std::span<const Trial* const> trials);
/// The chosen point of one trial.
size_t paired_pick(const Trial& trial);
/// By how much one fit's mean loss is below another's on the same rows, and the standard error of
/// the difference. share: the effective share of rows that differ, (mean |difference|)^2 over the
/// mean of its squares: k of n rows with equal differences give k/n. a, b: points of the trials.
struct Gain {
  double mean = 0, error = 0, share = 0;
};
Gain gain(const Trial& one, size_t a, const Trial& other, size_t b);
/// Whether the gain exceeds `errors` standard errors.
bool beats(const Trial& one, size_t a, const Trial& other, size_t b, double errors);

// Ridge on some rows, judged on others, for a list of lambdas. Row statistics are kept, so that
// rows can be added and the final fit costs no second pass.

class HeldOutFit {
 public:
  enum class Sums { exact, single };  // single: products in f32, for lambda >= 1e-8
  /// References are kept.
  HeldOutFit(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
             solver::RowSet train, Sums sums, Context& context, const solver::RowsDone& done);

  /// Every lambda of the plan, in the order of evaluation, except those for which rounding leaves
  /// the system indefinite. Errors: NOT_POSITIVE_DEFINITE if all of them are.
  Trial judge(const WalkPlan& plan, solver::RowSet held_out, const Judge& judge,
              Context& context) const;

  /// Adds training rows, none of which may have been added before.
  void add(solver::RowSet more, Context& context);
  /// Null for fewer rows than features, and for coupled outputs.
  const solver::RowStatistics* statistics() const { return statistics_.get(); }
  solver::Weights solve(double lambda, Context& context) const {
    return system_->solve(lambda, context);
  }

 private:
  void make_system(Context& context, const solver::RowsDone& done);

  const solver::BlockSource& rows_;
  solver::RidgeProblem problem_;
  std::vector<int64_t> fitted_;
  std::shared_ptr<solver::RowStatistics> statistics_;  // null: the system is made from rows
  std::unique_ptr<solver::RidgeSystem> system_;
};

/// Every lambda on the held-out rows of each split; from ten lambdas on by an eigendecomposition
/// per split. Errors: those of judge, and if no lambda serves all splits.
Trial judge_splits(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                   const std::vector<Split>& splits, std::span<const double> lambdas,
                   const Judge& judge, Context& context, const solver::RowsDone& done);

// The rows of a search, mapped with many lengthscales.

class CandidateRows {
 public:
  /// References are kept.
  CandidateRows(const PartialMap& partial, const TargetOptions& coding,
                feature::Precision precision, uint64_t seed, const TargetedRows& rows,
                Context& context)
      : partial_(&partial),
        coding_(coding),
        precision_(precision),
        seed_(seed),
        data_(rows),
        context_(context) {}

  /// All rows, prepared and mapped with `features` at one lengthscale, one for each input, or none.
  /// A map that is made from rows is made from `train`; other maps are one map of lengthscale 1,
  /// applied to x_j / lengthscale. Valid until the next call.
  const solver::BlockSource& at(const Preparation& preparation,
                                std::span<const double> lengthscales, int64_t features,
                                const std::vector<int64_t>& train);
  /// Likewise with the kernel's own values at `train` as features, by the partial map of `exact`.
  const solver::BlockSource& at_exact(const PartialMap& exact, const Preparation& preparation,
                                      std::span<const double> lengthscales,
                                      const std::vector<int64_t>& train);
  /// The shared map of lengthscale 1. Valid until a call with another number of features.
  const feature::FeatureMap& unit(const Preparation& preparation, int64_t features);
  /// The candidate's own map, for rows that are prepared but not divided by lengthscales.
  std::shared_ptr<const feature::FeatureMap> make(const Preparation& preparation,
                                                  std::span<const double> lengthscales,
                                                  int64_t features,
                                                  const std::vector<int64_t>& train) const;
  /// The map of the last candidate.
  const feature::FeatureMap& map() const { return exact_ != nullptr ? *exact_ : *map_; }
  /// Switches to candidates of another partial map.
  void use(const PartialMap& partial) {
    if (partial_ == &partial) return;
    partial_ = &partial;
    release();
  }
  /// Frees the last map and its draws.
  void release();

 private:
  const PartialMap* partial_;
  TargetOptions coding_;
  feature::Precision precision_;
  uint64_t seed_;
  TargetedRows data_;
  Context& context_;
  std::shared_ptr<const feature::FeatureMap> map_;
  std::shared_ptr<const feature::FeatureMap> exact_;  // of the last candidate, if it was one
  int64_t unit_features_ = 0;                         // of map_, if it has lengthscale 1
  Preparation inputs_;
  std::optional<FeatureRows> rows_;
};

/// The preparation with (x - mean) / (scale lengthscales[j]) for d inputs; lengthscales: one for
/// all inputs or one for each.
Preparation divided_by(const Preparation& preparation, int64_t d,
                       std::span<const double> lengthscales);

}  // namespace mercer::model
