// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/outputs/operator_trial.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "model/outputs/observed_gram.h"
#include "model/outputs/operator_factor.h"
#include "model/outputs/operator_fit.h"
#include "model/outputs/operator_path.h"
#include "model/outputs/operator_posterior.h"
#include "model/rows/row_sets.h"
#include "solver/stein.h"

namespace mercer::model {
namespace {

using linalg::Transpose;
using MapPointer = std::shared_ptr<const feature::FieldMap>;

constexpr int64_t kMostSize = 1300;    // of a path: its cube is seconds
constexpr int64_t kJudgedRows = 2000;  // whose residuals are had one by one
constexpr double kTolerance = 1e-4;    // of trials by steps, whose errors are of few rows
constexpr int64_t kMostSteps = 2000;
constexpr const char* kWhat = "a trial of an operator-valued map";

double mean_square(MatrixView<const double> Y) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k) {
      if (std::isnan(Y(i, k))) continue;
      sum += Y(i, k) * Y(i, k);
      ++count;
    }
  return count == 0 || sum == 0 ? 1 : sum / static_cast<double>(count);
}

void take_better(OperatorCandidate& best, double shape, double lambda, double error) {
  if (!(error < best.error)) return;
  best.shape = shape;
  best.lambda = lambda;
  best.error = error;
}

/// All shapes share the eigenvectors of the scalar features.
void by_stein(const std::vector<MapPointer>& maps, const OperatorRowsView& rows,
              std::span<const double> shapes, std::span<const double> lambdas, uint64_t seed,
              Context& context, OperatorCandidate& best) {
  const ScalarRows source(maps[0]->scalar(), rows.X, rows.Y);
  const solver::RidgePath path = scalar_path(source, context);
  std::vector<std::unique_ptr<const solver::OutputBasis>> bases;
  std::vector<const solver::OutputBasis*> listed;
  for (const MapPointer& map : maps) {
    bases.push_back(std::make_unique<const solver::OutputBasis>(map->shared_root(), context));
    listed.push_back(bases.back().get());
  }
  const auto judged = sample_rows(all_rows(rows.X.rows), kJudgedRows, seed);
  const Matrix<double> X(std::ssize(judged), rows.X.cols, context, "rows left out");
  const Matrix<double> Y(std::ssize(judged), rows.Y.cols, context, "rows left out");
  for (int64_t i = 0; i < X.rows(); ++i) {
    std::copy_n(rows.X.row(judged[static_cast<size_t>(i)]), X.cols(), X.view().row(i));
    std::copy_n(rows.Y.row(judged[static_cast<size_t>(i)]), Y.cols(), Y.view().row(i));
  }
  const ScalarRows some(maps[0]->scalar(), X.view(), Y.view());
  const Matrix<double> errors =
      solver::stein_leave_one_out_error(path, {listed, lambdas}, some, context);
  for (int64_t b = 0; b < errors.rows(); ++b)
    for (int64_t l = 0; l < errors.cols(); ++l)
      take_better(best, shapes[static_cast<size_t>(b)], lambdas[static_cast<size_t>(l)],
                  errors(b, l));
}

void by_path(const feature::FieldMap& map, const OperatorRowsView& rows, double shape,
             std::span<const double> lambdas, uint64_t seed, Context& context,
             OperatorCandidate& best) {
  const OperatorPath path(map, rows.X, rows.Y, context);
  const auto judged = sample_rows(all_rows(rows.X.rows), kJudgedRows, seed);
  const std::vector<double> errors = path.leave_one_out(lambdas, judged, context);
  for (size_t l = 0; l < errors.size(); ++l) take_better(best, shape, lambdas[l], errors[l]);
}

void by_steps(const feature::FieldMap& map, const OperatorRowsView& rows, double shape,
              std::span<const double> lambdas, uint64_t seed, Context& context,
              OperatorCandidate& best) {
  OperatorFitOptions options;
  options.method = OperatorMethod::conjugate_gradient;
  options.tolerance = kTolerance;
  options.most_iterations = kMostSteps;
  options.seed = seed;
  options.lambdas.assign(lambdas.begin(), lambdas.end());
  std::vector<double> theta(static_cast<size_t>(map.features()));
  const OperatorFit fit = choose_operator_lambda(map, rows.X, rows.Y, options, context, theta);
  take_better(best, shape, options.lambdas[static_cast<size_t>(fit.chosen)], fit.error);
}

void by_factor(const feature::FieldMap& map, const OperatorRowsView& rows, double shape,
               std::span<const double> lambdas, uint64_t seed, Context& context,
               OperatorCandidate& best) {
  const std::vector<double> errors = held_out_errors(map, rows, lambdas, seed, context);
  for (size_t l = 0; l < errors.size(); ++l) take_better(best, shape, lambdas[l], errors[l]);
}

/// The rows' Gram matrix as V'SV: row j of V is eigenvector j.
struct RowEigen {
  Matrix<double> V, squares;  // of the entries of V
  std::vector<double> s;
};
RowEigen row_eigen(const feature::FeatureMap& map, MatrixView<const double> X, Context& context) {
  const int64_t n = X.rows;
  RowEigen eigen{
      Matrix<double>(n, n, context, kWhat), {}, std::vector<double>(static_cast<size_t>(n))};
  eigen.V.fill(0);
  {
    const Matrix<double> Z(n, map.features(), context, kWhat);
    map.apply(X, {0, map.features()}, context, Z.view());
    linalg::rank_update_rows(1.0, MatrixView<const double>(Z.view()), eigen.V.view());
  }
  linalg::symmetric_eigen(eigen.V.view(), eigen.s, context);
  eigen.squares = Matrix<double>(n, n, context, kWhat);
  for (int64_t j = 0; j < n * n; ++j)
    eigen.squares.data()[j] = eigen.V.data()[j] * eigen.V.data()[j];
  return eigen;
}

/// Sum of squared residuals of rows left out of targets whose V times targets is `turned`, n x p:
/// column j at n lambda / g_j is (K + shift)^-1 r over the diagonal of (K + shift)^-1; at g_j = 0
/// the targets themselves. W, C: scratch, n x p.
double left_out_squares(const RowEigen& eigen, MatrixView<const double> turned,
                        std::span<const double> g, double lambda, MatrixView<double> W,
                        MatrixView<double> C, MatrixView<double> above, MatrixView<double> below) {
  const int64_t n = turned.rows, p = turned.cols;
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < p; ++j) {
      const double own = g[static_cast<size_t>(j)],
                   s = std::max(eigen.s[static_cast<size_t>(k)], 0.0);
      W(k, j) = own > 0 ? 1 / (s + static_cast<double>(n) * lambda / own) : 1;
      C(k, j) = W(k, j) * turned(k, j);
    }
  linalg::multiply(1.0, Transpose::yes, MatrixView<const double>(eigen.V.view()), Transpose::no,
                   MatrixView<const double>(C), 0.0, above);
  linalg::multiply(1.0, Transpose::yes, MatrixView<const double>(eigen.squares.view()),
                   Transpose::no, MatrixView<const double>(W), 0.0, below);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < p; ++j)
      sum += (above(i, j) / below(i, j)) * (above(i, j) / below(i, j));
  return sum;
}

/// Of fewer rows than features one eigendecomposition of the rows serves every shape: in the basis
/// of Gamma = Q diag(g) Q' outputs are ridges by themselves, at lambda / g.
void by_rows(const std::vector<MapPointer>& maps, const OperatorRowsView& rows,
             std::span<const double> shapes, std::span<const double> lambdas, Context& context,
             OperatorCandidate& best) {
  const int64_t n = rows.X.rows, p = rows.Y.cols;
  const RowEigen eigen = row_eigen(maps[0]->scalar(), rows.X, context);
  const Matrix<double> rotated(n, p, context, kWhat), turned(n, p, context, kWhat),
      W(n, p, context, kWhat), C(n, p, context, kWhat), below(n, p, context, kWhat);
  for (size_t b = 0; b < maps.size(); ++b) {
    const solver::OutputBasis basis(maps[b]->shared_root(), context);
    linalg::multiply(1.0, Transpose::no, rows.Y, Transpose::no, basis.Q(), 0.0, rotated.view());
    linalg::multiply(1.0, Transpose::no, MatrixView<const double>(eigen.V.view()), Transpose::no,
                     MatrixView<const double>(rotated.view()), 0.0, turned.view());
    for (const double lambda : lambdas) {
      const double sum = left_out_squares(eigen, turned.view(), basis.g(), lambda, W.view(),
                                          C.view(), rotated.view(), below.view());
      take_better(best, shapes[b], lambda, sum / static_cast<double>(n * p));
      context.checkpoint();
    }
  }
}

}  // namespace

OperatorSolution solution_for(const feature::FieldMap& map, MatrixView<const double> Y,
                              Context& context) {
  if (map.shared_root().rows > 0 && is_complete(Y)) return OperatorSolution::stein;
  const bool room = OperatorPath::size(map, Y) <= kMostSize &&
                    context.has_room(OperatorPath::bytes(map, Y, kJudgedRows));
  if (room) return OperatorSolution::path;
  return has_factors(map, Y, context) ? OperatorSolution::factor : OperatorSolution::steps;
}

OperatorCandidate try_out(const OperatorMaker& maker, const OperatorRowsView& rows,
                          double lengthscale, std::span<const double> shapes,
                          std::span<const double> lambdas, int64_t features, uint64_t seed,
                          Context& context) {
  std::vector<MapPointer> maps;
  for (const double shape : shapes) maps.push_back(maker.make(lengthscale, shape, features));
  const OperatorSolution how = solution_for(*maps[0], rows.Y, context);
  OperatorCandidate best;
  if (how == OperatorSolution::stein && rows.X.rows < maps[0]->scalar().features()) {
    by_rows(maps, rows, shapes, lambdas, context, best);
  } else if (how == OperatorSolution::stein) {
    by_stein(maps, rows, shapes, lambdas, seed, context, best);
  }
  const auto try_shape = how == OperatorSolution::path     ? by_path
                         : how == OperatorSolution::factor ? by_factor
                                                           : by_steps;
  for (size_t s = 0; how != OperatorSolution::stein && s < maps.size(); ++s)
    try_shape(*maps[s], rows, shapes[s], lambdas, seed, context, best);
  best.lengthscale = maker.searches_lengthscale() ? lengthscale : 0;
  best.error /= mean_square(rows.Y);
  best.left_out = how == OperatorSolution::stein || how == OperatorSolution::path;
  best.features = maps[0]->scalar().features();
  best.rows = rows.X.rows;
  return best;
}

std::vector<double> fit_candidate(const feature::FieldMap& map, const OperatorRowsView& rows,
                                  double lambda, Context& context) {
  std::vector<double> theta(static_cast<size_t>(map.features()));
  const OperatorSolution how = solution_for(map, rows.Y, context);
  // Of few rows the decomposition of targets costs less than that of features.
  const bool few = 2 * OperatorPath::size(map, rows.Y) < map.scalar().features() &&
                   context.has_room(OperatorPath::bytes(map, rows.Y, 1));
  if (how == OperatorSolution::path || few) {
    OperatorPath(map, rows.X, rows.Y, context).solve(lambda, context, theta);
    return theta;
  }
  if (how != OperatorSolution::stein && map.features() <= kMostFactored &&
      context.has_room(bytes_of_gram(map, rows.Y)))
    return factored_solution(map, rows, lambda, context);
  OperatorFitOptions options;
  options.lambdas = {lambda};
  options.tolerance = 1e-7;
  options.most_iterations = 10 * kMostSteps;
  fit_operator(map, rows.X, rows.Y, options, context, theta);
  return theta;
}

}  // namespace mercer::model
