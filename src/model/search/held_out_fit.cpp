// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// For the few lambdas of a trial, Cholesky factors cost less time and memory than an
// eigendecomposition (about thirty factors at D = 4096), and the Gram matrix survives for the final
// fit.
#include "model/search/held_out_fit.h"

#include <algorithm>

#include "base/error.h"
#include "base/numbers.h"
#include "model/rows/scored_rows.h"
#include "solver/single_sums.h"

namespace mercer::model {
namespace {

constexpr size_t kLeastDecomposed = 10;  // lambdas from which an eigendecomposition is cheaper

}  // namespace

HeldOutFit::HeldOutFit(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                       solver::RowSet train, Sums sums, Context& context,
                       const solver::RowsDone& done)
    : rows_(rows), problem_(problem) {
  for (int64_t i = 0; i < train.count; ++i) fitted_.push_back(train[i]);
  if (problem.is_coupled(rows) || solver::is_dual(*rows.subset(train))) {
    make_path(context, done);
    return;
  }
  statistics_ = std::make_unique<solver::RowStatistics>(rows.features(), rows.outputs(), context);
  if (sums == Sums::single) {
    solver::add_blocks_single(*rows_.subset(train), *statistics_, context, done);
  } else {
    sum_rows(train, context, done);
  }
  path_ = solver::make_cholesky_path(*statistics_, problem_.center);
}

void HeldOutFit::sum_rows(solver::RowSet rows, Context& context, const solver::RowsDone& done) {
  solver::add_blocks(*rows_.subset(rows), *statistics_, context, done);
}

void HeldOutFit::make_path(Context& context, const solver::RowsDone& done) {
  const auto part = rows_.subset(fitted_);
  path_ =
      problem_.is_coupled(rows_)
          ? solver::make_coupled_factors(*part, problem_, context, done)
          : solver::make_dual_path(solver::make_dual_system(*part, problem_.center, context, done));
}

namespace {

/// None if the factorisation fails; `refused` has the reason.
std::optional<solver::Solution> solution_at(const solver::LambdaPath& path, double lambda,
                                            Context& context, std::exception_ptr& refused) {
  try {
    return path.solution(lambda, context);
  } catch (const Error& error) {
    if (error.status() != MERCER_NOT_POSITIVE_DEFINITE) throw;
    refused = std::current_exception();
    return std::nullopt;
  }
}

/// Judges held-out rows at the lambdas that have a solution.
Trial judge_path(const solver::LambdaPath& path, std::span<const double> lambdas,
                 const solver::BlockSource& held_out, const Judge& judge, Context& context,
                 std::exception_ptr& refused) {
  std::vector<TrialPoint> points;
  std::vector<solver::Weights> weights;
  for (const double lambda : lambdas) {
    context.checkpoint();
    auto solved = solution_at(path, lambda, context, refused);
    if (!solved) continue;
    points.push_back({.lambda = lambda, .dimension = solved->effective_dimension});
    weights.push_back(std::move(solved->weights));
  }
  if (points.empty()) return Trial{};
  TrialSums sums(judge, held_out.outputs(), std::ssize(points));
  for_each_scored(held_out, weights, context,
                  [&](int64_t i, const double* code, double weight, const double* scores) {
                    sums.add(i, code, weight, scores);
                  });
  return sums.finish(std::move(points));
}

}  // namespace

Trial HeldOutFit::judge(const LambdaPlan& plan, solver::RowSet held_out, const Judge& judge,
                        Context& context) const {
  const Judge own = judge.on(held_out);
  const auto part = rows_.subset(held_out);
  std::exception_ptr refused;
  const auto evaluate = [&](std::span<const double> lambdas) {
    return judge_path(*path_, lambdas, *part, own, context, refused);
  };
  Trial all;
  if (!plan.grid.empty()) {
    all = evaluate(plan.grid);
  } else {
    walk_lambda(plan, [&](double lambda) {
      Trial one = evaluate({&lambda, 1});
      if (one.points.empty()) return kInfinity;
      all.points.push_back(one.points[0]);
      all.losses.push_back(std::move(one.losses[0]));
      all.weights = std::move(one.weights);
      return one.points[0].loss;
    });
  }
  if (all.points.empty()) std::rethrow_exception(refused);
  return all;
}

Trial judge_splits(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                   const std::vector<Split>& splits, std::span<const double> lambdas,
                   const Judge& judge, Context& context, const solver::RowsDone& done) {
  std::vector<Trial> parts;
  for (const Split& split : splits) {
    if (lambdas.size() < kLeastDecomposed) {
      const HeldOutFit fit(rows, problem, split.train, HeldOutFit::Sums::exact, context, done);
      parts.push_back(
          fit.judge({.grid = {lambdas.begin(), lambdas.end()}}, split.held_out, judge, context));
      continue;
    }
    std::exception_ptr none;  // decompositions serve every lambda
    const auto path =
        solver::make_decomposed_path(*rows.subset(split.train), problem, context, done);
    parts.push_back(judge_path(*path, lambdas, *rows.subset(split.held_out),
                               judge.on(split.held_out), context, none));
  }
  Trial all = joined(std::move(parts));
  require(!all.points.empty(), MERCER_NOT_POSITIVE_DEFINITE,
          "no lambda from %g down to %g serves every split of the rows, expected a larger one",
          lambdas.front(), lambdas.back());
  return all;
}

void HeldOutFit::add(solver::RowSet more, Context& context) {
  for (int64_t i = 0; i < more.count; ++i) fitted_.push_back(more[i]);
  std::ranges::sort(fitted_);
  if (statistics_ != nullptr) return sum_rows(more, context, {});
  path_.reset();
  make_path(context, {});
}

}  // namespace mercer::model
