// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How lambda is chosen: the options, and the choice on all rows by the route that their number, the
// features and the criterion ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "model/prepare/preparation.h"
#include "model/select/held_out_rows.h"
#include "solver/block_source.h"
#include "solver/coupled_path.h"
#include "solver/lambda_path.h"
#include "solver/row_statistics.h"

namespace mercer::model {

// Options of how lambda is chosen.

/// fixed: given. held_out, kfold, gcv: the least error on held-out rows, over folds, by generalised
/// cross-validation. loo: leave-one-out with the paired rule of held_out_rows.h. evidence: the
/// largest marginal likelihood. gcv fails unless n is well above Tr H: on ten data sets of 200 to
/// 800 rows its mean R^2 was -9, that of loo .65.
enum class Selection { fixed, held_out, kfold, gcv, loo, evidence };

struct Selecting {
  Selection selection = Selection::loo;
  double lambda = 1e-6;        // for fixed
  double lambda_largest = 10;  // path, in the unit below
  double lambda_smallest = 1e-12;
  int64_t lambda_count = 27;
  int64_t folds = 5;               // kfold
  double held_out_fraction = 0.1;  // held_out
  double noise = 0;                // evidence: its variance, if it is known
  uint64_t seed = 0;     // of every choice of rows: held out, in folds, sampled for quantiles
  bool ordered = false;  // in time: held-out rows are later than training rows
  double unit = 1;       // lambda_unit of the rows; a fit sets it
};

/// Whether the path of lambda is left at its defaults.
inline bool leaves_path(const Selecting& asked) {
  const Selecting usual;
  return asked.lambda_largest == usual.lambda_largest &&
         asked.lambda_smallest == usual.lambda_smallest && asked.lambda_count == usual.lambda_count;
}

/// One lambda that was tried. Its score is the mean squared error summed over outputs; for
/// classification by held_out or kfold the error rate, by loo the soft error of held_out_rows.h; for
/// evidence that of solver/ridge.h summed over outputs, of coupled ones in nats; in a search
/// 1 - R^2 or the error rate; for the model logistic its mean loss.
struct PathPoint {
  double lambda;
  double score;
};

// Chooses lambda and solves on all rows, by the route that the number of rows, features and the
// criterion ask for.

struct Selected {
  solver::Weights weights;
  double lambda = 0;
  std::vector<PathPoint> path;  // empty for Selection::fixed
  solver::SolverRun run = {};   // of passes over the rows
};

/// The point of the lowest score, the first on a tie; points with NaN are passed over unless all
/// are.
const PathPoint& best_point(const std::vector<PathPoint>& path);

/// The mean of k(x, x), in which lambdas that are tried are counted, so that a kernel times a
/// constant has the same predictions (SPEC section 14). Kernels with a spectral law: k(0). Others:
/// the weighted mean of ||z||^2 over the rows, one pass, or of the kernel's own columns; with
/// coupled outputs the mean diagonal of their blocks. 1 if it is 1 up to rounding, or 0.
double lambda_unit(const kernel::Kernel& kernel, const solver::Coupling* coupling,
                   const solver::BlockSource& rows, Context& context);

/// The lambdas of the path, largest first, with scores of zero.
std::vector<PathPoint> empty_path(const Selecting& how);

/// Says that a chosen lambda is the largest or the least that was tried, where that matters: scores
/// still fall there by more than a hundredth from one lambda to the next, or the model is nearly
/// constant, or `interpolates`. Not the least of targets without noise, by the score of a constant.
/// path: largest first; with few points, or none, nothing is said. chosen: of `lambda`.
std::vector<std::string> end_warnings(std::span<const PathPoint> path, const Selecting& chosen,
                                      double constant, bool interpolates);

/// The lambda of largest evidence of outputs that are coupled or miss targets, with its negative
/// logarithm as the score; those of the path's lambdas are filled in. INVALID_ARGUMENT if none is
/// finite.
PathPoint likeliest_point(const solver::CoupledPath& system, std::vector<PathPoint>& path);

/// By Gram matrix; for fewer rows than features, where one process has them all, by the n x n dual.
/// task: whose errors choose. left_out: null, or what takes scores of rows left out of the fit that
/// is selected. sums: null, or where those of all rows are left, if there were any.
/// Errors: UNSUPPORTED for generalised cross-validation of coupled outputs.
Selected select(const solver::BlockSource& rows, const Selecting& how, Task task,
                const solver::RidgeProblem& problem, Context& context,
                LeftOutScores* left_out = nullptr,
                std::optional<solver::RowStatistics>* sums = nullptr);

/// What select ends with: the weights at lambda, and scores of rows left out where they are wanted.
solver::Weights solve_primal(const solver::BlockSource& rows, solver::RowStatistics statistics,
                             bool center, double lambda, Context& context, LeftOutScores* left_out);
solver::Weights solve_dual(solver::DualSystem& system, double lambda, Context& context,
                           LeftOutScores* left_out);

/// Of progress: what solve_primal takes, in rows that are summed up; sums over n rows of an n x n
/// matrix in features of rows.
int64_t primal_units(const solver::BlockSource& rows, const LeftOutScores* left_out);
int64_t dual_units(const solver::BlockSource& rows, int64_t sums);

}  // namespace mercer::model
