// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With k = V diag(s) V' and B B' = Q diag(g) Q' the system of a decomposable kernel is diagonal:
// V'u Q = V'y Q / (s g' + N lambda).
#include "solver/operator_kernel_ridge.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "solver/centering.h"
#include "solver/kernel_ridge.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;
using Long = long long;

constexpr const char* kWhat = "operator-valued kernel ridge";

void require_square(int64_t rows, int64_t cols, int64_t expected) {
  require(rows == expected && cols == expected, MERCER_DIMENSION_MISMATCH,
          "K is %lld x %lld, expected %lld x %lld: a row for each target", static_cast<Long>(rows),
          static_cast<Long>(cols), static_cast<Long>(expected), static_cast<Long>(expected));
}

/// Entries of Y that were observed, as numbers of a vector of N p.
std::vector<int64_t> observed(MatrixView<const double> Y) {
  std::vector<int64_t> result;
  result.reserve(static_cast<size_t>(count_observed(Y)));
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k)
      if (!std::isnan(Y(i, k))) result.push_back(i * Y.cols + k);
  return result;
}

/// Rows and columns `kept` of K, + shift I, as an operator on kept.size() numbers.
class ObservedKernel final : public linalg::LinearOperator {
 public:
  ObservedKernel(const linalg::LinearOperator& K, const std::vector<int64_t>& kept, double shift)
      : K_(K), kept_(kept), shift_(shift) {}
  int64_t rows() const override { return static_cast<int64_t>(kept_.size()); }
  int64_t cols() const override { return rows(); }

 private:
  void multiply(Transpose, MatrixView<const double> X, Context& context,
                MatrixView<double> Y) const override {
    const Matrix<double> in(K_.cols(), X.cols, context, kWhat),
        out(K_.rows(), X.cols, context, kWhat);
    in.fill(0);
    for (int64_t i = 0; i < X.rows; ++i)
      std::copy_n(X.row(i), X.cols, in.view().row(kept_[static_cast<std::size_t>(i)]));
    K_.apply(in.view(), context, out.view());
    for (int64_t i = 0; i < Y.rows; ++i)
      for (int64_t j = 0; j < Y.cols; ++j)
        Y(i, j) = out(kept_[static_cast<std::size_t>(i)], j) + shift_ * X(i, j);
  }
  const linalg::LinearOperator& K_;
  const std::vector<int64_t>& kept_;
  double shift_;
};

double& entry(MatrixView<double> A, int64_t at) { return A(at / A.cols, at % A.cols); }

}  // namespace

OperatorRidge operator_kernel_ridge(const linalg::LinearOperator& K, MatrixView<const double> Y,
                                    double lambda, const OperatorRidgeOptions& options,
                                    Context& context, MatrixView<double> u) {
  require_square(K.rows(), K.cols(), Y.rows * Y.cols);
  require(options.solver == OperatorSolver::conjugate_gradient, MERCER_UNSUPPORTED,
          "solver lsqr of a kernel system, expected conjugate_gradient");
  require(u.rows == Y.rows && u.cols == Y.cols, MERCER_DIMENSION_MISMATCH,
          "u is %lld x %lld, expected the targets' %lld x %lld", static_cast<Long>(u.rows),
          static_cast<Long>(u.cols), static_cast<Long>(Y.rows), static_cast<Long>(Y.cols));
  const double shift = checked_shift(lambda, static_cast<double>(Y.rows));
  const std::vector<int64_t> kept = observed(Y);
  Matrix<double> b(static_cast<int64_t>(kept.size()), 1, context, kWhat),
      x(static_cast<int64_t>(kept.size()), 1, context, kWhat);
  for (int64_t i = 0; i < b.rows(); ++i) {
    const int64_t at = kept[static_cast<std::size_t>(i)];
    b(i, 0) = Y(at / Y.cols, at % Y.cols);
    x(i, 0) = entry(u, at);
  }
  const linalg::CgResult solved = linalg::conjugate_gradient(
      ObservedKernel(K, kept, shift), b.view(),
      {.tolerance = options.tolerance, .most_iterations = options.most_iterations}, context,
      x.view());
  for (int64_t i = 0; i < u.rows; ++i) std::fill_n(u.row(i), u.cols, 0.0);
  for (int64_t i = 0; i < b.rows(); ++i) entry(u, kept[static_cast<std::size_t>(i)]) = x(i, 0);
  return {solved.iterations, solved.worst(), solved.converged};
}

Matrix<double> operator_kernel_ridge(MatrixView<const double> K, MatrixView<const double> Y,
                                     double lambda, Context& context) {
  require_square(K.rows, K.cols, Y.rows * Y.cols);
  const std::vector<int64_t> kept = observed(Y);
  const auto count = static_cast<int64_t>(kept.size());
  const Matrix<double> part(count, count, context, kWhat), y(count, 1, context, kWhat);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = kept[static_cast<std::size_t>(i)];
    y(i, 0) = Y(row / Y.cols, row % Y.cols);
    for (int64_t j = 0; j <= i; ++j) part(i, j) = K(row, kept[static_cast<std::size_t>(j)]);
  }
  const Matrix<double> solved =
      kernel_ridge(part.view(), y.view(), lambda, static_cast<double>(Y.rows), context);
  Matrix<double> u(Y.rows, Y.cols, context, kWhat);
  u.fill(0);
  for (int64_t i = 0; i < count; ++i)
    entry(u.view(), kept[static_cast<std::size_t>(i)]) = solved(i, 0);
  return u;
}

Matrix<double> decomposable_kernel_ridge(MatrixView<double> k, const OutputBasis& basis,
                                         MatrixView<const double> Y, double lambda,
                                         Context& context) {
  require(k.rows == k.cols && Y.rows == k.rows && Y.cols == basis.outputs(),
          MERCER_DIMENSION_MISMATCH,
          "k is %lld x %lld and Y %lld x %lld, expected a square k with a row for each of Y's, of "
          "%lld outputs",
          static_cast<Long>(k.rows), static_cast<Long>(k.cols), static_cast<Long>(Y.rows),
          static_cast<Long>(Y.cols), static_cast<Long>(basis.outputs()));
  const double shift = checked_shift(lambda, static_cast<double>(Y.rows));
  require(static_cast<int64_t>(observed(Y).size()) == Y.rows * Y.cols, MERCER_INVALID_ARGUMENT,
          "targets are missing, expected all of them: operator_kernel_ridge does with fewer");
  std::vector<double> s(static_cast<std::size_t>(k.rows));
  linalg::symmetric_eigen(k, s, context);
  const Matrix<double> half(Y.rows, Y.cols, context, kWhat), middle(Y.rows, Y.cols, context, kWhat);
  Matrix<double> u(Y.rows, Y.cols, context, kWhat);
  linalg::multiply(1.0, Transpose::no, k, Transpose::no, Y, 0.0, half.view());
  linalg::multiply(1.0, Transpose::no, half.view(), Transpose::no, basis.Q(), 0.0, middle.view());
  const double least = std::numeric_limits<double>::epsilon() *
                       static_cast<double>(Y.rows + Y.cols) * (s.back() * basis.g().back() + shift);
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t j = 0; j < Y.cols; ++j) {
      const double value =
          s[static_cast<std::size_t>(i)] * basis.g()[static_cast<std::size_t>(j)] + shift;
      middle(i, j) = value > least ? middle(i, j) / value : 0;
    }
  linalg::multiply(1.0, Transpose::yes, k, Transpose::no, middle.view(), 0.0, half.view());
  linalg::multiply(1.0, Transpose::no, half.view(), Transpose::yes, basis.Q(), 0.0, u.view());
  return u;
}

}  // namespace mercer::solver
