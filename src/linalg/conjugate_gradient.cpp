// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Saad 2003, algorithm 9.1, on k right-hand sides at once. Residuals are of the original, not of
// the preconditioned equations, unless asked for.
#include "linalg/conjugate_gradient.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/aligned.h"
#include "base/context.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/views.h"

namespace mercer::linalg {
namespace {

// Column-by-column operations of iterations on blocks of vectors. Private to linalg.

// out[j] = x_j'y_j.
void column_dots(MatrixView<const double> X, MatrixView<const double> Y, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  for (int64_t i = 0; i < X.rows; ++i) {
    const double *x = X.row(i), *y = Y.row(i);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += x[j] * y[j];
  }
}

// y_j = factor[j] y_j + x_j.
void scale_and_add_columns(std::span<const double> factor, MatrixView<const double> X,
                           MatrixView<double> Y) {
  for (int64_t i = 0; i < X.rows; ++i) {
    const double* x = X.row(i);
    double* y = Y.row(i);
    for (std::size_t j = 0; j < factor.size(); ++j) y[j] = factor[j] * y[j] + x[j];
  }
}

// y_j += factor[j] x_j.
void add_columns(std::span<const double> factor, MatrixView<const double> X, MatrixView<double> Y) {
  for (int64_t i = 0; i < X.rows; ++i) {
    const double* x = X.row(i);
    double* y = Y.row(i);
    for (std::size_t j = 0; j < factor.size(); ++j) y[j] += factor[j] * x[j];
  }
}

void copy_rows(MatrixView<const double> X, MatrixView<double> Y) {
  for (int64_t i = 0; i < X.rows; ++i) std::copy_n(X.row(i), X.cols, Y.row(i));
}

using Numbers = std::vector<double>;

constexpr const char* kConjugateGradients = "conjugate gradients";
constexpr int64_t kCgUnits = 1000;  // of progress

class Iteration {
 public:
  Iteration(const LinearOperator& A, MatrixView<const double> B, const CgOptions& options,
            Context& context, MatrixView<double> X)
      : A_(A),
        B_(B),
        X_(X),
        options_(options),
        context_(context),
        R_(B.rows, B.cols, context, kConjugateGradients),
        P_(B.rows, B.cols, context, kConjugateGradients),
        Q_(B.rows, B.cols, context, kConjugateGradients),
        Z_(options.preconditioner ? B.rows : 0, B.cols, context, kConjugateGradients),
        size_(columns(B.cols)),
        step_(columns(B.cols)),
        rz_(columns(B.cols)),
        residual_(columns(B.cols)),
        stage_(context, kCgUnits) {}

  CgResult run() {
    norms(B_, size_);
    for (int64_t i = 0; i < X_.rows; ++i)
      for (int64_t j = 0; j < X_.cols; ++j)
        if (size_[columns(j)] == 0) X_(i, j) = 0;
    CgResult result;
    Numbers before;
    for (;;) {
      begin();
      result.residuals = relative();
      result.converged = result.worst() <= options_.tolerance;
      // Where a restart does not halve the residual, rounding limits it, not the iteration.
      if (result.converged || result.iterations == options_.most_iterations ||
          (!before.empty() && !any_halved(result.residuals, before)))
        return result;
      before = result.residuals;
      iterate(result.iterations);
    }
  }

 private:
  static std::size_t columns(int64_t count) { return static_cast<std::size_t>(count); }

  /// R = B - A X, and the first direction of every column.
  void begin() {
    context_.checkpoint();
    A_.apply(X_, context_, R_.view());
    for (int64_t i = 0; i < B_.rows; ++i)
      for (int64_t j = 0; j < B_.cols; ++j) R_(i, j) = B_(i, j) - R_(i, j);
    copy_rows(measured(), P_.view());
    column_dots(R_.view(), P_.view(), rz_);
  }

  void iterate(int64_t& iterations) {
    for (; iterations < options_.most_iterations && !all_done(); ++iterations) {
      stage_.reach(part_done(iterations));
      context_.checkpoint();
      A_.apply(P_.view(), context_, Q_.view());
      column_dots(P_.view(), Q_.view(), step_);
      for (std::size_t j = 0; j < step_.size(); ++j) step_[j] = step_of(j, step_[j]);
      add_columns(step_, P_.view(), X_);
      for (double& a : step_) a = -a;
      add_columns(step_, Q_.view(), R_.view());
      const MatrixView<const double> Z = measured();
      column_dots(R_.view(), Z, step_);
      for (std::size_t j = 0; j < step_.size(); ++j) {
        const double ratio = rz_[j] > 0 ? step_[j] / rz_[j] : 0.0;
        rz_[j] = step_[j];
        step_[j] = ratio;
      }
      scale_and_add_columns(step_, Z, P_.view());
    }
  }

  /// Step length of a column; 0 if it is done.
  double step_of(std::size_t j, double curvature) const {
    if (done(j) || rz_[j] == 0) return 0;
    require(std::isfinite(curvature), MERCER_INVALID_ARGUMENT,
            "A p of column %zu is not finite, expected finite products", j);
    require(curvature > 0, MERCER_NOT_POSITIVE_DEFINITE,
            "p'A p = %g in column %zu, expected a positive definite operator", curvature, j);
    return rz_[j] / curvature;
  }

  MatrixView<const double> preconditioned() const {
    if (!options_.preconditioner) return R_.view();
    copy_rows(R_.view(), Z_.view());
    options_.preconditioner(Z_.view());
    return Z_.view();
  }

  static void norms(MatrixView<const double> A, Numbers& out) {
    column_dots(A, A, out);
    for (double& norm : out) norm = std::sqrt(norm);
  }

  /// The preconditioned R; also takes the residuals.
  MatrixView<const double> measured() {
    norms(R_.view(), residual_);
    for (const double r : residual_)
      require(std::isfinite(r), MERCER_INVALID_ARGUMENT,
              "|b - A x| = %g, expected finite B, X and products", r);
    const MatrixView<const double> Z = preconditioned();
    if (options_.relative_to_solution) {
      norms(Z, residual_);
      norms(X_, size_);
    }
    return Z;
  }

  /// Below eps |b| the recurrence's residual is meaningless, and would go on to underflow.
  bool done(std::size_t j) const {
    return residual_[j] <= std::max(options_.tolerance, kEpsilon) * size_[j];
  }
  bool all_done() const {
    for (std::size_t j = 0; j < residual_.size(); ++j)
      if (!done(j)) return false;
    return true;
  }
  /// Progress of the slowest column, measured from |b| for any initial X, so that earlier runs
  /// count.
  double part_done(int64_t iterations) const {
    const double spent =
        spent_part(static_cast<double>(iterations), static_cast<double>(options_.most_iterations));
    double least = 1;
    for (std::size_t j = 0; j < residual_.size(); ++j)
      if (!done(j))
        least =
            std::min(least, converged_part(residual_[j], size_[j], options_.tolerance * size_[j]));
    return std::max(spent, least);
  }

  Numbers relative() const {
    Numbers result(residual_);
    for (std::size_t j = 0; j < result.size(); ++j)
      if (size_[j] > 0) result[j] /= size_[j];
    return result;
  }
  bool any_halved(const Numbers& now, const Numbers& before) const {
    for (std::size_t j = 0; j < now.size(); ++j)
      if (now[j] > options_.tolerance && now[j] < 0.5 * before[j]) return true;
    return false;
  }

  const LinearOperator& A_;
  MatrixView<const double> B_;
  MatrixView<double> X_;
  const CgOptions& options_;
  Context& context_;
  Matrix<double> R_, P_, Q_, Z_;
  Numbers size_, step_, rz_, residual_;
  Stage stage_;
};

}  // namespace

void LinearOperator::apply(MatrixView<const double> X, Context& context,
                           MatrixView<double> Y) const {
  require(X.rows == rows() && Y.rows == rows() && X.cols == Y.cols, MERCER_DIMENSION_MISMATCH,
          "Y is %ld x %ld and X %ld x %ld, expected as many columns and %ld rows for Y = A X",
          Y.rows, Y.cols, X.rows, X.cols, rows());
  multiply(X, context, Y);
}

double CgResult::worst() const {
  double most = 0;
  for (const double r : residuals) most = std::max(most, r);
  return most;
}

CgResult conjugate_gradient(const LinearOperator& A, MatrixView<const double> B,
                            const CgOptions& options, Context& context, MatrixView<double> X) {
  require(options.tolerance >= 0, MERCER_INVALID_ARGUMENT, "tolerance = %g, expected a number >= 0",
          options.tolerance);
  require(options.most_iterations >= 0, MERCER_INVALID_ARGUMENT,
          "most_iterations = %ld, expected at least 0", options.most_iterations);
  require(
      B.rows == A.rows() && X.rows == B.rows && X.cols == B.cols, MERCER_DIMENSION_MISMATCH,
      "A has %ld rows, B is %ld x %ld and X %ld x %ld, expected X and B of one shape and of A's "
      "rows",
      A.rows(), B.rows, B.cols, X.rows, X.cols);
  return Iteration(A, B, options, context, X).run();
}

void require_converged(const CgResult& result, const CgOptions& options) {
  require(result.converged, MERCER_NOT_CONVERGED,
          "|b - A x| / |b| = %g after %ld iterations of conjugate gradients, expected at most %g",
          result.worst(), result.iterations, options.tolerance);
}

}  // namespace mercer::linalg
