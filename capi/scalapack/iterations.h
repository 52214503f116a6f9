// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// (Z'Z + shift I) X = B by passes over the rows: conjugate gradients, and the approximate inverses
// that make them converge fast. Vectors are divided as in centered_rows.h.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "centered_rows.h"

namespace mercer::scalapack {

class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// R becomes about (Z'Z + shift I)^{-1} R, up to a factor; sizes: its norms.
  virtual void apply(double shift, const std::vector<double>& sizes,
                     std::vector<double>& R) const = 0;
};

/// By the largest eigenvalues of a random sketch of Z'Z, of some thousand rows.
class Sketch final : public Preconditioner {
 public:
  static int64_t rank_for(int64_t features) noexcept;
  /// Of a sketch that is made, in a process with so many of a vector's numbers.
  static double bytes(double own, double rank) noexcept;
  /// block_rows: of all processes at a time.
  Sketch(CenteredRows& rows, int64_t block_rows);
  void apply(double shift, const std::vector<double>& sizes, std::vector<double>& R) const override;

 private:
  void take_basis(std::vector<double>& vectors, double nu, double share);

  CenteredRows& rows_;
  int64_t rank_;
  std::vector<double> basis_, eigenvalues_;  // rank_ columns
};

/// By a Cholesky factor in single precision, whose own shift is at least that of its rounding.
class SingleFactor final : public Preconditioner {
 public:
  /// Refers to both.
  SingleFactor(const CenteredRows& rows, const SingleMatrix& L) : rows_(rows), L_(L) {}
  void apply(double shift, const std::vector<double>& sizes, std::vector<double>& R) const override;

 private:
  const CenteredRows& rows_;
  const SingleMatrix& L_;
};

/// When iterations end: |B - (Z'Z + shift I) X| of every column is at most tolerance times |B|.
struct Limits {
  double tolerance;
  int64_t iterations;
};

/// X is the start, and becomes the solution, of `count` columns. done: of the part of the way, before
/// each iteration. Returns the iterations. Errors: NOT_CONVERGED, with the residual.
int64_t conjugate_gradients(CenteredRows& rows, const Preconditioner& by, double shift,
                            const std::vector<double>& B, int64_t count, const Limits& limits,
                            const std::function<void(double)>& done, std::vector<double>& X);

}  // namespace mercer::scalapack
