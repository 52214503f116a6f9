// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Minimisers of smooth functions of many variables by limited-memory BFGS (Nocedal 1980).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/context.h"

namespace mercer::linalg {

/// f(x), and its gradient written whole. Where it is not finite, f counts as too large there.
using SmoothFunction = std::function<double(std::span<const double> x, std::span<double> gradient)>;
/// r becomes H r, H symmetric positive definite: about the inverse of f's second derivatives.
using Preconditioner = std::function<void(std::span<double> r)>;

struct LbfgsOptions {
  int64_t memory = 10;               // pairs kept, >= 1
  int64_t most_iterations = 1000;    // >= 0
  double gradient_tolerance = 1e-8;  // on the gradient's largest entry, >= 0
  double decrease_tolerance = 0;  // on a step's decrease of f relative to |f|, >= 0; 0: not asked
  // On g'Hg / 2 relative to |f|, >= 0; 0: not asked. That is what a step is expected to bring, in
  // no unit of x (Newton's decrement); H must have a scale: of pairs, or of the preconditioner.
  double decrement_tolerance = 0;
  double noise = 1e-14;                // relative error of the values of f
  Preconditioner preconditioner = {};  // none: the identity, scaled
};

enum class LbfgsEnd {
  gradient,    // converged
  decrease,    // converged as far as decrease_tolerance asks, or decrement_tolerance
  iterations,  // as many as were allowed
  stalled      // no step falls: the limit of f's arithmetic, a corner, or a wrong gradient
};

struct LbfgsResult {
  LbfgsEnd end = LbfgsEnd::iterations;
  int64_t iterations = 0;
  int64_t evaluations = 0;
  double value = 0;
  double largest_gradient = 0;
  /// As far as was asked for; is_flat says whether that is a minimum.
  bool converged() const { return end == LbfgsEnd::gradient || end == LbfgsEnd::decrease; }
};

/// From x, which becomes the best point found. Memory (2 memory + 6) x.size() numbers, taken before
/// the first iteration; O(memory x.size()) arithmetic per iteration beside the function's own.
/// Cancellation is seen between evaluations. Errors: an option out of its domain, or f not finite
/// at the start (INVALID_ARGUMENT), OUT_OF_MEMORY, CANCELLED.
LbfgsResult minimize_lbfgs(const SmoothFunction& f, std::span<double> x,
                           const LbfgsOptions& options, Context& context);

/// Whether a descent that ended by itself ended at a minimum, for functions that fall from 0: the
/// gradient is flat beside that at 0. That a step brings nothing is no proof: at a corner sharper
/// than x's digits no step does. Of curvatures up to L, |g|^2/(2L) is left of f, a share of it, and
/// |g(0)|^2/(2L) <= f(0) - f. One evaluation, but for an end by the gradient or the iterations.
bool is_flat(const LbfgsResult& result, const SmoothFunction& f, std::size_t size,
             const LbfgsOptions& options);

}  // namespace mercer::linalg
