// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Minimisers of smooth functions of many variables by limited-memory BFGS (Nocedal 1980).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/context.h"

namespace mercer::linalg {

// A step along a ray with sufficient decrease and curvature, for descent methods.

/// phi(step) = f(x + step p) and its derivative p'grad f there.
struct RayPoint {
  double step = 0, value = 0, slope = 0;
};

struct LineSearchOptions {
  double first_step = 1;
  double noise = 1e-14;  // relative error of the values of phi
};

/// A step that meets the strong Wolfe conditions phi(t) <= phi(0) + c1 t phi'(0) and
/// |phi'(t)| <= c2 |phi'(0)|, c1 = 1e-4, c2 = 0.9; where phi(t) and phi(0) differ by rounding only,
/// the first is replaced by a condition on the slope, phi'(t) <= (2 c1 - 1) phi'(0). A point that
/// is not finite counts as too far. The last call of phi is the point returned; its step is 0 if no
/// decrease was found. start: step 0, slope < 0.
RayPoint wolfe_step(const std::function<RayPoint(double step)>& phi, const RayPoint& start,
                    const LineSearchOptions& options);

/// f(x), and its gradient, every entry written. Where it is not finite, f counts as too large.
using SmoothFunction = std::function<double(std::span<const double> x, std::span<double> gradient)>;
/// Replaces r by H r, H symmetric positive definite and close to the inverse Hessian of f.
using Preconditioner = std::function<void(std::span<double> r)>;

/// A step, and the change of the gradient along it.
struct CurvaturePair {
  std::vector<double> step, change;
};

struct LbfgsOptions {
  int64_t memory = 10;               // pairs kept, >= 1
  int64_t most_iterations = 1000;    // >= 0
  double gradient_tolerance = 1e-8;  // on the gradient's largest entry, >= 0
  double decrease_tolerance = 0;     // on a step's decrease of f relative to |f|, >= 0; 0: unused
  bool absolute = false;             // tolerances of decreases are not relative to |f|
  // On g'Hg / 2 relative to |f|, >= 0; 0: unused. It is the decrease expected of a step and does
  // not depend on the units of x (Newton's decrement); H must have a scale, from pairs or the
  // preconditioner.
  double decrement_tolerance = 0;
  double noise = 1e-14;                // relative error of the values of f
  Preconditioner preconditioner = {};  // none: the identity, scaled
  /// Of a descent of a function near by, oldest first, with which this one starts; they become its
  /// own. None: it knows nothing, and tells nothing.
  std::vector<CurvaturePair>* pairs = nullptr;
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

// The least value of a function of one number between two others, by golden sections (Kiefer 1953).

/// Where f is least between low and high, within the tolerance; a local minimum of several. f is
/// called once for each section.
template <class F>
double golden_sections(double low, double high, double tolerance, const F& f) {
  constexpr double kKept = 0.6180339887498949;  // of the interval
  double left = high - kKept * (high - low), right = low + kKept * (high - low);
  double at_left = f(left), at_right = f(right);
  while (high - low > tolerance) {
    if (at_left > at_right) {
      low = left, left = right, at_left = at_right;
      at_right = f(right = low + kKept * (high - low));
    } else {
      high = right, right = left, at_right = at_left;
      at_left = f(left = high - kKept * (high - low));
    }
  }
  return (low + high) / 2;
}

}  // namespace mercer::linalg
