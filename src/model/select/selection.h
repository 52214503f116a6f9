// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge on all rows at the lambda that a criterion chooses.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "base/options.h"
#include "kernel/kernel.h"
#include "model/prepare/preparation.h"
#include "model/rows/row_sets.h"
#include "model/select/judge.h"
#include "solver/block_source.h"
#include "solver/ridge_system.h"
#include "solver/row_statistics.h"

namespace mercer::model {

// How lambda is chosen: the options, the lambdas that are tried, and the choice between them by
// scores, by the paired losses of rows, or by the evidence.

// Options of how lambda is chosen.

/// fixed: given. held_out, folds, gcv: the least error on held-out rows, over folds, by generalised
/// cross-validation. leave_one_out: leave-one-out with the paired rule below. evidence: the
/// largest marginal likelihood. gcv fails unless n is well above Tr H: on ten data sets of 200 to
/// 800 rows its mean R^2 was -9, that of leave_one_out .65.
/// automatic, of options alone: as the model's entry says, or by folds for dependent rows.
enum class Selection { automatic, held_out, folds, gcv, leave_one_out, evidence, fixed };
struct SelectionWay {
  const char* name;
  const char* help;
};
/// In the order of Selection; specs name all but the last.
inline constexpr SelectionWay kSelectionWays[] = {
    {"auto", "leave_one_out; held_out for other losses than squares"},
    {"held_out", "loss on one held-out part of the rows"},
    {"folds", "loss on every row, held out with its fold"},
    {"gcv",
     "generalised cross-validation: leave-one-out with the mean leverage in place of each row's"},
    {"leave_one_out", "loss on every row by the fit without it, in closed form"},
    {"evidence", "the marginal likelihood of all rows, with lambda as the noise"},
    {"fixed", "lambda is given"}};

struct SelectionOptions {
  Selection selection = Selection::leave_one_out;
  double lambda = 1e-6;        // for fixed
  double lambda_largest = 10;  // path, in the unit below
  double lambda_smallest = 1e-12;
  int64_t lambda_count = 27;
  int64_t folds = 5;               // for folds
  double held_out_fraction = 0.1;  // for held_out
  bool chosen = false;             // for fixed: by a search, of fits that end as early as this one
  double noise = 0;                // evidence: its variance, if it is known
  uint64_t seed = 0;     // of every choice of rows: held out, in folds, sampled for quantiles
  bool ordered = false;  // in time: held-out rows are later than training rows
  double unit = 1;       // lambda_unit of the rows; a fit sets it

  void fix(double at) { selection = Selection::fixed, lambda = at; }
};

OptionTable<SelectionOptions> selection_options();
inline const char* word_of(Selection by) { return kSelectionWays[static_cast<size_t>(by)].name; }
/// Whether this way of choosing lambda reads that key of "select", and those that it reads.
bool selection_reads(Selection by, std::string_view key);
std::vector<Field> selection_fields(Selection by);

/// Whether the path of lambda is left at its defaults.
inline bool leaves_path(const SelectionOptions& asked) {
  const SelectionOptions usual;
  return asked.lambda_largest == usual.lambda_largest &&
         asked.lambda_smallest == usual.lambda_smallest && asked.lambda_count == usual.lambda_count;
}

/// One lambda that was tried. Its score is the mean squared error summed over outputs; for
/// classification by held_out or folds the error rate, by leave_one_out the soft error of judge.h;
/// for evidence that of solver/ridge_system.h summed over outputs, of coupled ones in nats; in a
/// search 1 - R^2 or the error rate; for the model logistic its mean loss.
struct PathPoint {
  double lambda;
  double score;
};

/// The lambdas of the path, largest first, with scores of zero.
std::vector<PathPoint> empty_path(const SelectionOptions& how);

/// The point of the lowest score, the first on a tie; points with NaN are passed over unless all
/// are.
const PathPoint& best_point(const std::vector<PathPoint>& path);

/// Says that a chosen lambda is the largest or the least that was tried, where that matters: scores
/// still fall there by more than a hundredth from one lambda to the next, or the model is nearly
/// constant, or `interpolates`. Where the score is a small share of a constant's, targets have no
/// noise, and the least lambda is not warned of. path: largest first; with few points, or none,
/// nothing is said. chosen: of `lambda`.
std::vector<std::string> end_warnings(std::span<const PathPoint> path,
                                      const SelectionOptions& chosen, double constant,
                                      bool interpolates);

// A downhill walk in lambda, one factorisation per step, for systems too large for a whole grid.

/// The squared rounding error of single-precision features is about 1e-14.
inline constexpr double kLeastLambda = 1e-13;
inline constexpr double kMostLambda = 10.0;

/// The lambdas, or lengthscales, at which a fit is judged.
struct WalkPlan {
  std::vector<double> grid;  // empty: a walk, in multiples of `unit`
  double unit = 1;
  double start = 1e-6;  // of the walk
  double factor = 10;
  int64_t most = 5;
  double least = kLeastLambda;  // of the walk; the largest is kMostLambda
};

/// Evaluates unit times start, then start/factor, start/factor^2, ... while the loss falls; if the
/// first step does not lower it, the other way. At most `most` evaluations. NaN is larger than any
/// loss; infinity means that there is no fit: if so at the start, the walk starts at the first of
/// 100 start, 100^2 start, ... that has one.
void walk_downhill(const WalkPlan& plan, const std::function<double(double lambda)>& loss);

// The one-standard-error rule with paired differences: the simplest candidate whose loss is within
// one standard error of the least. The plain rule (Breiman et al. 1984) takes the error of the
// least loss, most of which all candidates share; the error of a paired difference is far smaller.
// In searches, where the evidence is known, the likeliest takes the place of the simplest.

/// Means and errors of differences of candidates' losses on the same rows. Rows may have weights
/// w >= 0 and be spread over processes.
class PairedLosses {
 public:
  explicit PairedLosses(int64_t candidates);
  int64_t candidates() const noexcept { return static_cast<int64_t>(sums_.size()); }
  /// Adds one row's losses, one per candidate. A row of weight 0 may hold anything.
  void add(const double* losses, double weight = 1);
  /// Sums over the processes that share the source's rows.
  void reduce(const solver::BlockSource& rows);

  double weight() const noexcept { return counts_[1]; }
  /// sum w l / sum w; not finite if a row's loss is not.
  double mean(int64_t k) const;
  /// Standard error of mean(a) - mean(b) for independent rows: the square root of
  /// sum w^2 (d - mean d)^2 / (sum w)^2 times n / (n - 1). Infinite for one row.
  double error_of_difference(int64_t a, int64_t b) const;

 private:
  double counts_[3] = {0, 0, 0};       // rows of w > 0, sum w, sum w^2
  std::vector<double> sums_;           // sum w l
  std::vector<double> weighted_sums_;  // sum w^2 l
  Matrix<double> products_;            // sum w^2 l l', lower triangle
};

/// Of losses that are kept, of each candidate row after row.
PairedLosses paired_losses(std::span<const std::vector<double>* const> losses,
                           std::span<const double> weights);

/// The first candidate of least mean loss; ignores losses that are not finite unless all are.
int64_t least_loss(const PairedLosses& losses);

/// The candidate of least rank, the first of equals, among those whose mean loss exceeds the least
/// by at most the standard error of that difference and is at most twice the least (if that is
/// positive). ranks: of each its effective dimension Tr H, or its negative evidence.
int64_t one_standard_error_choice(const PairedLosses& losses, std::span<const double> ranks);

// The choice from a system that was made for criteria, on the rows of the system.

double sum_over_outputs(const std::vector<double>& values);
/// The lambda of largest evidence, with its negative logarithm as the score; those of the path's
/// lambdas are filled in. INVALID_ARGUMENT if none is finite.
PathPoint likeliest_point(const solver::RidgeSystem& system, std::vector<PathPoint>& path,
                          double noise = 0);
/// Likewise where evidences are estimates with slopes (solver/sampled_inverse.h): between two lambdas
/// of different signs of the slope, found by steps of a decade from 1e-6 within the path's ends. The
/// path gets the lambdas that were tried.
PathPoint likeliest_by_slope(const solver::RidgeSystem& system, const SelectionOptions& how,
                             Context& context, std::vector<PathPoint>& path);

struct RidgeFit {
  solver::Weights weights;
  double lambda = 0;
  std::vector<PathPoint> path;  // empty for Selection::fixed
  solver::SolverRun run = {};   // of passes over the rows
  std::shared_ptr<const solver::RidgeSystem> system =
      nullptr;  // that took them; it refers to these
};

/// The mean of k(x, x), in which lambdas that are tried are counted, so that a kernel times a
/// constant has the same predictions. Kernels with a spectral law: k(0). Others:
/// the weighted mean of ||z||^2 over the rows, one pass, or of the kernel's own columns; with
/// coupled outputs the mean diagonal of their blocks. 1 if it is 1 up to rounding, or 0.
double lambda_unit(const kernel::Kernel& kernel, const solver::Coupling* coupling,
                   const solver::BlockSource& rows, Context& context);

/// The rows that folds or held_out hold out: one split, or one for each fold. INVALID_ARGUMENT if a
/// process has too few rows.
std::vector<Split> validation_splits(const SelectionOptions& how, const solver::BlockSource& rows);

/// Chooses lambda and solves on all rows, by the system that serves them (solver/ridge_system.h).
/// task: whose errors choose. left_out: null, or what takes scores of rows left out of the fit that
/// is selected. sums: null, or where those of all rows are left, if there were any.
/// Errors: UNSUPPORTED for generalised cross-validation of coupled outputs.
RidgeFit select(const solver::BlockSource& rows, const SelectionOptions& how, Task task,
                const solver::RidgeProblem& problem, Context& context,
                LeftOutScores* left_out = nullptr,
                std::optional<solver::RowStatistics>* sums = nullptr);

}  // namespace mercer::model
