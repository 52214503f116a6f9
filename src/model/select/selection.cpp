// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Chooses lambda on held-out rows, or fold by fold.
#include "model/select/selection.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "linalg/lbfgs.h"
#include "model/rows/row_sets.h"
#include "model/select/held_out_rows.h"
#include "solver/block_statistics.h"
#include "solver/iterative_path.h"
#include "solver/lambda_path.h"

namespace mercer::model {

/// Largest D for which a path is an eigendecomposition; above, a Cholesky factor per lambda takes
/// less memory.
inline constexpr int64_t kMostEigenFeatures = 4096;

/// Scores of lambdas by a path for each fold's training rows. of_fold: the work of a path beside
/// its rows, for progress.
using PathMaker = std::function<std::unique_ptr<solver::LambdaPath>(const solver::BlockSource& rows,
                                                                    const solver::RowsDone& done)>;
std::vector<PathPoint> validated_path(const solver::BlockSource& rows, const Selecting& how,
                                      Task task, int64_t of_fold, const PathMaker& make,
                                      Context& context);

/// Fits all rows at the lambda of least score, by Gram matrices or by n x n systems.
Selected validate_primal(const solver::BlockSource& rows, const Selecting& how, Task task,
                         bool center, Context& context, LeftOutScores* left_out);
Selected validate_dual(const solver::BlockSource& rows, const Selecting& how, Task task,
                       bool center, Context& context, LeftOutScores* left_out);

// Choice of lambda (SPEC section 9) from one eigendecomposition of all rows: by the least score of
// generalised cross-validation; by leave-one-out, which has a loss for every row, with the paired
// rule of held_out_rows.h.

namespace {

using solver::BlockSource;
using solver::RowsDone;

// Residuals of rows left out take their products with the eigenvectors and squares of these.
constexpr int64_t kLeftOutSums = 2;
constexpr double kLambdaTolerance = 1e-3;  // of log lambda
constexpr int64_t kIterations = 50;        // about, of conjugate gradients
constexpr double kStillFalls = 0.01;
constexpr double kNearlyExact = 1e-3;   // of a constant: without noise no lambda is needed
constexpr double kUnitRounding = 1e-6;  // of sums of squared features in single precision

double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::vector<double> lambdas_of(const std::vector<PathPoint>& path) {
  std::vector<double> lambdas;
  for (const PathPoint& point : path) lambdas.push_back(point.lambda);
  return lambdas;
}

/// Adds up a path's losses on rows that were left out.
LeftOutRow adding_to(PairedLosses& sums, Task task, int64_t outputs) {
  return [&sums, loss = plain_loss(task, outputs), losses = std::vector<double>(sums.candidates()),
          scores = std::vector<double>(outputs),
          outputs](int64_t, const double* code, double weight, const double* residuals) mutable {
    for (size_t k = 0; k < losses.size(); ++k) {
      const double* r = residuals + static_cast<int64_t>(k) * outputs;
      for (int64_t o = 0; o < outputs; ++o) scores[o] = code[o] - r[o];
      losses[k] = loss(scores.data(), code);
    }
    sums.add(losses.data(), weight);
  };
}

/// The lambda of the paired rule; the path's scores are the mean losses. dimension(lambda): Tr H.
template <class Dimension>
double choose_left_out(const PairedLosses& losses, const Dimension& dimension,
                       std::vector<PathPoint>& path) {
  std::vector<double> dimensions;
  for (size_t k = 0; k < path.size(); ++k) {
    path[k].score = losses.mean(static_cast<int64_t>(k));
    dimensions.push_back(dimension(path[k].lambda));
  }
  return path[paired_choice(losses, dimensions)].lambda;
}

/// The lambda of largest evidence between the neighbours of the path's best, by sections.
/// negative(lambda): its negative logarithm.
template <class Negative>
double most_likely(const Negative& negative, const std::vector<PathPoint>& path, double best) {
  const double step = path.size() < 2 ? 0 : std::log(path[0].lambda / path[1].lambda);
  return std::exp(linalg::golden_sections(std::log(best) - step, std::log(best) + step,
                                          kLambdaTolerance,
                                          [&](double at) { return negative(std::exp(at)); }));
}

/// By generalised cross-validation, the evidence, or by the losses that leave_out(lambdas, losses)
/// adds up; yet without weights.
template <class System, class LeaveOut>
Selected select_by(const System& system, const Selecting& how, const LeaveOut& leave_out) {
  Selected result{{}, 0, empty_path(how)};
  if (how.selection != Selection::loo) {
    const bool gcv = how.selection == Selection::gcv;
    for (PathPoint& point : result.path)
      point.score =
          total(gcv ? system.gcv(point.lambda) : system.evidence(point.lambda, how.noise));
    const PathPoint& best = best_point(result.path);
    require(std::isfinite(best.score), MERCER_INVALID_ARGUMENT,
            "no lambda has a finite score by %s: the %ld rows' weights "
            "sum to less than the features have degrees of freedom, expected more rows, weights "
            "of mean 1 or another selection",
            gcv ? "generalised cross-validation" : "the evidence", system.rows());
    const auto negative = [&](double lambda) { return total(system.evidence(lambda, how.noise)); };
    result.lambda = gcv ? best.lambda : most_likely(negative, result.path, best.lambda);
  } else {
    PairedLosses losses(std::ssize(result.path));
    leave_out(lambdas_of(result.path), losses);
    result.lambda = choose_left_out(
        losses, [&](double lambda) { return system.effective_dimension(lambda); }, result.path);
  }
  return result;
}

Selected decompose_primal(const BlockSource& rows, const Selecting& how, Task task,
                          const solver::RidgePath& solver, Stage& stage, Context& context,
                          LeftOutScores* left_out) {
  Selected result = select_by(solver, how, [&](const auto& lambdas, PairedLosses& losses) {
    for_each_left_out(rows, solver, lambdas, context, adding_to(losses, task, rows.outputs()),
                      [&](int64_t count) { stage.advance(kLeftOutSums * count); });
    losses.reduce(rows);
  });
  result.weights = solver.solve(result.lambda);
  if (left_out != nullptr) left_out->take(rows, solver, result.lambda);
  return result;
}

Selected decompose_dual(const Selecting& how, Task task, solver::DualSystem system,
                        Context& context, LeftOutScores* left_out) {
  system.decompose(context);
  context.checkpoint();
  Selected result = select_by(system, how, [&](const auto& lambdas, PairedLosses& losses) {
    for_each_left_out(system, lambdas, context, adding_to(losses, task, system.outputs()));
  });
  result.weights = solve_dual(system, result.lambda, context, left_out);
  return result;
}

/// The mean over outputs of the squared roots of each feature; none: 1 each.
std::vector<double> shares_of(const solver::Coupling* coupling, int64_t features) {
  std::vector<double> shares(coupling == nullptr ? 0 : features, 0.0);
  const MatrixView<const double> roots =
      coupling == nullptr ? MatrixView<const double>() : coupling->roots();
  for (size_t c = 0; c < shares.size(); ++c) {
    const double* root = roots.row(coupling->shared() ? 0 : static_cast<int64_t>(c));
    for (int64_t k = 0; k < roots.cols; ++k) shares[c] += root[k] * root[k];
    shares[c] /= static_cast<double>(coupling->outputs());
  }
  return shares;
}

bool validates(Selection selection) {
  return selection == Selection::held_out || selection == Selection::kfold;
}

Selected select_primal(const BlockSource& rows, const Selecting& how, Task task, bool center,
                       Context& context, LeftOutScores* left_out,
                       std::optional<solver::RowStatistics>* sums) {
  if (validates(how.selection)) return validate_primal(rows, how, task, center, context, left_out);
  const int64_t n = rows.rows();
  const bool fixed = how.selection == Selection::fixed;
  const int64_t solving =
      fixed ? primal_units(rows, left_out) : solver::eigen_rows(rows.features());
  Stage stage(context, n + solving + (how.selection == Selection::loo ? kLeftOutSums * n : 0));
  // What is decomposed after the last row is refused before the first.
  if (!fixed)
    context.require_room(solver::RidgePath::least_bytes(rows.features(), rows.outputs()),
                         "statistics and their eigenvectors");
  solver::RowStatistics statistics(rows.features(), rows.outputs(), context);
  solver::add_blocks(rows, statistics, context, [&](int64_t count) { stage.advance(count); });
  statistics = solver::take_reduced(rows, std::move(statistics));
  if (sums != nullptr) *sums = statistics.clone(context);
  if (!fixed) {
    const solver::RidgePath path = stage.part(
        solving, [&] { return solver::RidgePath(std::move(statistics), center, context); });
    return decompose_primal(rows, how, task, path, stage, context, left_out);
  }
  stage.share(solving);
  return {solve_primal(rows, std::move(statistics), center, how.lambda, context, left_out),
          how.lambda,
          {}};
}

Selected select_dual(const BlockSource& rows, const Selecting& how, Task task, bool center,
                     Context& context, LeftOutScores* left_out) {
  if (validates(how.selection)) return validate_dual(rows, how, task, center, context, left_out);
  const int64_t n = rows.rows();
  const bool fixed = how.selection == Selection::fixed;
  // In n D products: of a row its features take many, its products with all rows one.
  const int64_t solving =
      dual_units(rows, fixed ? solver::cholesky_rows(n) : solver::eigen_rows(n));
  Stage stage(context, 2 * n + solving);
  solver::DualSystem system =
      solver::make_dual_system(rows, center, context, [&](int64_t count) { stage.advance(count); });
  stage.advance(n);
  stage.share(solving);
  if (!fixed) return decompose_dual(how, task, std::move(system), context, left_out);
  return {solve_dual(system, how.lambda, context, left_out), how.lambda, {}};
}

/// Of fewer rows than features its own system serves, and outputs that are coupled have theirs.
Selected select_coupled(const BlockSource& rows, const Selecting& how, Task task,
                        const solver::RidgeProblem& problem, Context& context,
                        LeftOutScores* left_out) {
  const bool likeliest = how.selection == Selection::evidence;
  require(how.selection != Selection::gcv && !(likeliest && how.noise > 0), MERCER_UNSUPPORTED,
          "select.by = %s of outputs that are coupled or miss targets, expected leave_one_out, "
          "folds, held_out, or evidence without noise",
          likeliest ? "evidence with noise" : "gcv");
  const int64_t units = solver::coupled_rows(rows, problem);
  double lambda = how.lambda;
  std::vector<PathPoint> path;
  if (validates(how.selection)) {
    const auto make = [&](const BlockSource& some, const RowsDone& done) {
      return solver::make_coupled_path(some, problem, context, done);
    };
    path = validated_path(rows, how, task, units, make, context);
    lambda = best_point(path).lambda;
  }
  const bool leaves_out = how.selection == Selection::loo;
  if (!leaves_out && !likeliest && left_out == nullptr)
    return {solver::make_coupled_factors(rows, problem, context)->solve(lambda, context), lambda,
            std::move(path)};
  Stage stage(context, rows.rows() + units + kLeftOutSums * rows.rows());
  const auto system = solver::make_coupled_path(rows, problem, context,
                                                [&](int64_t count) { stage.advance(count); });
  stage.advance(units);
  if (leaves_out) {
    PairedLosses losses(how.lambda_count);
    path = empty_path(how);
    for_each_left_out(rows, *system, lambdas_of(path), context,
                      adding_to(losses, task, rows.outputs()),
                      [&](int64_t count) { stage.advance(kLeftOutSums * count); });
    losses.reduce(rows);
    lambda = choose_left_out(
        losses, [&](double at) { return system->effective_dimension(at); }, path);
  }
  if (likeliest) lambda = likeliest_point(*system, path = empty_path(how)).lambda;
  if (left_out != nullptr) left_out->take(rows, *system, lambda);
  return {system->solve(lambda, context), lambda, std::move(path)};
}

/// Passes over the rows: lambda by validation alone.
Selected select_iterative(const BlockSource& rows, const Selecting& how, Task task,
                          const solver::RidgeProblem& problem, Context& context) {
  const int64_t units = kIterations * rows.rows();
  const bool chooses = validates(how.selection);
  Stage stage(context, (chooses ? how.lambda_count : 0) * units + units + rows.rows());
  double lambda = how.lambda;
  std::vector<PathPoint> path;
  if (chooses) {
    const auto make = [&](const BlockSource& some, const RowsDone& done) {
      return solver::make_iterative_path(some, problem, context, done);
    };
    path = stage.part(how.lambda_count * units,
                      [&] { return validated_path(rows, how, task, units, make, context); });
    lambda = best_point(path).lambda;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto solver = solver::make_iterative_path(rows, problem, context,
                                                  [&](int64_t count) { stage.advance(count); });
  stage.share(units);
  solver::Iterated found = solver->iterate(lambda, context);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {std::move(found.weights),
          lambda,
          std::move(path),
          {found.iterations, found.residual, took.count()}};
}

}  // namespace

int64_t primal_units(const solver::BlockSource& rows, const LeftOutScores* left_out) {
  return solver::cholesky_rows(rows.features()) + (left_out == nullptr ? 0 : rows.rows());
}

int64_t dual_units(const solver::BlockSource& rows, int64_t sums) {
  return static_cast<int64_t>(static_cast<double>(sums) * static_cast<double>(rows.rows()) /
                              static_cast<double>(rows.features())) +
         1;
}

solver::Weights solve_primal(const solver::BlockSource& rows, solver::RowStatistics statistics,
                             bool center, double lambda, Context& context,
                             LeftOutScores* left_out) {
  if (lambda == 0) {  // the weights of least norm, also of columns that depend on each other
    const solver::RidgePath path(std::move(statistics), center, context);
    if (left_out != nullptr) left_out->take(rows, path, lambda);
    return path.solve(lambda);
  }
  Stage stage(context, primal_units(rows, left_out));
  stage.share(solver::cholesky_rows(rows.features()));
  const solver::RidgeFactor factor(std::move(statistics), center, lambda, context);
  stage.advance(solver::cholesky_rows(rows.features()));
  solver::Weights weights = factor.weights(context);
  if (left_out != nullptr) left_out->take(rows, factor, weights);
  return weights;
}

solver::Weights solve_dual(solver::DualSystem& system, double lambda, Context& context,
                           LeftOutScores* left_out) {
  if (left_out == nullptr) return system.solve(lambda, context);
  Matrix<double> residuals;
  solver::Weights weights = system.solve(lambda, context, residuals);
  left_out->take(system, residuals);
  return weights;
}

double lambda_unit(const kernel::Kernel& kernel, const solver::Coupling* coupling,
                   const BlockSource& rows, Context& context) {
  if (kernel.spectral_law() != nullptr) return kernel.value_at_zero();
  const auto columns = rows.kernel_columns();
  const std::vector<double> shares = shares_of(coupling, rows.features());
  double sums[2] = {};  // of weights times k(x, x), and of weights
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    for (int64_t i = 0; i < block.Z.rows; ++i) {
      const double* z = block.Z.row(i);
      double own = columns ? z[(*columns)[block.first + i]] : 0;
      for (int64_t j = 0; j < block.Z.cols && !columns; ++j)
        own += z[j] * z[j] * (shares.empty() ? 1 : shares[j]);
      if (const double weight = block.weight(i); weight > 0) {
        sums[0] += weight * own;
        sums[1] += weight;
      }
    }
  });
  solver::reduce(rows, sums);
  const double unit = sums[0] / sums[1];
  require(!std::isnan(unit) || sums[1] == 0, MERCER_INVALID_ARGUMENT, solver::kFeaturesNotFinite);
  const bool plain = !(unit > 0) || std::abs(unit - 1) < kUnitRounding;
  return plain ? 1 : unit;
}

std::vector<PathPoint> empty_path(const Selecting& how) {
  std::vector<PathPoint> path;
  for (const double lambda :
       solver::lambda_grid(how.lambda_largest, how.lambda_smallest, how.lambda_count)) {
    path.push_back({how.unit * lambda, 0.0});
  }
  return path;
}

// By the paired rule the least lambda is chosen only where it is better than the next by more than
// the error of their difference, however little that is. Errors of n rows are known to sqrt(2 / n)
// of themselves: a hundredth is seen in a score of 20,000 rows or more.
std::vector<std::string> end_warnings(std::span<const PathPoint> path, const Selecting& chosen,
                                      double constant, bool interpolates) {
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
    if (largest.lambda >= Selecting().lambda_largest * chosen.unit)
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

const PathPoint& best_point(const std::vector<PathPoint>& path) {
  size_t best = 0;
  for (size_t k = 1; k < path.size(); ++k) {
    if (path[k].score < path[best].score || std::isnan(path[best].score)) best = k;
  }
  return path[best];
}

PathPoint likeliest_point(const solver::CoupledPath& system, std::vector<PathPoint>& path) {
  const auto negative = [&](double lambda) { return system.evidence(lambda); };
  for (PathPoint& point : path) point.score = negative(point.lambda);
  const PathPoint& best = best_point(path);
  require(std::isfinite(best.score), MERCER_INVALID_ARGUMENT,
          "no lambda has a finite score by the evidence of %ld outputs: expected weights of rows "
          "of mean 1 or another selection",
          system.outputs());
  const double lambda = most_likely(negative, path, best.lambda);
  return {lambda, negative(lambda)};
}

Selected select(const solver::BlockSource& rows, const Selecting& how, Task task,
                const solver::RidgeProblem& problem, Context& context, LeftOutScores* left_out,
                std::optional<solver::RowStatistics>* sums) {
  require(!rows.is_complex() ||
              (problem.iterative == solver::Iterative::no && !problem.is_coupled(rows) &&
               how.selection != Selection::gcv && how.selection != Selection::evidence),
          MERCER_UNSUPPORTED,
          "a complex map with solver = cg or mixed, outputs that are coupled or miss targets, or "
          "select.by = "
          "gcv or evidence, expected a real one: form pair or phase, field real or "
          "complex_to_real");
  if (problem.iterative != solver::Iterative::no)
    return select_iterative(rows, how, task, problem, context);
  if (problem.is_coupled(rows)) return select_coupled(rows, how, task, problem, context, left_out);
  const bool center = problem.center;
  return solver::is_dual(rows) ? select_dual(rows, how, task, center, context, left_out)
                               : select_primal(rows, how, task, center, context, left_out, sums);
}

// Held-out rows are predicted row by row, so that classification can count errors. One Gram matrix
// serves every fold: the fold's rows are removed from the total and added back afterwards.

namespace {

using solver::BlockSource;
using solver::RowsDone;

/// The score of every lambda on held-out rows.
std::vector<HeldOutScore> score_fold(const BlockSource& fold, const Selecting& how, Task task,
                                     const solver::LambdaPath& solver, Context& context) {
  std::vector<solver::Weights> weights;
  const std::vector<PathPoint> path = empty_path(how);
  Stage stage(context, std::ssize(path));
  for (const PathPoint& point : path) {
    context.checkpoint();
    stage.share(1);
    weights.push_back(solver.solve(point.lambda, context));
    stage.advance(1);
  }
  return score_rows(fold, task, weights, context);
}

/// Means over the folds' rows.
std::vector<PathPoint> scored_path(const Selecting& how, Task task,
                                   const std::vector<std::vector<HeldOutScore>>& folds) {
  double all = 0;
  for (const auto& fold : folds) all += fold[0].weight;
  require(all > 0, MERCER_INVALID_ARGUMENT,
          "the weights of the rows held out sum to %g, expected a positive number", all);
  std::vector<PathPoint> path = empty_path(how);
  for (const auto& fold : folds) {
    const double share = fold[0].weight / all;
    for (size_t k = 0; share > 0 && k < path.size(); ++k)
      path[k].score += share * fold[k].criterion(task);
  }
  return path;
}

/// Every process holds out its own rows. If one has too few, all refuse, so that none waits for its
/// sums.
void require_rows_to_hold_out(const BlockSource& rows, const Selecting& how) {
  const int64_t least = how.selection == Selection::kfold ? how.folds : 2;
  double with_few = rows.rows() < least ? 1 : 0;
  solver::reduce(rows, {&with_few, 1});
  require(with_few == 0, MERCER_INVALID_ARGUMENT,
          "%g processes hold fewer than %ld rows, of which each holds some "
          "out, expected none; "
          "this one holds %ld",
          with_few, least, rows.rows());
}

/// One split for held_out, K splits for kfold.
std::vector<Split> validation_splits(const Selecting& how, const BlockSource& rows) {
  require_rows_to_hold_out(rows, how);
  const int64_t n = rows.rows();
  const SplitRule rule{rows.classes(), rows.groups(), how.ordered};
  if (how.selection == Selection::kfold) return fold_splits(all_rows(n), how.folds, how.seed, rule);
  return {split_rows(all_rows(n), how.held_out_fraction, n, how.seed, Purpose::choice, rule)};
}

int64_t size_of(const Split& fold) { return std::ssize(fold.held_out); }

/// A path from the statistics of a fold's training rows, which are referred to if D is large.
std::unique_ptr<solver::LambdaPath> path_of(const solver::RowStatistics& statistics, bool center,
                                            Context& context) {
  if (statistics.features() > kMostEigenFeatures)
    return solver::make_cholesky_path(statistics, center);
  return solver::make_eigen_path(statistics.clone(context), center, context);
}

/// The work of a fold: one decomposition, or a factor for each lambda.
int64_t path_units(const Selecting& how, int64_t features) {
  return features > kMostEigenFeatures ? how.lambda_count * solver::cholesky_rows(features)
                                       : solver::eigen_rows(features);
}

}  // namespace

Selected validate_primal(const BlockSource& rows, const Selecting& how, Task task, bool center,
                         Context& context, LeftOutScores* left_out) {
  const auto folds = validation_splits(how, rows);
  // The training rows of the first fold; then each next fold is removed (unless rows are ordered)
  // and the last one added.
  int64_t rows_read = std::ssize(folds[0].train) - (how.ordered ? 0 : size_of(folds[0]));
  for (const auto& fold : folds) rows_read += (how.ordered ? 1 : 2) * size_of(fold);
  const int64_t of_fold = path_units(how, rows.features());
  Stage stage(context, rows_read + std::ssize(folds) * of_fold + primal_units(rows, left_out));
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  solver::RowStatistics statistics(rows.features(), rows.outputs(), context);
  solver::add_blocks(*rows.subset(folds[0].train), statistics, context, done);
  std::vector<std::vector<HeldOutScore>> scores;
  for (const Split& split : folds) {
    const auto fold = rows.subset(split.held_out);
    if (!scores.empty() && !how.ordered) solver::remove_blocks(*fold, statistics, context, done);
    stage.share(of_fold);
    if (rows.reduction() == nullptr) {
      const auto path = path_of(statistics, center, context);
      scores.push_back(score_fold(*fold, how, task, *path, context));
    } else {
      const auto all = solver::take_reduced(rows, statistics.clone(context));
      const auto path = path_of(all, center, context);
      scores.push_back(score_fold(*fold, how, task, *path, context));
    }
    stage.advance(of_fold);
    solver::add_blocks(*fold, statistics, context, done);
  }
  Selected result{{}, 0, scored_path(how, task, scores)};
  result.lambda = best_point(result.path).lambda;
  stage.share(primal_units(rows, left_out));
  result.weights = solve_primal(rows, solver::take_reduced(rows, std::move(statistics)), center,
                                result.lambda, context, left_out);
  stage.advance(primal_units(rows, left_out));
  return result;
}

std::vector<PathPoint> validated_path(const BlockSource& rows, const Selecting& how, Task task,
                                      int64_t of_fold, const PathMaker& make, Context& context) {
  const auto folds = validation_splits(how, rows);
  int64_t rows_read = 0;
  for (const auto& fold : folds) rows_read += std::ssize(fold.train);
  Stage stage(context, rows_read + std::ssize(folds) * of_fold);
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  std::vector<std::vector<HeldOutScore>> scores;
  for (const Split& fold : folds) {
    const auto part = rows.subset(fold.train);
    const auto path = make(*part, done);
    stage.share(of_fold);
    scores.push_back(score_fold(*rows.subset(fold.held_out), how, task, *path, context));
    stage.advance(of_fold);
  }
  return scored_path(how, task, scores);
}

Selected validate_dual(const BlockSource& rows, const Selecting& how, Task task, bool center,
                       Context& context, LeftOutScores* left_out) {
  const int64_t factor = dual_units(rows, solver::cholesky_rows(rows.rows()));
  const int64_t of_fold = dual_units(rows, solver::eigen_rows(rows.rows()));
  const int64_t choosing = how.folds * (rows.rows() + of_fold);
  Stage stage(context, choosing + rows.rows() + factor);
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  const auto make = [&](const BlockSource& some, const RowsDone& read) {
    return solver::make_dual_eigen_path(solver::make_dual_system(some, center, context, read),
                                        context);
  };
  stage.share(choosing);
  Selected result{{}, 0, validated_path(rows, how, task, of_fold, make, context)};
  stage.advance(choosing);
  result.lambda = best_point(result.path).lambda;
  solver::DualSystem system = solver::make_dual_system(rows, center, context, done);
  stage.share(factor);
  result.weights = solve_dual(system, result.lambda, context, left_out);
  stage.advance(factor);
  return result;
}

}  // namespace mercer::model
