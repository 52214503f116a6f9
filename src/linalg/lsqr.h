// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Least squares with damping on a linear operator, by LSQR (Paige, Saunders 1982): conjugate
// gradients on the normal equations, without the squared condition number in its rounding errors.
#pragma once

#include <span>

#include "linalg/linear_operator.h"

namespace mercer::linalg {

struct LsqrOptions {
  double damping = 0;           // >= 0
  double tolerance = 1e-10;     // of either test below, >= 0
  double normal_tolerance = 0;  // on |A~'r| / |A'b|, >= 0; 0: not asked
  int64_t most_iterations = 1000;
  double largest_condition = 1e14;  // beyond it the iteration ends; > 1
};

enum class LsqrEnd {
  zero,           // A'b = 0: x = 0
  consistent,     // |r| <= tolerance (|A| |x| + |b|): the equations hold as far as that
  least_squares,  // |A~'r| <= tolerance |A~| |r|, A~ = (A; damping I), or <= normal_tolerance |A'b|
  condition,      // the estimate of A~'s condition number passed largest_condition
  iterations      // as many as were allowed
};

/// Estimates of the recurrences, as the authors name them.
struct LsqrResult {
  LsqrEnd end = LsqrEnd::iterations;
  int64_t iterations = 0;
  double residual = 0;         // rbar = |(b; 0) - (A; damping I) x|
  double normal_residual = 0;  // |A'(b - A x) - damping^2 x|
  double norm = 0;             // |(A; damping I)|, Frobenius, from below
  double condition = 0;        // of it
  double size = 0;             // |x|
  bool converged() const { return end != LsqrEnd::condition && end != LsqrEnd::iterations; }
};

/// x minimises |A x - b|^2 + damping^2 |x|^2; without damping the x of least norm. x is written
/// only. A product with A and one with A' per iteration; memory 2 A.rows() + 3 A.cols() numbers.
/// Errors: a shape (DIMENSION_MISMATCH), an option out of its domain, b or a product that is not
/// finite (INVALID_ARGUMENT), CANCELLED, OUT_OF_MEMORY.
LsqrResult lsqr(const LinearOperator& A, std::span<const double> b, const LsqrOptions& options,
                Context& context, std::span<double> x);

/// NOT_CONVERGED, with the estimates, unless it converged.
void require_converged(const LsqrResult& result, const LsqrOptions& options);

}  // namespace mercer::linalg
