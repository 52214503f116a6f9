// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With C = Theta B' the equation reads Phi'Phi C G + n lambda C = Phi'Y G, G = B B' = Q diag(g) Q'
// (C lies in B's range). Times Q: (g_j Phi'Phi + n lambda) c_j = g_j Phi'Y q_j, so that c_j is the
// ridge solution of the target Y q_j at lambda / g_j, and 0 where g_j = 0; C = sum_j c_j q_j',
// Theta = sum_j c_j / g_j (B'q_j)'. The loss is a sum over j too, because Q is orthogonal, which
// gives left-out residuals in closed form. Brault, Heinonen, d'Alche-Buc 2016, section 5.3.
#include "solver/stein.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;
using Long = long long;

constexpr const char* kWhat = "the Stein equation";
constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Y Q at the lambdas of each output of the basis, for one lambda after another.
struct Combinations {
  Matrix<double> M;
  std::vector<double> lambdas;

  /// outputs: of the path, those of the basis first.
  Combinations(const OutputBasis& basis, std::span<const double> of, int64_t outputs,
               Context& context)
      : M(outputs, checked_multiply(basis.outputs(), static_cast<int64_t>(of.size()), kWhat),
          context, kWhat) {
    const int64_t p = basis.outputs();
    M.fill(0);
    for (int64_t j = 0; j < M.cols(); ++j)
      for (int64_t k = 0; k < p; ++k) M(k, j) = basis.Q()(k, j % p);
    for (const double lambda : of)
      for (const double own : basis.lambdas(lambda)) lambdas.push_back(own);
  }
  operator Combination() const { return {M.view(), lambdas}; }
};

void require_outputs(const OutputBasis& basis, int64_t outputs) {
  require(basis.outputs() == outputs, MERCER_DIMENSION_MISMATCH,
          "B has %lld rows, expected outputs = %lld", static_cast<Long>(basis.outputs()),
          static_cast<Long>(outputs));
}

Matrix<double> zeros(std::size_t rows, std::size_t cols) {
  Matrix<double> result(static_cast<int64_t>(rows), static_cast<int64_t>(cols));
  result.fill(0);
  return result;
}

/// Of an output, over all of them.
double mean_error(const Weights& weights, const RowStatistics& statistics) {
  double sum = 0;
  for (const double error : mean_squared_error(weights, statistics)) sum += error;
  return sum / static_cast<double>(statistics.outputs());
}

}  // namespace

OutputBasis::OutputBasis(MatrixView<const double> B, Context& context)
    : B_(B.rows, B.cols, context, kWhat),
      Q_(B.rows, B.rows, context, kWhat),
      g_(static_cast<std::size_t>(B.rows)) {
  require(B.rows >= 1 && B.cols >= 1, MERCER_INVALID_ARGUMENT,
          "B is %lld x %lld, expected at least one output and one column",
          static_cast<Long>(B.rows), static_cast<Long>(B.cols));
  for (int64_t i = 0; i < B.rows; ++i) std::copy_n(B.row(i), B.cols, B_.view().row(i));
  Matrix<double> rows(B.rows, B.rows, context, kWhat);
  linalg::multiply(1.0, Transpose::no, B, Transpose::yes, B, 0.0, rows.view());
  linalg::symmetric_eigen(rows.view(), g_, context);
  require(g_.back() > 0, MERCER_INVALID_ARGUMENT, "B = 0, expected a root of rank at least 1");
  const double least = kEps * static_cast<double>(B.rows) * g_.back();
  for (double& g : g_) g = g > least ? g : 0;
  for (int64_t i = 0; i < B.rows; ++i)
    for (int64_t j = 0; j < B.rows; ++j) Q_(i, j) = rows(j, i);
}

int64_t OutputBasis::rank() const noexcept {
  return std::ranges::count_if(g_, [](double g) { return g > 0; });
}

std::vector<double> OutputBasis::lambdas(double lambda) const {
  std::vector<double> result;
  for (const double g : g_)
    result.push_back(g > 0 ? lambda / g : std::numeric_limits<double>::infinity());
  return result;
}

SteinSolution stein_solution(const RidgePath& path, const OutputBasis& basis, double lambda,
                             Context& context) {
  require(basis.outputs() <= path.outputs(), MERCER_DIMENSION_MISMATCH,
          "B has %lld rows, expected at most outputs = %lld", static_cast<Long>(basis.outputs()),
          static_cast<Long>(path.outputs()));
  const Weights rotated =
      path.solve(Combinations(basis, std::span(&lambda, 1), path.outputs(), context), context);
  const int64_t D = path.features(), p = basis.outputs(), q = basis.B().cols;
  SteinSolution solution{Matrix<double>(D, q, context, kWhat),
                         {Matrix<double>(D, p, context, kWhat), {}}};
  linalg::multiply(1.0, Transpose::no, rotated.w.view(), Transpose::yes, basis.Q(), 0.0,
                   solution.outputs.w.view());
  solution.outputs.intercept.assign(static_cast<std::size_t>(p), 0.0);
  for (int64_t k = 0; k < p; ++k)
    for (int64_t j = 0; j < p; ++j)
      solution.outputs.intercept[static_cast<std::size_t>(k)] +=
          basis.Q()(k, j) * rotated.intercept[static_cast<std::size_t>(j)];
  Matrix<double> back(p, q, context, kWhat);  // row j: (B'q_j)' / g_j
  linalg::multiply(1.0, Transpose::yes, basis.Q(), Transpose::no, basis.B(), 0.0, back.view());
  for (int64_t j = 0; j < p; ++j)
    for (int64_t k = 0; k < q; ++k) {
      const double g = basis.g()[static_cast<std::size_t>(j)];
      back(j, k) = g > 0 ? back(j, k) / g : 0;
    }
  linalg::multiply(1.0, Transpose::no, rotated.w.view(), Transpose::no, back.view(), 0.0,
                   solution.theta.view());
  return solution;
}

Matrix<double> stein_leave_one_out(const RidgePath& path, const OutputBasis& basis,
                                   std::span<const double> lambdas, MatrixView<const double> Z,
                                   MatrixView<const double> Y, Context& context,
                                   std::span<const double> weights) {
  require_outputs(basis, path.outputs());
  const Matrix<double> rotated = path.leave_one_out(
      Combinations(basis, lambdas, path.outputs(), context), Z, Y, context, weights);
  Matrix<double> residuals(rotated.rows(), rotated.cols(), context, kWhat);
  const int64_t p = basis.outputs();
  for (int64_t first = 0; first < rotated.cols(); first += p)
    linalg::multiply(1.0, Transpose::no, rotated.view().block_cols(first, first + p),
                     Transpose::yes, basis.Q(), 0.0, residuals.view().block_cols(first, first + p));
  return residuals;
}

Matrix<double> stein_held_out_error(const RidgePath& path, const SteinGrid& grid,
                                    const RowStatistics& held_out, Context& context) {
  Matrix<double> errors = zeros(grid.bases.size(), grid.lambdas.size());
  for (int64_t b = 0; b < errors.rows(); ++b)
    for (int64_t l = 0; l < errors.cols(); ++l) {
      const SteinSolution solution =
          stein_solution(path, *grid.bases[static_cast<std::size_t>(b)],
                         grid.lambdas[static_cast<std::size_t>(l)], context);
      errors(b, l) = mean_error(solution.outputs, held_out);
      context.checkpoint();
    }
  return errors;
}

Matrix<double> stein_leave_one_out_error(const RidgePath& path, const SteinGrid& grid,
                                         const BlockSource& rows, Context& context) {
  Matrix<double> errors = zeros(grid.bases.size(), grid.lambdas.size());
  double total = 0;
  for_each_wide(rows, context, [&](const WideBlock& block) {
    for (int64_t i = 0; i < block.Z.rows; ++i) total += block.weight(i);
    for (int64_t b = 0; b < errors.rows(); ++b) {
      const OutputBasis& basis = *grid.bases[static_cast<std::size_t>(b)];
      require_outputs(basis, path.outputs());
      // |e Q'| = |e|: no need to turn the residuals back.
      const Matrix<double> e =
          path.leave_one_out(Combinations(basis, grid.lambdas, path.outputs(), context), block.Z,
                             block.Y, context, block.weights);
      for (int64_t i = 0; i < e.rows(); ++i)
        for (int64_t j = 0; j < e.cols(); ++j)
          errors(b, j / basis.outputs()) += block.weight(i) * e(i, j) * e(i, j);
    }
  });
  reduce(rows, {&total, 1});
  reduce(rows, {errors.data(), static_cast<std::size_t>(errors.rows() * errors.cols())});
  for (int64_t b = 0; b < errors.rows(); ++b)
    for (int64_t l = 0; l < errors.cols(); ++l)
      errors(b, l) /= total * static_cast<double>(path.outputs());
  return errors;
}

Matrix<double> stein_kfold_error(std::span<const RowStatistics* const> folds, bool center,
                                 const SteinGrid& grid, Context& context) {
  const auto weighs = [](const RowStatistics* fold) { return fold->weight() > 0; };
  require(std::ranges::count_if(folds, weighs) >= 2, MERCER_INVALID_ARGUMENT,
          "folds: %lld of %zu hold rows of positive weight, expected at least 2",
          static_cast<Long>(std::ranges::count_if(folds, weighs)), folds.size());
  RowStatistics total(folds[0]->features(), folds[0]->outputs(), context);
  for (const RowStatistics* fold : folds) total.merge(*fold);
  Matrix<double> errors = zeros(grid.bases.size(), grid.lambdas.size());
  Stage stage(context, std::ssize(folds));
  for (const RowStatistics* fold : folds) {
    stage.share(1);
    if (!weighs(fold)) continue;
    RowStatistics others = total.clone(context);
    others.subtract(*fold);
    const RidgePath path(std::move(others), center, context);
    stage.advance(1);
    const Matrix<double> of_fold = stein_held_out_error(path, grid, *fold, context);
    for (int64_t b = 0; b < errors.rows(); ++b)
      for (int64_t l = 0; l < errors.cols(); ++l)
        errors(b, l) += fold->weight() / total.weight() * of_fold(b, l);
  }
  return errors;
}

SteinChoice least_error(MatrixView<const double> errors) {
  SteinChoice choice{0, 0, std::numeric_limits<double>::infinity()};
  for (int64_t b = 0; b < errors.rows; ++b)
    for (int64_t l = 0; l < errors.cols; ++l)
      if (errors(b, l) < choice.error) choice = {b, l, errors(b, l)};
  require(std::isfinite(choice.error), MERCER_INVALID_ARGUMENT,
          "errors: none of %lld x %lld is finite, expected a finite one",
          static_cast<Long>(errors.rows), static_cast<Long>(errors.cols));
  return choice;
}

double squared_rkhs_norm(MatrixView<const double> theta) {
  double sum = 0;
  for (int64_t i = 0; i < theta.rows; ++i)
    for (int64_t j = 0; j < theta.cols; ++j) sum += theta(i, j) * theta(i, j);
  return sum;
}

double graph_penalty(MatrixView<const double> W, MatrixView<const double> C) {
  require(W.rows == W.cols && W.rows == C.cols, MERCER_DIMENSION_MISMATCH,
          "W is %lld x %lld and C has %lld columns, expected a square W with a row for each",
          static_cast<Long>(W.rows), static_cast<Long>(W.cols), static_cast<Long>(C.cols));
  double sum = 0;
  for (int64_t i = 0; i < C.rows; ++i)
    for (int64_t k = 0; k < W.rows; ++k)
      for (int64_t l = 0; l < k; ++l) {
        const double difference = C(i, k) - C(i, l);
        sum += W(k, l) * difference * difference;
      }
  return sum;
}

}  // namespace mercer::solver
