// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// (A'A + N lambda I) theta = A'y by conjugate gradients, or |A theta - y|^2 + N lambda |theta|^2 by
// LSQR: as many products, but errors of the condition number instead of its square.
#include "solver/operator_ridge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/lsqr.h"
#include "solver/centering.h"
#include "solver/nystroem_preconditioner.h"

namespace mercer::solver {
namespace {

using Long = long long;

constexpr const char* kWhat = "ridge on an operator-valued map";
constexpr int64_t kPlainSteps = 100, kSketch = 100, kColumns = 8;
constexpr uint64_t kSketchSeed = 0;
constexpr double kMostRounding = 1e-6;

double norm(std::span<const double> x) { return std::sqrt(linalg::dot(x, x)); }

/// 0 / 0 = 0: nothing differs from nothing.
double ratio(double part, double whole) { return part == 0 ? 0 : part / whole; }

void require_coefficients(const OperatorRows& rows, std::span<const double> theta) {
  require(static_cast<int64_t>(theta.size()) == rows.coefficients(), MERCER_DIMENSION_MISMATCH,
          "theta has %zu entries, expected coefficients = %lld", theta.size(),
          static_cast<Long>(rows.coefficients()));
}

/// |A'(y - A theta) - shift theta| / |A'y|.
double relative_residual(const linalg::LinearOperator& A, std::span<const double> Aty, double shift,
                         Context& context, std::span<const double> theta) {
  std::vector<double> product(theta.size());
  NormalEquations(A, shift).apply(as_column(theta), context, as_column(std::span<double>(product)));
  for (std::size_t j = 0; j < product.size(); ++j) product[j] = Aty[j] - product[j];
  const double size = norm(product), whole = norm(Aty);
  return whole > 0 ? size / whole : size;
}

/// Plain steps first: where they do not do, the spectrum is wide, and of kernels it falls fast. The
/// products of the sketch count as steps.
OperatorRidge by_gradients(const linalg::LinearOperator& A, std::span<const double> Aty,
                           double shift, const OperatorRidgeOptions& options, Context& context,
                           std::span<double> theta) {
  const NormalEquations system(A, shift);
  linalg::CgOptions steps{.tolerance = options.tolerance,
                          .most_iterations = std::min(kPlainSteps, options.most_iterations)};
  linalg::CgResult solved =
      linalg::conjugate_gradient(system, as_column(Aty), steps, context, as_column(theta));
  int64_t spent = solved.iterations;
  const int64_t rank = std::min(kSketch, A.cols() / 4);
  const int64_t left = options.most_iterations - spent;
  if (!solved.converged && left > 0) {
    std::optional<NystroemPreconditioner> own;
    std::optional<NystroemPreconditioner>& sketch =
        options.sketch == nullptr ? own : *options.sketch;
    if (!sketch && rank > 0 && left > rank && context.has_room(bytes_of_sketch(A, rank))) {
      const Stage uncounted(context, 0);  // residuals alone say how far it has come
      sketch.emplace(NormalEquations(A, 0), rank, kSketchSeed, context);
      spent += rank;
    }
    if (sketch) steps.preconditioner = [&](MatrixView<double> R) { sketch->apply(shift, R); };
    steps.most_iterations = options.most_iterations - spent;
    solved = linalg::conjugate_gradient(system, as_column(Aty), steps, context, as_column(theta));
    spent += solved.iterations;
  }
  return {spent, solved.worst(), solved.converged};
}

OperatorRidge by_lsqr(const linalg::LinearOperator& A, std::span<const double> y,
                      std::span<const double> Aty, double shift,
                      const OperatorRidgeOptions& options, Context& context,
                      std::span<double> theta) {
  const linalg::LsqrResult solved = linalg::lsqr(A, y,
                                                 {.damping = std::sqrt(shift),
                                                  .tolerance = 0,
                                                  // Half of it for what the estimate has lost.
                                                  .normal_tolerance = options.tolerance / 2,
                                                  .most_iterations = options.most_iterations},
                                                 context, theta);
  OperatorRidge result{solved.iterations, relative_residual(A, Aty, shift, context, theta), false};
  // What rounding of A theta, and of its product with A', leaves of A'(y - A theta): as long as it
  // leaves a solution.
  const double rounding =
      std::min(kMostRounding, 10 * std::numeric_limits<double>::epsilon() * solved.norm *
                                  (norm(y) + solved.norm * solved.size) / norm(Aty));
  result.converged = solved.converged() && result.residual <= std::max(options.tolerance, rounding);
  return result;
}

/// 1, or a power of two near the largest |y| where squares of y leave the range of double.
double unit_of(std::span<const double> y) {
  double most = 0;
  for (const double value : y) most = std::max(most, std::abs(value));
  const bool plain = most == 0 || (most > 1e-100 && most < 1e100);
  return plain ? 1 : std::ldexp(1.0, std::ilogb(most));
}

}  // namespace

int64_t bytes_of_sketch(const linalg::LinearOperator& A, int64_t rank) {
  const int64_t sketch = checked_multiply(4, checked_multiply(rank, A.cols(), kWhat), kWhat);
  const int64_t values = checked_multiply(std::min(kColumns, rank), A.rows(), kWhat);
  return checked_multiply(8, checked_add(sketch, values, kWhat), kWhat);
}

void NormalEquations::multiply(linalg::Transpose, MatrixView<const double> X, Context& context,
                               MatrixView<double> Y) const {
  const Matrix<double> middle(A_.rows(), std::min(kColumns, X.cols), context, kWhat);
  Stage stage(context, 2 * X.cols);
  for (int64_t first = 0; first < X.cols; first += kColumns) {
    const int64_t last = std::min(first + kColumns, X.cols);
    const MatrixView<double> values = middle.view().block_cols(0, last - first);
    stage.part(last - first, [&] { A_.apply(X.block_cols(first, last), context, values); });
    stage.part(last - first,
               [&] { A_.apply_transpose(values, context, Y.block_cols(first, last)); });
  }
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t j = 0; j < Y.cols; ++j) Y(i, j) += shift_ * X(i, j);
}

OperatorRidge operator_ridge(const OperatorRows& rows, MatrixView<const double> Y, double lambda,
                             const OperatorRidgeOptions& options, Context& context,
                             std::span<double> theta) {
  require_coefficients(rows, theta);
  const double shift = checked_shift(lambda, static_cast<double>(rows.rows()));
  const ObservedRows A(rows, Y);
  const int64_t numbers = checked_add(A.rows(), A.cols(), kWhat);
  const MemoryCharge charge = context.charge(checked_multiply(8, numbers, kWhat), kWhat);
  std::vector<double> y = A.targets();
  const double unit = unit_of(y);
  for (double& value : y) value /= unit;
  for (double& value : theta) value /= unit;
  std::vector<double> Aty(theta.size());
  Stage stage(context, 1);  // of which the first product counts for nothing
  A.apply_transpose(as_column(std::span<const double>(y)), context,
                    as_column(std::span<double>(Aty)));
  stage.share(1);
  OperatorRidge result;
  if (options.solver == OperatorSolver::conjugate_gradient) {
    result = by_gradients(A, Aty, shift, options, context, theta);
  } else {
    result = by_lsqr(A, y, Aty, shift, options, context, theta);
  }
  for (double& value : theta) value *= unit;
  return result;
}

void require_converged(const OperatorRidge& result, double tolerance) {
  require(result.converged, MERCER_NOT_CONVERGED,
          "operator ridge: relative residual %g after %lld iterations, expected at most %g",
          result.residual, static_cast<Long>(result.iterations), tolerance);
}

FeatureEquivalence feature_equivalence(const OperatorRows& rows, MatrixView<const double> u,
                                       std::span<const double> theta, Context& context) {
  require_coefficients(rows, theta);
  const ObservedRows A(rows, u);
  const int64_t numbers = checked_add(checked_multiply(3, A.rows(), kWhat), A.cols(), kWhat);
  const MemoryCharge charge = context.charge(checked_multiply(8, numbers, kWhat), kWhat);
  std::vector<double> r(theta.size()), values(static_cast<std::size_t>(A.rows())), all(values);
  const std::vector<double> weights = A.targets();
  Stage stage(context, 3);
  stage.part(1, [&] {
    A.apply_transpose(as_column(std::span<const double>(weights)), context,
                      as_column(std::span<double>(r)));
  });
  for (std::size_t j = 0; j < r.size(); ++j) r[j] -= theta[j];
  stage.part(1, [&] {
    A.apply(as_column(std::span<const double>(r)), context, as_column(std::span<double>(values)));
  });
  stage.part(1, [&] { A.apply(as_column(theta), context, as_column(std::span<double>(all))); });
  return {ratio(norm(r), norm(theta)), ratio(norm(values), norm(all))};
}

}  // namespace mercer::solver
