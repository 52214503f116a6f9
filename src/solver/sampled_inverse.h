// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What draws from N(0, A^{-1}) tell of the inverse and the determinant of A = H + n lambda I, of
// which only products are known: evidences, their derivatives and posterior variances without D^2
// numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/numbers.h"
#include "base/views.h"
#include "linalg/blas.h"
#include "linalg/conjugate_gradient.h"
#include "solver/block_source.h"

namespace mercer::solver {

/// An estimate and its standard error.
struct Estimate {
  double value = 0, error = kNaN;
};

/// M = G G', near H + shift I for the centred Z'WZ = H: of the heavy columns' block by its Cholesky
/// factor, of the others the diagonal.
class HeavyFactor {
 public:
  /// The lower triangle of the block becomes its factor; diagonal: D numbers, 0 of heavy columns.
  /// NOT_POSITIVE_DEFINITE.
  HeavyFactor(std::vector<int64_t> heavy, Matrix<double> block, const std::vector<double>& diagonal,
              double shift);
  /// From put_numbers; INVALID_ARGUMENT unless they are of D columns. Advances `from`.
  HeavyFactor(std::span<const double>& from, int64_t D, Context& context);
  void put_numbers(std::vector<double>& to) const;

  int64_t rows() const noexcept { return std::ssize(roots_); }
  /// R := G^{-1} R, or G^{-T} R.
  void solve(MatrixView<double> R, linalg::Transpose transpose = linalg::kPlain) const;
  double log_determinant() const;                                // of M
  std::vector<double> inverse_diagonal(Context& context) const;  // of M^{-1}

 private:
  std::vector<int64_t> heavy_;
  Matrix<double> L_;
  std::vector<double> roots_;  // of the diagonal; 1 of heavy columns
};

class SampledInverse {
 public:
  /// By `count` standard normal vectors z_s, a function of seed and s alone, and a Lanczos process
  /// from each, until the solution of its system has a residual of the tolerance. M near A makes
  /// both processes and errors short: with M = A all estimates are exact. Memory: 2 D count numbers,
  /// and D for each step of one process. Errors: OUT_OF_MEMORY, CANCELLED, NOT_CONVERGED,
  /// NOT_POSITIVE_DEFINITE.
  SampledInverse(const linalg::LinearOperator& A, HeavyFactor M, int64_t count, double tolerance,
                 uint64_t seed, Context& context);
  /// From put_numbers; INVALID_ARGUMENT unless they are of D columns.
  SampledInverse(std::span<const double> numbers, int64_t D, Context& context);
  /// What quadratic_forms needs.
  void put_numbers(std::vector<double>& to) const;

  int64_t rows() const noexcept { return factor_.rows(); }
  int64_t count() const noexcept { return draws_.cols(); }
  int64_t steps() const noexcept { return steps_; }  // of all processes
  /// log |A|, by the processes' Gauss quadratures (Ubaru, Chen, Saad 2017).
  Estimate log_determinant() const noexcept { return log_determinant_; }
  /// sum_j g_j (A^{-1})_jj.
  Estimate inverse_trace(std::span<const double> g, Context& context) const;
  /// v'A^{-1} v of each column v of V (D x k).
  void quadratic_forms(MatrixView<const double> V, std::span<double> out) const;
  /// The root of the mean over the columns of the squared relative standard error of these.
  double relative_error(MatrixView<const double> V) const;

 private:
  struct Moments;
  std::vector<Moments> moments(MatrixView<const double> V) const;
  HeavyFactor factor_;
  Matrix<double> draws_, partners_;  // D x count
  Estimate log_determinant_;
  int64_t steps_ = 0;
};

}  // namespace mercer::solver
