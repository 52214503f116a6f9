// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The two-loop recursion of Nocedal 1980 (Nocedal, Wright, algorithm 7.4), started with the
// preconditioner times s'y / y'Hy of the newest pair (their 7.20). Pairs whose curvature s'y is
// lost in rounding are skipped. If no step decreases f, the pairs are discarded once before giving
// up.
#include "linalg/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"

namespace mercer::linalg {
namespace {

// Bracketing and zooming in one loop (Nocedal, Wright, Numerical Optimization, 2nd edition,
// algorithms 3.5 and 3.6, with their cubic step 3.59), and the approximate Wolfe condition of
// Hager, Zhang 2005 (4.1): the difference of two values loses all digits where slopes still have
// half of theirs.
constexpr double kDecrease = 1e-4;   // c1
constexpr double kCurvature = 0.9;   // c2
constexpr double kExpansion = 4;     // factor on a step that is still steep
constexpr double kLeastShare = 0.1;  // least share of the bracket on either side of a step

bool is_finite(const RayPoint& point) {
  return std::isfinite(point.value) && std::isfinite(point.slope);
}

class Search {
 public:
  Search(const RayPoint& start, double noise)
      : start_(start), low_(start), noise_(noise * std::abs(start.value)) {}

  bool accepts(const RayPoint& p) const {
    if (!is_finite(p) || std::abs(p.slope) > -kCurvature * start_.slope) return false;
    if (p.value <= start_.value + kDecrease * p.step * start_.slope) return true;
    const bool alike = std::abs(p.value - start_.value) <= noise_;
    return alike && p.slope <= (2 * kDecrease - 1) * start_.slope;
  }

  /// A rejected point moves one end of the bracket.
  void narrow(const RayPoint& p) {
    const double line = start_.value + kDecrease * p.step * start_.slope;
    if (!is_finite(p) || p.value > std::min(line, low_.value) + noise_) {
      high_ = p;
      bracketed_ = true;
      return;
    }
    const bool turned = bracketed_ ? p.slope * (high_.step - low_.step) >= 0 : p.slope >= 0;
    if (turned) high_ = low_;
    bracketed_ |= turned;
    low_ = p;
  }

  double next_step() const {
    if (!bracketed_) return kExpansion * low_.step;
    const double width = high_.step - low_.step;
    double share = is_finite(high_) ? minimum() : 0.5;
    if (!std::isfinite(share)) share = 0.5;
    return low_.step + width * std::clamp(share, kLeastShare, 1 - kLeastShare);
  }

  bool closed() const {
    return bracketed_ && std::abs(high_.step - low_.step) <=
                             1e-15 * std::max(std::abs(high_.step), std::abs(low_.step));
  }
  /// The lowest step so far; 0 if no point was lower than the start.
  double lowest() const { return low_.value < start_.value ? low_.step : 0; }

 private:
  /// Minimum of the cubic through both ends, as a share of the way from low to high; from the
  /// slopes alone where the values do not differ.
  double minimum() const {
    const double width = high_.step - low_.step;
    if (std::abs(high_.value - low_.value) <= noise_)
      return low_.slope / (low_.slope - high_.slope);
    const double mean = low_.slope + high_.slope - 3 * (high_.value - low_.value) / width;
    const double root = std::copysign(std::sqrt(mean * mean - low_.slope * high_.slope), width);
    return 1 - (high_.slope + root - mean) / (high_.slope - low_.slope + 2 * root);
  }

  RayPoint start_, low_, high_;
  double noise_;
  bool bracketed_ = false;
};

constexpr int64_t kLbfgsUnits = 1000;  // of progress

void check(const LbfgsOptions& options) {
  require(options.memory >= 1, MERCER_INVALID_ARGUMENT, "memory = %ld, expected at least 1",
          options.memory);
  require(options.most_iterations >= 0, MERCER_INVALID_ARGUMENT,
          "most_iterations = %ld, expected at least 0", options.most_iterations);
  for (const double tolerance : {options.gradient_tolerance, options.decrease_tolerance,
                                 options.decrement_tolerance, options.noise})
    require(tolerance >= 0, MERCER_INVALID_ARGUMENT, "tolerance = %g, expected a number >= 0",
            tolerance);
}

/// Largest absolute entry; NaN if there is a NaN.
double largest(std::span<const double> v) {
  double most = 0;
  for (const double x : v) most = std::isnan(x) ? x : std::max(most, std::abs(x));
  return most;
}

/// The newest pairs (s, y) = (step, change of the gradient), and the product with the approximate
/// inverse Hessian they define.
class Pairs {
 public:
  Pairs(int64_t memory, int64_t size, const Preconditioner& preconditioner)
      : S_(memory + 1, size),
        Y_(memory + 1, size),
        curvature_(memory + 1),
        weight_(memory + 1),
        preconditioner_(preconditioner) {}

  bool empty() const { return count_ == 0; }
  void forget() { count_ = 0; }
  std::span<double> next_step() { return row(S_, place(count_)); }
  std::span<double> next_change() { return row(Y_, place(count_)); }

  /// Keeps the pair in next_step() and next_change(). scratch: a vector.
  void keep(std::span<double> scratch) {
    const std::span<double> s = next_step(), y = next_change();
    const double sy = dot(s, y);
    if (!(sy > 1e-16 * std::sqrt(dot(s, s) * dot(y, y)))) return;
    std::ranges::copy(y, scratch.begin());
    precondition(scratch);
    scale_ = sy / dot(y, scratch);
    curvature_[place(count_)] = sy;
    if (count_ < S_.rows() - 1) {
      ++count_;
    } else {
      oldest_ = (oldest_ + 1) % S_.rows();
    }
  }

  void start_with(const std::vector<CurvaturePair>& pairs, std::span<double> scratch) {
    for (const auto& [step, change] : pairs) {
      std::ranges::copy(step, next_step().begin());
      std::ranges::copy(change, next_change().begin());
      keep(scratch);
    }
  }
  std::vector<CurvaturePair> kept() const {
    std::vector<CurvaturePair> pairs;
    for (int64_t k = 0; k < count_; ++k) {
      const std::span<const double> s = row(S_, place(k)), y = row(Y_, place(k));
      pairs.push_back({{s.begin(), s.end()}, {y.begin(), y.end()}});
    }
    return pairs;
  }

  /// r becomes H r.
  void apply(std::span<double> r) {
    for (int64_t k = count_ - 1; k >= 0; --k) {
      const auto i = static_cast<size_t>(place(k));
      weight_[i] = dot(row(S_, place(k)), r) / curvature_[i];
      add(-weight_[i], row(Y_, place(k)), r);
    }
    precondition(r);
    if (count_ > 0)
      for (double& x : r) x *= scale_;
    for (int64_t k = 0; k < count_; ++k) {
      const auto i = static_cast<size_t>(place(k));
      add(weight_[i] - dot(row(Y_, place(k)), r) / curvature_[i], row(S_, place(k)), r);
    }
  }

 private:
  int64_t place(int64_t k) const { return (oldest_ + k) % S_.rows(); }
  static std::span<double> row(const Matrix<double>& A, int64_t i) {
    return {A.view().row(i), static_cast<size_t>(A.cols())};
  }
  void precondition(std::span<double> r) const {
    if (preconditioner_) preconditioner_(r);
  }

  Matrix<double> S_, Y_;  // one row more than pairs kept, for the next pair, which may be refused
  std::vector<double> curvature_, weight_;
  const Preconditioner& preconditioner_;
  int64_t count_ = 0, oldest_ = 0;
  double scale_ = 1;
};

class Minimizer {
 public:
  Minimizer(const SmoothFunction& f, std::span<double> x, const LbfgsOptions& options,
            Context& context)
      : f_(f),
        x_(x),
        options_(options),
        context_(context),
        pairs_(options.memory, static_cast<int64_t>(x.size()), options.preconditioner),
        vectors_(4, static_cast<int64_t>(x.size())) {}

  LbfgsResult run() {
    std::ranges::copy(x_, point_.begin());
    result_.value = evaluate();
    require(std::isfinite(result_.value) && std::isfinite(largest(new_gradient_)),
            MERCER_INVALID_ARGUMENT, "f(x) = %g or its gradient at the start, expected finite ones",
            result_.value);
    std::ranges::copy(new_gradient_, gradient_.begin());
    if (options_.pairs != nullptr) pairs_.start_with(*options_.pairs, direction_);
    result_.end = iterate();
    if (options_.pairs != nullptr) *options_.pairs = pairs_.kept();
    result_.first_decrement = first_decrement_;
    return result_;
  }

 private:
  LbfgsEnd iterate() {
    const double steepest = largest(gradient_);
    for (;; ++result_.iterations) {
      result_.largest_gradient = largest(gradient_);
      stage_.reach(part_done(steepest));
      if (result_.largest_gradient <= options_.gradient_tolerance) return LbfgsEnd::gradient;
      if (result_.iterations == options_.most_iterations) return LbfgsEnd::iterations;
      const double before = result_.value;
      const std::optional<LbfgsEnd> end = step();
      if (end) return *end;
      const double least = options_.decrease_tolerance * scale_of(before);
      if (least > 0 && before - result_.value < least) return LbfgsEnd::decrease;
    }
  }

  double part_done(double steepest) const {
    const double spent = spent_part(static_cast<double>(result_.iterations),
                                    static_cast<double>(options_.most_iterations));
    const double flat =
        options_.gradient_tolerance > 0
            ? converged_part(result_.largest_gradient, steepest, options_.gradient_tolerance)
            : 0;
    const double low =
        options_.decrement_tolerance > 0
            ? converged_part(decrement_, first_decrement_, options_.decrement_tolerance)
            : 0;
    return std::max({spent, flat, low});
  }

  /// One step from x_, or the reason why there is none.
  std::optional<LbfgsEnd> step() {
    for (;;) {
      std::ranges::transform(gradient_, direction_.begin(), [](double g) { return -g; });
      pairs_.apply(direction_);
      const RayPoint start{0, result_.value, dot(direction_, gradient_)};
      if (start.slope < 0 && std::isfinite(start.slope)) {
        if (has_scale()) decrement_ = -start.slope / 2 / scale_of(start.value);
        if (first_decrement_ == 0) first_decrement_ = decrement_;
        if (has_scale() && -start.slope / 2 <= options_.decrement_tolerance * scale_of(start.value))
          return LbfgsEnd::decrease;
        const RayPoint point = wolfe_step([this](double t) { return along(t); }, start,
                                          {first_step(), options_.noise});
        if (point.step > 0) return move_to(point), std::nullopt;
      }
      if (pairs_.empty()) return LbfgsEnd::stalled;
      pairs_.forget();
    }
  }

  double scale_of(double value) const { return options_.absolute ? 1 : std::abs(value); }
  bool has_scale() const { return !pairs_.empty() || options_.preconditioner; }
  /// 1 once the direction has its own scale.
  double first_step() const {
    return has_scale() ? 1 : 1 / std::max(1.0, std::sqrt(dot(gradient_, gradient_)));
  }

  RayPoint along(double t) {
    std::ranges::copy(x_, point_.begin());
    add(t, direction_, point_);
    const double value = evaluate();
    return {t, value, dot(direction_, new_gradient_)};
  }

  void move_to(const RayPoint& point) {
    const std::span<double> s = pairs_.next_step(), y = pairs_.next_change();
    for (size_t i = 0; i < x_.size(); ++i) {
      s[i] = point_[i] - x_[i];
      y[i] = new_gradient_[i] - gradient_[i];
    }
    std::ranges::copy(point_, x_.begin());
    std::ranges::copy(new_gradient_, gradient_.begin());
    result_.value = point.value;
    pairs_.keep(direction_);
  }

  double evaluate() {
    context_.checkpoint();
    ++result_.evaluations;
    return f_(point_, new_gradient_);
  }

  std::span<double> vector(int64_t i) const { return {vectors_.view().row(i), x_.size()}; }

  const SmoothFunction& f_;
  std::span<double> x_;
  const LbfgsOptions& options_;
  Context& context_;
  Pairs pairs_;
  Matrix<double> vectors_;
  std::span<double> gradient_ = vector(0), direction_ = vector(1), point_ = vector(2),
                    new_gradient_ = vector(3);
  LbfgsResult result_;
  Stage stage_{context_, kLbfgsUnits};
  double decrement_ = 0, first_decrement_ = 0;  // relative to f, for progress
};

}  // namespace

RayPoint wolfe_step(const std::function<RayPoint(double)>& phi, const RayPoint& start,
                    const LineSearchOptions& options) {
  constexpr int64_t kMostEvaluations = 40;
  Search search(start, options.noise);
  double step = options.first_step;
  for (int64_t k = 0; k < kMostEvaluations && !search.closed(); ++k) {
    const RayPoint point = phi(step);
    if (search.accepts(point)) return point;
    search.narrow(point);
    step = search.next_step();
  }
  // Without a Wolfe step, the lowest point is better than nothing.
  return search.lowest() == 0 ? start : phi(search.lowest());
}

LbfgsResult minimize_lbfgs(const SmoothFunction& f, std::span<double> x,
                           const LbfgsOptions& options, Context& context) {
  check(options);
  const auto size = static_cast<int64_t>(x.size());
  const int64_t vectors = checked_add(checked_multiply(2, options.memory, "L-BFGS"), 6, "L-BFGS");
  const MemoryCharge charge =
      context.charge(checked_multiply(checked_multiply(vectors, size, "L-BFGS"),
                                      static_cast<int64_t>(sizeof(double)), "L-BFGS"),
                     "L-BFGS");
  return Minimizer(f, x, options, context).run();
}

bool is_flat(const LbfgsResult& result, const SmoothFunction& f, std::size_t size,
             const LbfgsOptions& options) {
  if (result.end == LbfgsEnd::gradient || result.end == LbfgsEnd::iterations)
    return result.converged();
  constexpr double kSlack = 30;   // root of the condition number and of the share left to fall
  constexpr double kSteep = 0.1;  // of the gradient at 0: no minimum, however little f falls
  const std::vector<double> zero(size);
  std::vector<double> gradient(size);
  const double fallen = f(zero, gradient) - result.value;
  const double left =
      std::max({options.decrement_tolerance, options.decrease_tolerance, options.noise});
  const double share = left * std::max(1.0, std::abs(result.value) / std::max(fallen, 0.0));
  return result.largest_gradient <= std::min(kSlack * std::sqrt(share), kSteep) * largest(gradient);
}

}  // namespace mercer::linalg
