// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/coupled_path.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "solver/block_statistics.h"
#include "solver/centering.h"
#include "solver/group_path.h"
#include "solver/inverse_trace.h"
#include "solver/jittered_cholesky.h"
#include "solver/kernel_ridge.h"
#include "solver/rotated_path.h"
#include "solver/work.h"

namespace mercer::solver {
namespace {

constexpr const char* kCoupledRidge = "ridge of coupled outputs";

/// The size of the eigenproblem, and whether it is that of the targets.
struct Side {
  int64_t size;
  bool dual;
};
Side side_of(const BlockSource& rows, const Coupling& coupling, Context& context) {
  const int64_t r = coupling.coefficients(rows.features());
  const int64_t m = rows.is_complete()
                        ? checked_multiply(rows.rows(), rows.outputs(), kCoupledRidge)
                        : observed(rows, context).targets;
  const bool dual = m < r && rows.reduction() == nullptr;
  return {dual ? m : r, dual};
}

void check(const BlockSource& rows, const RidgeProblem& problem) {
  require(!rows.kernel_columns() ||
              (rows.is_complete() && problem.coupling != nullptr && problem.coupling->shared()),
          MERCER_UNSUPPORTED,
          "missing targets, or outputs that no one matrix joins, with the kernel itself (map "
          "exact), expected a map of features");
  require(problem.coupling == nullptr || problem.coupling->outputs() == rows.outputs(),
          MERCER_DIMENSION_MISMATCH, "Y has %ld columns, expected the %ld outputs of the kernel",
          rows.outputs(), problem.coupling == nullptr ? 0 : problem.coupling->outputs());
}

/// The path without any observed target: zero at every lambda.
class EmptyPath final : public CoupledPath {
 public:
  EmptyPath(int64_t features, int64_t outputs) : features_(features), outputs_(outputs) {}
  int64_t outputs() const noexcept override { return outputs_; }
  Weights solve(double, Context& context) const override {
    Weights weights{Matrix<double>(features_, outputs_, context, kCoupledRidge),
                    std::vector<double>(outputs_, 0.0)};
    weights.w.fill(0);
    return weights;
  }
  double effective_dimension(double) const override { return 0; }
  double evidence(double) const override { return 0; }
  Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                               Context& context) const override {
    Matrix<double> none(block.Z.rows,
                        checked_multiply(std::ssize(lambdas), outputs_, kCoupledRidge), context,
                        kCoupledRidge);
    none.fill(0);
    return none;
  }

 private:
  int64_t features_, outputs_;
};

/// Independent outputs, each fitted to the rows that have its target.
class SeparatePath final : public CoupledPath {
 public:
  SeparatePath(const BlockSource& rows, bool center, Context& context, const RowsDone& done)
      : one_(Coupling::independent(1, context)) {
    const int64_t p = rows.outputs();
    const double n = observed(rows, context).weight;
    for (int64_t k = 0; k < p; ++k) {
      const auto own = one_output(rows, k);
      if (observed(*own, context).targets == 0) {
        paths_.push_back(std::make_unique<EmptyPath>(rows.features(), 1));
        continue;
      }
      auto path = std::make_unique<GroupPath>(*own, RidgeProblem{center, &one_}, one_,
                                              side_of(*own, one_, context).dual, context,
                                              k + 1 < p ? RowsDone() : done);
      path->count(n);
      paths_.push_back(std::move(path));
    }
  }
  int64_t outputs() const noexcept override { return std::ssize(paths_); }
  Weights solve(double lambda, Context& context) const override {
    Weights all;
    for (int64_t k = 0; k < outputs(); ++k) {
      const Weights own = paths_[k]->solve(lambda, context);
      if (k == 0) all.w = Matrix<double>(own.w.rows(), outputs(), context, kCoupledRidge);
      for (int64_t c = 0; c < own.w.rows(); ++c) all.w(c, k) = own.w(c, 0);
      all.intercept.push_back(own.intercept[0]);
    }
    return all;
  }
  double effective_dimension(double lambda) const override {
    double sum = 0;
    for (const auto& path : paths_) sum += path->effective_dimension(lambda);
    return sum / static_cast<double>(outputs());
  }
  double evidence(double lambda) const override {
    double sum = 0;
    for (const auto& path : paths_) sum += path->evidence(lambda);
    return sum;
  }
  Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                               Context& context) const override {
    const int64_t p = outputs(), L = std::ssize(lambdas);
    Matrix<double> all(block.Z.rows, checked_multiply(L, p, kCoupledRidge), context, kCoupledRidge);
    for (int64_t k = 0; k < p; ++k) {
      WideBlock own = block;
      own.Y = block.Y.block_cols(k, k + 1);
      const Matrix<double> e = paths_[k]->leave_one_out(lambdas, own, context);
      for (int64_t i = 0; i < e.rows(); ++i)
        for (int64_t l = 0; l < L; ++l) all(i, l * p + k) = e(i, l);
    }
    return all;
  }

 private:
  Coupling one_;
  std::vector<std::unique_ptr<CoupledPath>> paths_;
};

/// A factor of H + n lambda I for each lambda.
class GroupFactors final : public LambdaPath {
 public:
  GroupFactors(GroupSums sums, const Coupling& coupling)
      : sums_(std::move(sums)), coupling_(coupling) {}
  Weights solve(double lambda, Context& context) const override {
    return solved(lambda, context, nullptr);
  }
  Solution solution(double lambda, Context& context) const override {
    double taken = 0;  // by the penalty
    Weights weights = solved(lambda, context, &taken);
    const auto& share = sums_.means.share;
    const auto intercepts =
        static_cast<double>(std::ranges::count_if(share, [](double s) { return s > 0; }));
    const double all = static_cast<double>(sums_.H.rows()) - taken + intercepts;
    return {std::move(weights), all / static_cast<double>(coupling_.outputs())};
  }

 private:
  /// taken: null, or r - Tr H.
  Weights solved(double lambda, Context& context, double* taken) const {
    const double shift = checked_shift(lambda, sums_.n);
    const int64_t r = sums_.H.rows();
    const Matrix<double> A(r, r, context, kCoupledRidge);
    for (int64_t j = 0; j < r; ++j) {
      std::copy_n(sums_.H.view().row(j), j + 1, A.view().row(j));
      A(j, j) += shift;
    }
    std::vector<double> theta = sums_.s;
    const MatrixView<double> solution(theta.data(), r, 1);
    if (lambda == 0) {  // of least norm, also where columns depend on each other
      const int64_t rank = solve_pseudo_inverse(A.view(), solution, context);
      if (taken != nullptr) *taken = static_cast<double>(r - rank);
      return weights_of(coupling_, sums_.means, theta, context);
    }
    jittered_cholesky(A.view(), context);
    linalg::cholesky_solve(A.view(), solution);
    if (taken != nullptr) *taken = shift * inverse_trace(A.view(), context);
    return weights_of(coupling_, sums_.means, theta, context);
  }
  GroupSums sums_;
  const Coupling& coupling_;
};

bool is_rotated(const BlockSource& rows, const RidgeProblem& problem) {
  return problem.coupling != nullptr && problem.coupling->shared() && rows.is_complete();
}

}  // namespace

std::unique_ptr<CoupledPath> make_coupled_path(const BlockSource& rows, const RidgeProblem& problem,
                                               Context& context, const RowsDone& done) {
  check(rows, problem);
  if (is_rotated(rows, problem)) return make_rotated_path(rows, problem, context, done);
  if (problem.coupling == nullptr)
    return std::make_unique<SeparatePath>(rows, problem.center, context, done);
  if (!rows.is_complete() && observed(rows, context).targets == 0)
    return std::make_unique<EmptyPath>(rows.features(), rows.outputs());
  const Side side = side_of(rows, *problem.coupling, context);
  const int64_t square =
      checked_multiply(checked_multiply(16, side.size, kCoupledRidge), side.size, kCoupledRidge);
  context.require_room(square, kCoupledRidge);
  return std::make_unique<GroupPath>(rows, problem, *problem.coupling, side.dual, context, done);
}

std::unique_ptr<LambdaPath> make_coupled_factors(const BlockSource& rows,
                                                 const RidgeProblem& problem, Context& context,
                                                 const RowsDone& done) {
  const bool plain = problem.coupling == nullptr || is_rotated(rows, problem);
  if (plain || side_of(rows, *problem.coupling, context).dual)
    return make_coupled_path(rows, problem, context, done);
  check(rows, problem);
  return std::make_unique<GroupFactors>(group_sums(rows, problem, *problem.coupling, context, done),
                                        *problem.coupling);
}

std::unique_ptr<LambdaPath> make_decomposed_path(const BlockSource& rows,
                                                 const RidgeProblem& problem, Context& context,
                                                 const RowsDone& done) {
  if (problem.is_coupled(rows)) return make_coupled_path(rows, problem, context, done);
  if (is_dual(rows))
    return make_dual_eigen_path(make_dual_system(rows, problem.center, context, done), context);
  RowStatistics statistics(rows.features(), rows.outputs(), context);
  add_blocks(rows, statistics, context, done);
  return make_eigen_path(take_reduced(rows, std::move(statistics)), problem.center, context);
}

int64_t coupled_rows(const BlockSource& rows, const RidgeProblem& problem) {
  const int64_t q =
      problem.coupling == nullptr || is_rotated(rows, problem) ? 1 : problem.coupling->width();
  return q * q * eigen_rows(std::min(rows.rows(), rows.features()));
}

}  // namespace mercer::solver
