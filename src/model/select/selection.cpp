// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge on all rows at the lambda that a criterion chooses: by scores of rows that
// are held out, or from one decomposition of all rows.
#include "model/select/selection.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/lbfgs.h"
#include "solver/block_statistics.h"
#include "solver/coupled_system.h"

namespace mercer::model {
namespace {

// A huge loss in one row has a standard error as large as its excess, so the error alone would not
// exclude it.
constexpr double kMostExcess = 1;          // of the least loss
constexpr double kFarther = 100;           // step of a walk while there is no fit
constexpr double kLambdaTolerance = 1e-3;  // of log lambda
constexpr int64_t kUsualTries = 10;        // of lambdas by slopes
constexpr int64_t kChoosingProbes = 4;  // their error of a slope is far below its change by lambda
constexpr double kStillFalls = 0.01;
constexpr double kNearlyExact = 1e-3;  // of a constant: without noise no lambda is needed

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

void walk_downhill(const WalkPlan& plan, const std::function<double(double lambda)>& loss_at) {
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

int64_t one_standard_error_choice(const PairedLosses& losses, std::span<const double> ranks) {
  const int64_t best = least_loss(losses);
  const double least = losses.mean(best);
  const double bound = least > 0 ? kMostExcess * least : kInfinity;
  int64_t chosen = best;
  for (int64_t k = 0; k < losses.candidates(); ++k) {
    const double excess = losses.mean(k) - losses.mean(best);
    if (!(excess <= losses.error_of_difference(k, best)) || excess > bound) continue;
    if (ranks[k] < ranks[chosen]) chosen = k;
  }
  return chosen;
}

double sum_over_outputs(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The evidence is nearly unimodal in log lambda: between the neighbours of the path's best it is
// maximised by sections.
PathPoint likeliest_point(const solver::RidgeSystem& system, std::vector<PathPoint>& path,
                          double noise) {
  const auto negative = [&](double lambda) {
    return sum_over_outputs(system.evidence(lambda, noise));
  };
  for (PathPoint& point : path) point.score = negative(point.lambda);
  const PathPoint& best = best_point(path);
  require_score(best, "the evidence");
  const double step = path.size() < 2 ? 0 : std::log(path[0].lambda / path[1].lambda);
  const double lambda = std::exp(
      linalg::golden_sections(std::log(best.lambda) - step, std::log(best.lambda) + step,
                              kLambdaTolerance, [&](double at) { return negative(std::exp(at)); }));
  return {lambda, negative(lambda)};
}

namespace {

struct SlopePoint {
  double at, slope;  // log lambda
};

/// Where a slope from below 0 to above is 0, by false position; a point that stays twice counts half
/// (Dowell, Jarratt 1971: Illinois).
template <class Slope>
double flat_point(SlopePoint low, SlopePoint high, double tolerance, const Slope& slope_at) {
  bool low_stayed = false, high_stayed = false;
  double last = kInfinity;
  for (;;) {
    const double at = (low.at * high.slope - high.at * low.slope) / (high.slope - low.slope);
    if (std::abs(at - last) < tolerance) return at;
    last = at;
    const double slope = slope_at(at);
    if (slope == 0) return at;
    if (slope < 0) {
      low = {at, slope};
      if (high_stayed) high.slope /= 2;
    } else {
      high = {at, slope};
      if (low_stayed) low.slope /= 2;
    }
    low_stayed = slope > 0;
    high_stayed = slope < 0;
  }
}

}  // namespace

PathPoint likeliest_by_slope(const solver::RidgeSystem& system, const SelectionOptions& how,
                             Context& context, std::vector<PathPoint>& path) {
  const double least = std::log(how.unit * how.lambda_smallest),
               most = std::log(how.unit * how.lambda_largest);
  Stage stage(context, kUsualTries);
  const auto slope_at = [&](double at) {
    stage.share(1);
    const solver::EvidencePoint point =
        system.sampled_evidence(std::exp(at), how.noise, {kChoosingProbes, how.seed}, {}, context);
    require(std::isfinite(point.value) && std::isfinite(point.slopes[0]), MERCER_INVALID_ARGUMENT,
            "the evidence at lambda = %g is not finite, expected a larger lambda", std::exp(at));
    path.push_back({std::exp(at), point.value});
    stage.advance(1);
    return point.slopes[0];
  };
  SlopePoint from{std::clamp(std::log(how.unit * WalkPlan().start), least, most), 0};
  from.slope = slope_at(from.at);
  const bool falls = from.slope > 0;  // the lambdas that follow
  double chosen = from.at;
  for (;;) {
    const double step = std::log(WalkPlan().factor);
    SlopePoint next{std::clamp(from.at + (falls ? -step : step), least, most), 0};
    chosen = next.at;
    if (next.at == from.at) break;
    next.slope = slope_at(next.at);
    if (falls != (next.slope > 0)) {
      chosen = flat_point(falls ? next : from, falls ? from : next, kLambdaTolerance, slope_at);
      break;
    }
    from = next;
  }
  std::ranges::sort(path, std::ranges::greater(), &PathPoint::lambda);
  const auto distance = [&](const PathPoint& point) {
    return std::abs(std::log(point.lambda) - chosen);
  };
  return {std::exp(chosen), std::ranges::min_element(path, {}, distance)->score};
}

/// By leave-one-out and the paired rule, generalised cross-validation or the evidence; the path
/// gets its points.
static PathPoint choose_point(const solver::RidgeSystem& system, const solver::BlockSource& rows,
                              const SelectionOptions& how, Task task, Context& context,
                              std::vector<PathPoint>& path, const solver::RowsDone& done) {
  path = empty_path(how);
  if (how.selection == Selection::evidence) return likeliest_point(system, path, how.noise);
  if (how.selection == Selection::gcv) {
    for (PathPoint& point : path) point.score = sum_over_outputs(system.gcv(point.lambda));
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

namespace {

using solver::BlockSource, solver::RidgeProblem, solver::RidgeUse, solver::RowsDone;

// Residuals of rows left out take their products with the eigenvectors and squares of these.
constexpr int64_t kLeftOutSums = 2;
constexpr int64_t kSlopeSolutions = 40;  // lambdas that are tried, and draws of each
constexpr double kUnitRounding = 1e-6;   // of sums of squared features in single precision

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

bool validates(const SelectionOptions& how) {
  return how.selection == Selection::held_out || how.selection == Selection::folds;
}

void check_selection(const BlockSource& rows, const SelectionOptions& how,
                     const RidgeProblem& problem) {
  const bool coupled = problem.is_coupled(rows);
  const bool gcv = how.selection == Selection::gcv,
             likeliest = how.selection == Selection::evidence;
  require(!rows.is_complex() ||
              (problem.iterative == solver::Iterative::no && !coupled && !gcv && !likeliest),
          MERCER_UNSUPPORTED,
          "a complex map with solver = cg or mixed, outputs that are coupled or miss targets, or "
          "select.by = gcv or evidence, expected a real one: form pair or phase, field real or "
          "complex_to_real");
  require(!coupled || problem.iterative != solver::Iterative::no ||
              (!gcv && !(likeliest && how.noise > 0)),
          MERCER_UNSUPPORTED,
          "select.by = %s of outputs that are coupled or miss targets, expected leave_one_out, "
          "folds, held_out, or evidence without noise",
          likeliest ? "evidence with noise" : "gcv");
}

/// The score of every lambda on held-out rows.
std::vector<HeldOutScore> score_fold(const BlockSource& fold, const SelectionOptions& how,
                                     Task task, const solver::RidgeSystem& system,
                                     Context& context) {
  std::vector<solver::Weights> weights;
  const std::vector<PathPoint> path = empty_path(how);
  Stage stage(context, std::ssize(path));
  for (const PathPoint& point : path) {
    context.checkpoint();
    stage.share(1);
    weights.push_back(system.solve(point.lambda, context));
    stage.advance(1);
  }
  return score_rows(fold, task, weights, context);
}

/// Means over the folds' rows.
std::vector<PathPoint> scored_path(const SelectionOptions& how, Task task,
                                   const std::vector<std::vector<HeldOutScore>>& folds) {
  double all = 0;
  for (const auto& fold : folds) all += fold[0].weight;
  require(all > 0, MERCER_INVALID_ARGUMENT,
          "the weights of the rows held out with a target sum to %g, expected a positive number",
          all);
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
void require_rows_to_hold_out(const BlockSource& rows, const SelectionOptions& how) {
  const int64_t least = how.selection == Selection::folds ? how.folds : 2;
  double with_few = rows.rows() < least ? 1 : 0;
  solver::reduce(rows, {&with_few, 1});
  require(
      with_few != 1 || rows.rows() >= least, MERCER_INVALID_ARGUMENT,
      "%ld rows (in this process, if there are several), expected at least %ld to hold some out",
      rows.rows(), least);
  require(with_few == 0, MERCER_INVALID_ARGUMENT,
          "%g processes hold fewer than %ld rows, of which each holds some out, "
          "expected none; this one holds %ld",
          with_few, least, rows.rows());
}

}  // namespace

std::vector<Split> validation_splits(const SelectionOptions& how, const BlockSource& rows) {
  require_rows_to_hold_out(rows, how);
  const int64_t n = rows.rows();
  const SplitRule rule{rows.classes(), rows.groups(), how.ordered};
  if (how.selection == Selection::folds) return fold_splits(all_rows(n), how.folds, how.seed, rule);
  return {split_rows(all_rows(n), how.held_out_fraction, n, how.seed, Purpose::choice, rule)};
}

namespace {

/// Scores of lambdas by a system of each fold's training rows. One Gram matrix serves every fold,
/// if it solves the problem: the fold's rows are removed from the total and added back afterwards
/// (the training rows of folds in order only grow); in the end `sums` has those of all rows.
std::vector<PathPoint> validated_path(const BlockSource& rows, const SelectionOptions& how,
                                      Task task, const RidgeProblem& problem, Context& context,
                                      std::shared_ptr<solver::RowStatistics>& sums) {
  const auto folds = validation_splits(how, rows);
  const RidgeUse use = solver::path_use(rows, problem);
  const solver::RidgeWork work = solver::ridge_work(rows, problem, use);
  const int64_t making = work.making - rows.rows(), solving = how.lambda_count * work.solution;
  int64_t rows_read = 0;
  for (const Split& fold : folds) rows_read += std::ssize(fold.train) + std::ssize(fold.held_out);
  Stage stage(context, rows_read + std::ssize(folds) * (making + solving));
  const RowsDone done = [&](int64_t count) { stage.advance(count); };
  if (solver::is_primal(rows, problem))
    sums = std::make_shared<solver::RowStatistics>(rows.features(), rows.outputs(), context);
  const auto system_of = [&](const Split& fold, const BlockSource& train) {
    if (sums == nullptr) return solver::make_ridge_system(train, problem, use, 0, context, done);
    if (&fold == folds.data()) {
      solver::add_blocks(train, *sums, context, done);
    } else if (!how.ordered) {
      solver::remove_blocks(*rows.subset(fold.held_out), *sums, context, done);
    }
    stage.share(making);
    // Factors refer to the sums, eigenvectors take their place.
    const bool refers = use == RidgeUse::few && rows.reduction() == nullptr;
    return solver::make_primal_system(refers
                                          ? sums
                                          : std::make_shared<solver::RowStatistics>(
                                                solver::take_reduced(rows, sums->clone(context))),
                                      problem.center, use, 0, context);
  };
  std::vector<std::vector<HeldOutScore>> scores;
  for (const Split& fold : folds) {
    const auto train = rows.subset(fold.train), held_out = rows.subset(fold.held_out);
    const auto system = system_of(fold, *train);
    stage.advance(making);
    stage.share(solving);
    scores.push_back(score_fold(*held_out, how, task, *system, context));
    stage.advance(solving);
    if (sums != nullptr) solver::add_blocks(*held_out, *sums, context, done);
  }
  if (sums != nullptr) *sums = solver::take_reduced(rows, std::move(*sums));
  return scored_path(how, task, scores);
}

}  // namespace

double lambda_unit(const kernel::Kernel& kernel, const solver::Coupling* coupling,
                   const BlockSource& rows, Context& context) {
  if (kernel.spectral_law() != nullptr) return kernel.value_at_zero();
  const auto columns = rows.kernel_columns();
  const int64_t p = rows.has_features_by_output() ? rows.outputs() : 1;
  const std::vector<double> shares = shares_of(coupling, rows.features());
  double sums[2] = {};  // of weights times k(x, x), and of weights
  rows.keep_next_pass([&](StateBytes& state) { state.number(sums); });
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    for (int64_t i = 0; i < block.Z.rows; ++i) {
      const double* z = block.Z.row(i);
      double own = 0;
      for (int64_t o = 0; o < p && columns; ++o)  // the mean diagonal of K(x, x)
        own += z[o * (rows.features() / p) + (*columns)[block.first + i] * p + o] /
               static_cast<double>(p);
      for (int64_t j = 0; j < block.Z.cols && !columns; ++j)
        own += z[j] * z[j] * (shares.empty() ? 1 : shares[j]);
      if (columns && !shares.empty()) own *= shares[0];  // of kernel columns all are alike
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

RidgeFit select(const BlockSource& rows, const SelectionOptions& how, Task task,
                const RidgeProblem& problem, Context& context, LeftOutScores* left_out,
                std::optional<solver::RowStatistics>* sums) {
  check_selection(rows, how, problem);
  const bool validated = validates(how), chooses = !validated && how.selection != Selection::fixed;
  // Of coupled outputs rows are left out by a decomposition alone.
  const bool decomposes = chooses || (left_out != nullptr && problem.is_coupled(rows));
  const RidgeUse use = decomposes ? RidgeUse::criteria : RidgeUse::one;
  const solver::RidgeWork work = solver::ridge_work(rows, problem, use);
  const int64_t n = rows.rows(),
                leaving = how.selection == Selection::leave_one_out ? kLeftOutSums * n : 0;
  const int64_t last = work.solution + (left_out == nullptr ? 0 : n);
  const int64_t validating =
      validated ? how.folds * (work.making + how.lambda_count * work.solution) : 0;
  const bool by_slope = chooses && problem.iterative != solver::Iterative::no;
  const int64_t choosing = by_slope ? kSlopeSolutions * work.solution : leaving;
  Stage stage(context, validating + work.making + choosing + last);
  RidgeFit result{{}, how.lambda, {}};
  std::shared_ptr<solver::RowStatistics> statistics;
  if (validated) {
    result.path = stage.part(
        validating, [&] { return validated_path(rows, how, task, problem, context, statistics); });
    result.lambda = best_point(result.path).lambda;
  }
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<solver::RidgeSystem> system = stage.part(work.making, [&] {
    return statistics
               ? solver::make_primal_system(std::move(statistics), problem.center, use,
                                            result.lambda, context)
               : solver::make_ridge_system(rows, problem, use, result.lambda, context, {}, sums);
  });
  if (by_slope)
    result.lambda =
        stage.part(choosing, [&] { return likeliest_by_slope(*system, how, context, result.path); })
            .lambda;
  else if (chooses)
    result.lambda =
        choose_point(*system, rows, how, task, context, result.path, [&](int64_t count) {
          stage.advance(kLeftOutSums * count);
        }).lambda;
  stage.share(last);
  if (left_out != nullptr) {
    result.weights = left_out->solve(rows, problem, *system, result.lambda);
    return result;
  }
  solver::Solution found = system->solution(result.lambda, solver::Want::weights, context);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  result.weights = std::move(found.weights);
  result.run = found.run;
  if (result.run.known()) {
    result.run.seconds = took.count();
    result.system = system;
  }
  return result;
}

}  // namespace mercer::model
