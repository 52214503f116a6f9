// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One root B for all features, every target observed. With Gamma = B B' = Q diag(g) Q' the problem
// is a Stein equation, Z'Z C Gamma + n lambda C = Z'Y Gamma; in the basis Q column j of C is the
// ridge solution of the target Y q_j at lambda / g_j, and 0 if g_j = 0. Q also rotates
// leave-one-out residuals back. Brault, Heinonen, d'Alche-Buc 2016, section 5.3.
#include "solver/rotated_path.h"

#include <cmath>

#include "linalg/blas.h"
#include "solver/block_statistics.h"
#include "solver/dual_system.h"

namespace mercer::solver {
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
