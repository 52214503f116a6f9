// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge of coupled outputs: the coupling, the path over lambda, and the shorter way for a shared
// root and complete targets.
#include "solver/coupled_path.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "solver/block_statistics.h"
#include "solver/dual_system.h"
#include "solver/group_path.h"
#include "solver/lambda_path.h"
#include "solver/ridge.h"
#include "solver/ridge_factor.h"

namespace mercer::solver {

// The CoupledPath for a shared root and complete targets. Private to solver.

/// The problem's coupling is referred to.
std::unique_ptr<CoupledPath> make_rotated_path(const BlockSource& rows, const RidgeProblem& problem,
                                               Context& context, const RowsDone& done);

namespace {

constexpr const char* kRoots = "roots of coupled outputs";

}  // namespace

Coupling::Coupling(int64_t outputs, Matrix<double> roots, std::vector<double> scale,
                   Context& context)
    : outputs_(outputs), roots_(std::move(roots)), scale_(std::move(scale)) {
  require(outputs >= 1 && roots_.rows() >= 1 && roots_.cols() >= outputs &&
              roots_.cols() % outputs == 0 && std::ssize(scale_) == outputs,
          MERCER_INVALID_ARGUMENT, "roots of %ld outputs are %ld x %ld, with %zu units", outputs,
          roots_.rows(), roots_.cols(), scale_.size());
  const double* const numbers = roots_.data();
  const int64_t count = roots_.rows() * roots_.cols();
  require(std::all_of(numbers, numbers + count, [](double x) { return std::isfinite(x); }) &&
              std::any_of(numbers, numbers + count, [](double x) { return x != 0; }),
          MERCER_INVALID_ARGUMENT, "roots of outputs are 0 or not finite, expected a rank of 1");
  if (!shared()) return;
  const MatrixView<const double> B(roots_.data(), outputs, width());
  const Matrix<double> V(outputs, outputs, context, kRoots);
  linalg::multiply(1.0, linalg::Transpose::no, B, linalg::Transpose::yes, B, 0.0, V.view());
  g_.resize(outputs);
  linalg::symmetric_eigen(V.view(), g_, context);
  // Eigenvalues below this are rounding errors of directions that B does not reach.
  const double least = kEpsilon * static_cast<double>(outputs) * g_.back();
  for (double& g : g_) g = g > least ? g : 0;
  Q_ = Matrix<double>(outputs, outputs, context, kRoots);
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t j = 0; j < outputs; ++j) Q_(k, j) = V(j, k);
}

Coupling Coupling::independent(int64_t outputs, Context& context) {
  Matrix<double> unit(1, checked_multiply(outputs, outputs, kRoots), context, kRoots);
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t l = 0; l < outputs; ++l) unit(0, k * outputs + l) = k == l ? 1 : 0;
  return {outputs, std::move(unit), std::vector<double>(outputs, 1.0), context};
}

void Coupling::spread(MatrixView<const double> theta, MatrixView<double> C) const noexcept {
  for (int64_t c = 0; c < C.rows; ++c)
    for (int64_t k = 0; k < C.cols; ++k) {
      double sum = 0;
      for (int64_t b = 0; b < theta.cols; ++b) sum += root(c, k, b) * theta(c, b);
      C(c, k) = sum;
    }
}

void Coupling::gather(MatrixView<const double> C, MatrixView<double> theta) const noexcept {
  for (int64_t c = 0; c < C.rows; ++c)
    for (int64_t b = 0; b < theta.cols; ++b) {
      double sum = 0;
      for (int64_t k = 0; k < C.cols; ++k) sum += root(c, k, b) * C(c, k);
      theta(c, b) = sum;
    }
}

std::vector<double> Coupling::lambdas(double lambda) const {
  std::vector<double> result;
  for (const double g : g_) result.push_back(g > 0 ? lambda / g : kInfinity);
  return result;
}

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

// One root B for all features, every target observed. With Gamma = B B' = Q diag(g) Q' the problem
// is a Stein equation, Z'Z C Gamma + n lambda C = Z'Y Gamma; in the basis Q column j of C is the
// ridge solution of the target Y q_j at lambda / g_j, and 0 if g_j = 0. Q also rotates
// leave-one-out residuals back. Brault, Heinonen, d'Alche-Buc 2016, section 5.3.

namespace {

using linalg::Transpose;

constexpr const char* kRotatedOutputs = "coupled outputs";

/// Leave-one-out residuals: primal by the rows' features, dual by their row numbers.
Matrix<double> left_out(const RidgePath& path, const Combination& of, const WideBlock& block,
                        Context& context) {
  return path.leave_one_out(of, block.Z, block.Y, context, block.weights);
}
Matrix<double> left_out(const DualSystem& system, const Combination& of, const WideBlock& block,
                        Context& context) {
  return system.leave_one_out(of, block.first, block.first + block.Z.rows, context);
}

template <class System>
class RotatedPath final : public CoupledPath {
 public:
  RotatedPath(System system, const RidgeProblem& problem, Context& context)
      : system_(std::move(system)),
        coupling_(*problem.coupling),
        center_(problem.center),
        to_(outputs(), outputs(), context, kRotatedOutputs),
        back_(outputs(), outputs(), context, kRotatedOutputs) {
    const auto Q = coupling_.Q();
    for (int64_t k = 0; k < outputs(); ++k)
      for (int64_t j = 0; j < outputs(); ++j) {
        const double scale = coupling_.scale()[k];
        to_(k, j) = Q(k, j) / scale;
        back_(j, k) = Q(k, j) * scale;
      }
  }

  int64_t outputs() const noexcept override { return coupling_.outputs(); }

  Weights solve(double lambda, Context& context) const override {
    const std::vector<double> lambdas = coupling_.lambdas(lambda);
    const Weights rotated = system_.solve(Combination{to_.view(), lambdas}, context);
    Weights weights{Matrix<double>(rotated.w.rows(), outputs(), context, kRotatedOutputs),
                    std::vector<double>(outputs(), 0.0)};
    linalg::multiply(1.0, Transpose::no, rotated.w.view(), Transpose::no, back_.view(), 0.0,
                     weights.w.view());
    for (int64_t j = 0; j < outputs(); ++j)
      for (int64_t k = 0; k < outputs(); ++k)
        weights.intercept[k] += rotated.intercept[j] * back_(j, k);
    return weights;
  }

  double effective_dimension(double lambda) const override {
    double sum = 0;
    for (const double own : coupling_.lambdas(lambda))
      sum += std::isinf(own) ? (center_ ? 1.0 : 0.0) : system_.effective_dimension(own);
    return sum / static_cast<double>(outputs());
  }

  double evidence(double lambda) const override {
    const std::vector<double> lambdas = coupling_.lambdas(lambda);
    return system_.evidence(Combination{to_.view(), lambdas}, lambda);
  }

  Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                               Context& context) const override {
    const int64_t p = outputs(),
                  columns = checked_multiply(std::ssize(lambdas), p, kRotatedOutputs);
    const Matrix<double> M(p, columns, context, kRotatedOutputs);
    std::vector<double> each;
    for (const double lambda : lambdas)
      for (const double own : coupling_.lambdas(lambda)) each.push_back(own);
    for (int64_t k = 0; k < p; ++k)
      for (int64_t j = 0; j < columns; ++j) M(k, j) = to_(k, j % p);
    const Matrix<double> rotated = left_out(system_, {M.view(), each}, block, context);
    Matrix<double> residuals(rotated.rows(), columns, context, kRotatedOutputs);
    for (int64_t at = 0; at < columns; at += p)
      linalg::multiply(1.0, Transpose::no, rotated.view().block_cols(at, at + p), Transpose::no,
                       back_.view(), 0.0, residuals.view().block_cols(at, at + p));
    return residuals;
  }

 private:
  System system_;
  const Coupling& coupling_;
  bool center_;
  Matrix<double> to_, back_;  // S^{-1} Q, and Q'S, its inverse
};

}  // namespace

std::unique_ptr<CoupledPath> make_rotated_path(const BlockSource& rows, const RidgeProblem& problem,
                                               Context& context, const RowsDone& done) {
  if (is_dual(rows)) {
    DualSystem system = make_dual_system(rows, problem.center, context, done);
    system.decompose(context);
    return std::make_unique<RotatedPath<DualSystem>>(std::move(system), problem, context);
  }
  context.require_room(RidgePath::least_bytes(rows.features(), rows.outputs()), kRotatedOutputs);
  RowStatistics statistics(rows.features(), rows.outputs(), context);
  add_blocks(rows, statistics, context, done);
  return std::make_unique<RotatedPath<RidgePath>>(
      RidgePath(take_reduced(rows, std::move(statistics)), problem.center, context), problem,
      context);
}

}  // namespace mercer::solver
