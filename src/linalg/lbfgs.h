// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Minimisers of smooth functions of many variables by limited-memory BFGS (Nocedal 1980).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/context.h"

namespace mercer::linalg {

/// f(x), and its gradient, every entry written. Where it is not finite, f counts as too large.
using SmoothFunction = std::function<double(std::span<const double> x, std::span<double> gradient)>;
/// Replaces r by H r, H symmetric positive definite and close to the inverse Hessian of f.
using Preconditioner = std::function<void(std::span<double> r)>;

struct LbfgsOptions {
  int64_t memory = 10;               // pairs kept, >= 1
  int64_t most_iterations = 1000;    // >= 0
  double gradient_tolerance = 1e-8;  // on the gradient's largest entry, >= 0
  double decrease_tolerance = 0;     // on a step's decrease of f relative to |f|, >= 0; 0: unused
  // On g'Hg / 2 relative to |f|, >= 0; 0: unused. It is the decrease expected of a step and does
  // not depend on the units of x (Newton's decrement); H must have a scale, from pairs or the
  // preconditioner.
  double decrement_tolerance = 0;
  double noise = 1e-14;                // relative error of the values of f
  Preconditioner preconditioner = {};  // none: the identity, scaled
};

enum class LbfgsEnd {
  gradient,    // converged
  decrease,    // converged to decrease_tolerance or decrement_tolerance
  iterations,  // most_iterations reached
  stalled      // no step decreases f: rounding in f, a corner, or a wrong gradient
};

struct LbfgsResult {
  LbfgsEnd end = LbfgsEnd::iterations;
  int64_t iterations = 0;
  int64_t evaluations = 0;
  double value = 0;
  double largest_gradient = 0;
  double first_decrement = 0;  // g'Hg / 2 relative to |f| at the first direction of a known scale
  /// Whether a tolerance was met; is_flat says whether the point is a minimum.
  bool converged() const { return end == LbfgsEnd::gradient || end == LbfgsEnd::decrease; }
};

/// Starts from x, which becomes the best point found. Memory (2 memory + 6) x.size() numbers, taken
/// before the first iteration; O(memory x.size()) arithmetic per iteration besides f. Cancellation
/// is checked between evaluations. Errors: an option out of its domain, or f not finite at the
/// start (INVALID_ARGUMENT), OUT_OF_MEMORY, CANCELLED.
LbfgsResult minimize_lbfgs(const SmoothFunction& f, std::span<double> x,
                           const LbfgsOptions& options, Context& context);

/// Whether a descent that ended by itself ended at a minimum, for functions that decrease from 0:
/// the gradient must be small compared with that at 0. Small decreases are no proof: at a corner
/// sharper than x's precision no step decreases f. With curvatures up to L, f can fall by about
/// |g|^2/(2L), a small share of |g(0)|^2/(2L) <= f(0) - f. One evaluation, except after an end by
/// the gradient or the iterations.
bool is_flat(const LbfgsResult& result, const SmoothFunction& f, std::size_t size,
             const LbfgsOptions& options);

}  // namespace mercer::linalg
