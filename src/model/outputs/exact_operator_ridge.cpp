// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which of the three ways to (K + N lambda I) u = y (Brault, Heinonen, d'Alche-Buc 2016, section
// 5.3.2, with the 1/N that SPEC section 12 adds), and what came out, from u and one product with K.
#include "model/outputs/exact_operator_ridge.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/finite.h"
#include "base/size.h"
#include "kernel/output_root.h"
#include "model/prepare/input_domain.h"
#include "solver/work.h"

namespace mercer::model {
namespace {

constexpr const char* kWhat = "exact operator-valued kernel ridge";
constexpr int64_t kSolving = 20, kMeasuring = 1;  // of progress
constexpr double kMostResidual = 1e-6;            // of a direct solution that is one

/// K of rows, (N p) x (N p), by what it does to vectors.
class GramOperator final : public linalg::LinearOperator {
 public:
  GramOperator(const kernel::MatrixKernel& kernel, MatrixView<const double> X)
      : kernel_(kernel), X_(X), p_(kernel.outputs(X.cols)) {}
  int64_t rows() const override { return X_.rows * p_; }
  int64_t cols() const override { return rows(); }

 private:
  // A row of U holds the vectors of all columns one after the other.
  void multiply(linalg::Transpose, MatrixView<const double> A, Context& context,
                MatrixView<double> out) const override {
    const Matrix<double> U(X_.rows, p_ * A.cols, context, kWhat),
        KU(X_.rows, p_ * A.cols, context, kWhat);
    for (int64_t at = 0; at < A.rows; ++at)
      for (int64_t c = 0; c < A.cols; ++c) U(at / p_, c * p_ + at % p_) = A(at, c);
    kernel::gram_multiply(kernel_, X_, X_, U.view(), context, KU.view());
    for (int64_t at = 0; at < A.rows; ++at)
      for (int64_t c = 0; c < A.cols; ++c) out(at, c) = KU(at / p_, c * p_ + at % p_);
  }
  const kernel::MatrixKernel& kernel_;
  MatrixView<const double> X_;
  int64_t p_;
};

int64_t observed(MatrixView<const double> Y) {
  int64_t count = 0;
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k) count += !std::isnan(Y(i, k));
  return count;
}

ExactOperatorMethod method_for(const kernel::MatrixKernel& kernel, MatrixView<const double> Y,
                               const ExactOperatorOptions& options, const Context& context) {
  const int64_t numbers = checked_multiply(Y.rows, Y.cols, kWhat), known = observed(Y);
  const bool diagonal = kernel.gamma().rows > 0 && known == numbers;
  if (options.method != ExactOperatorMethod::automatic) {
    require(diagonal || options.method != ExactOperatorMethod::eigen, MERCER_UNSUPPORTED,
            "eigen, expected a decomposable kernel and targets without gaps");
    return options.method;
  }
  if (diagonal) return ExactOperatorMethod::eigen;
  const bool small = known <= kMostCholesky && numbers <= 2 * kMostCholesky &&
                     context.has_room(16 * numbers * numbers);
  return small ? ExactOperatorMethod::cholesky : ExactOperatorMethod::conjugate_gradient;
}

Matrix<double> by_eigen(const kernel::MatrixKernel& kernel, MatrixView<const double> X,
                        MatrixView<const double> Y, double lambda, Context& context) {
  // All pivots but those of rounding's size, whatever the kernel's cutoff.
  const kernel::OutputRoot root = kernel::output_root(kernel.gamma(), 0);
  const Matrix<double> k(X.rows, X.rows, context, kWhat);
  const int64_t of_gram = solver::kernel_rows(X.cols), of_basis = Y.cols;
  Stage stage(context, of_gram + of_basis + solver::eigen_rows(X.rows));
  stage.part(of_gram, [&] { kernel::gram(kernel.scalar(), X, X, context, k.view()); });
  const auto basis =
      stage.part(of_basis, [&] { return solver::OutputBasis(root.B.view(), context); });
  stage.share(solver::eigen_rows(X.rows));
  return solver::decomposable_kernel_ridge(k.view(), basis, Y, lambda, context);
}

Matrix<double> by_cholesky(const kernel::MatrixKernel& kernel, MatrixView<const double> X,
                           MatrixView<const double> Y, double lambda, Context& context) {
  const int64_t size = checked_multiply(Y.rows, Y.cols, kWhat);
  const Matrix<double> K(size, size, context, kWhat);
  const int64_t of_gram = solver::kernel_rows(X.cols), factor = solver::cholesky_rows(size);
  Stage stage(context, of_gram + factor);
  stage.part(of_gram, [&] { kernel::gram(kernel, X, X, context, K.view()); });
  stage.share(factor);
  return solver::operator_kernel_ridge(MatrixView<const double>(K.view()), Y, lambda, context);
}

Matrix<double> solve(const kernel::MatrixKernel& kernel, MatrixView<const double> X,
                     MatrixView<const double> Y, const ExactOperatorOptions& options,
                     Context& context, ExactOperatorRidge& result) {
  if (result.method == ExactOperatorMethod::eigen)
    return by_eigen(kernel, X, Y, options.lambda, context);
  if (result.method == ExactOperatorMethod::cholesky)
    return by_cholesky(kernel, X, Y, options.lambda, context);
  Matrix<double> u(Y.rows, Y.cols, context, kWhat);
  u.fill(0);
  const solver::OperatorRidge solved = solver::operator_kernel_ridge(
      GramOperator(kernel, X), Y, options.lambda,
      {.tolerance = options.tolerance, .most_iterations = options.most_iterations}, context,
      u.view());
  solver::require_converged(solved, options.tolerance);
  result.iterations = solved.iterations;
  return u;
}

/// residual and squared_norm of u.
void measure(const kernel::MatrixKernel& kernel, MatrixView<const double> X,
             MatrixView<const double> Y, double lambda, Context& context,
             ExactOperatorRidge& result) {
  const MatrixView<const double> u = result.u.view();
  const Matrix<double> Ku(Y.rows, Y.cols, context, kWhat);
  kernel::gram_multiply(kernel, X, X, u, context, Ku.view());
  const double shift = lambda * static_cast<double>(Y.rows);
  double missed = 0, whole = 0;
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k) {
      if (std::isnan(Y(i, k))) continue;
      const double left = Y(i, k) - Ku(i, k) - shift * u(i, k);
      missed = std::hypot(missed, left);
      whole = std::hypot(whole, Y(i, k));
      result.squared_norm += u(i, k) * Ku(i, k);
    }
  result.residual = whole > 0 ? missed / whole : missed;
}

}  // namespace

ExactOperatorRidge fit_exact_operator(const kernel::MatrixKernel& kernel,
                                      MatrixView<const double> X, MatrixView<const double> Y,
                                      const ExactOperatorOptions& options, Context& context) {
  require(Y.rows == X.rows && Y.cols == kernel.outputs(X.cols), MERCER_DIMENSION_MISMATCH,
          "Y is %lld x %lld, expected %lld rows of %lld outputs", static_cast<long long>(Y.rows),
          static_cast<long long>(Y.cols), static_cast<long long>(X.rows),
          static_cast<long long>(kernel.outputs(X.cols)));
  require_summable("X", X);
  require_summable("Y", Y, MissingNumbers::allowed);
  check_domain(kernel.scalar(), "X", X);
  ExactOperatorRidge result;
  result.method = method_for(kernel, Y, options, context);
  Stage stage(context, kSolving + kMeasuring);
  result.u = stage.part(kSolving, [&] { return solve(kernel, X, Y, options, context, result); });
  stage.part(kMeasuring, [&] { measure(kernel, X, Y, options.lambda, context, result); });
  const bool by_steps = result.method == ExactOperatorMethod::conjugate_gradient;
  require(by_steps || result.residual <= kMostResidual, MERCER_NOT_POSITIVE_DEFINITE,
          "K + N lambda I is singular to rounding, N lambda = %g: the targets have a part out of "
          "its reach, relative residual %g, expected at most %g: raise lambda",
          options.lambda * static_cast<double>(Y.rows), result.residual, kMostResidual);
  return result;
}

}  // namespace mercer::model
