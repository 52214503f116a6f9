// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With t_a >= ||theta||_a in place of the norms, the problem is a cone program. Its barrier
// -mu sum_a log(t_a^2 - ||theta||_a^2) is least over t at
//   t_a = (mu + sqrt(mu^2 + tau^2 ||theta||_a^2))/tau,
// so that a smooth, convex function of theta alone is left, which Newton's method minimises for mu
// after mu. With G_a = R_a'R_a the v_a = R_a theta/t_a have norms below 1 and are a point of the dual
//   max -1/2 tr E'H^{-1}E, E = C - tau sum_a R_a'v_a = H theta - g, g the gradient.
// What the objective exceeds its least value by is at most what it exceeds the dual's by, the gap
//   sum_a tau ||theta||_a (t_a - ||theta||_a)/t_a + 1/2 tr g'H^{-1}g,
// at the minimum at most mu for each norm (Boyd, Vandenberghe 2004, chapter 11). Proximal steps,
// which shrink one norm after another, need thousands of passes over the G_a where these share
// coefficients.
#include "solver/group_norms.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/blas.h"
#include "solver/block_source.h"
#include "solver/primal_system.h"

namespace mercer::solver {
namespace {

constexpr const char* kWhat = "least squares with norms";
constexpr double kFirstBarrier = 0.1, kBarrierStep = 0.1;  // of scale, of the last
constexpr double kFullStep = 0.05;  // decrement over mu: there Newton's method converges by itself
constexpr int64_t kMostCenterings = 50;
constexpr double kArmijo = 0.1, kLeastStep = 1e-9;

std::span<double> all(const Matrix<double>& A) {
  return {A.data(), static_cast<size_t>(A.rows() * A.cols())};
}
double product(const Matrix<double>& A, const Matrix<double>& B) {
  return linalg::dot(all(A), all(B));
}
double product(const Matrix<double>& A, MatrixView<const double> B) {
  double sum = 0;
  for (int64_t i = 0; i < B.rows; ++i)
    for (int64_t k = 0; k < B.cols; ++k) sum += A(i, k) * B(i, k);
  return sum;
}
/// S theta of a symmetric S, in place of `out`.
void multiply(const Matrix<double>& S, const Matrix<double>& theta, const Matrix<double>& out) {
  out.fill(0);
  linalg::multiply_symmetric(1, S.view(), theta.view(), out.view());
}

}  // namespace

/// Newton's method along the barrier's path.
class Descent {
 public:
  Descent(const GroupNormSystem& system, double tau, Context& context)
      : system_(system),
        of_(system.problem_),
        tau_(tau),
        context_(context),
        d_(std::ssize(of_.G)),
        theta_(copy_of(system.plain_.view(), context, kWhat)),
        h_theta_(made()),
        factor_(of_.H.rows(), of_.H.rows(), context, kWhat),
        sides_(of_.H.rows(), (d_ + 1) * of_.C.cols(), context, kWhat),
        squares_(d_),
        t_(d_) {
    for (int64_t a = 0; a < d_; ++a) {
      g_theta_.push_back(made());
      g_step_.push_back(made());
    }
  }

  GroupNormSolution run(double tolerance) {
    const double scale = system_.scale_;
    take_products();
    GroupNormSolution best{made(), {}, kInfinity};
    for (mu_ = kFirstBarrier * scale / static_cast<double>(d_); best.gap > tolerance;
         mu_ *= kBarrierStep) {
      take_bounds();
      const double gap = center() / scale;
      if (!(gap < best.gap)) break;  // lost in rounding
      copy_rows(theta_.view(), best.theta.view());
      best.norms = norms();
      best.gap = gap;
    }
    best.iterations = iterations_;
    return best;
  }

 private:
  Matrix<double> made() const { return {of_.C.rows(), of_.C.cols(), context_, kWhat}; }
  std::vector<double> norms() const {
    std::vector<double> norms;
    for (const double square : squares_) norms.push_back(std::sqrt(square));
    return norms;
  }
  double t_at(double square) const {
    return (mu_ + std::sqrt(mu_ * mu_ + tau_ * tau_ * square)) / tau_;
  }
  /// tau t - mu log(t^2 - square), in which t^2 - square = 2 mu t/tau.
  double barrier(double square) const {
    const double t = t_at(square);
    return tau_ * t - mu_ * std::log(2 * mu_ * t / tau_);
  }

  void take_products() {
    multiply(of_.H, theta_, h_theta_);
    for (int64_t a = 0; a < d_; ++a) {
      multiply(of_.G[a], theta_, g_theta_[a]);
      squares_[a] = std::max(0.0, product(theta_, g_theta_[a]));
    }
  }
  void take_bounds() {
    for (int64_t a = 0; a < d_; ++a) t_[a] = t_at(squares_[a]);
  }

  /// Until the gap's second part is no more than the first may be. Returns the gap.
  double center() {
    for (int64_t k = 0;; ++k) {
      context_.checkpoint();
      fill_sides();
      const double rest = unbalanced();
      if (rest <= mu_ * static_cast<double>(d_) || k == kMostCenterings || !step())
        return rest + barrier_gap();
      take_products();
      take_bounds();
      ++iterations_;
    }
  }

  /// 1/2 tr g'H^{-1}g.
  double unbalanced() const {
    const MatrixView<const double> gradient = sides_.view().block_cols(0, of_.C.cols());
    const Matrix<double> solved = copy_of(gradient, context_, kWhat);
    linalg::cholesky_solve(system_.factor_.view(), solved.view());
    return product(solved, gradient) / 2;
  }
  /// tau (t - s) = mu + mu^2/(root + tau s), without cancellation.
  double barrier_gap() const {
    double gap = 0;
    for (int64_t a = 0; a < d_; ++a) {
      const double s = std::sqrt(squares_[a]);
      gap += s / t_[a] * (mu_ + mu_ * mu_ / (std::hypot(mu_, tau_ * s) + tau_ * s));
    }
    return gap;
  }

  /// The gradient and, of each norm, sqrt(kappa_a) G_a theta, side by side.
  void fill_sides() {
    const int64_t p = of_.C.cols();
    for (int64_t j = 0; j < of_.C.rows(); ++j) {
      double* const row = sides_.view().row(j);
      for (int64_t k = 0; k < p; ++k) row[k] = h_theta_(j, k) - of_.C(j, k);
      for (int64_t a = 0; a < d_; ++a)
        for (int64_t k = 0; k < p; ++k) {
          row[k] += tau_ / t_[a] * g_theta_[a](j, k);
          row[(a + 1) * p + k] = root_kappa(a) * g_theta_[a](j, k);
        }
    }
  }
  double root_kappa(int64_t a) const {
    return tau_ / (t_[a] * std::sqrt(std::hypot(mu_, tau_ * std::sqrt(squares_[a]))));
  }

  /// The Hessian is A - U U', A = H + sum_a tau/t_a G_a and U of those columns; its inverse by that
  /// of A (Woodbury); where rounding leaves that no inverse, by A alone, whose steps go down, too.
  /// Leaves the step in `sides_`' first columns. Returns the gradient times it.
  double solve_step() {
    std::copy_n(of_.H.data(), all(of_.H).size(), factor_.data());
    for (int64_t a = 0; a < d_; ++a) linalg::add(tau_ / t_[a], all(of_.G[a]), all(factor_));
    jittered_cholesky(factor_.view(), context_);
    const Matrix<double> U = copy_of(sides_.view(), context_, kWhat);
    linalg::cholesky_solve(factor_.view(), sides_.view());
    const int64_t p = of_.C.cols(), D = of_.C.rows();
    Matrix<double> K(d_, d_, context_, kWhat), y(d_, 1, context_, kWhat);
    const auto between = [&](int64_t a, int64_t b) {  // of columns of U and of the solutions
      double sum = 0;
      for (int64_t j = 0; j < D; ++j)
        for (int64_t k = 0; k < p; ++k) sum += U(j, a * p + k) * sides_(j, b * p + k);
      return sum;
    };
    for (int64_t a = 0; a < d_; ++a) {
      for (int64_t b = 0; b < d_; ++b) K(a, b) = (a == b) - between(a + 1, b + 1);
      y(a, 0) = between(a + 1, 0);
    }
    if (linalg::cholesky(K.view()) != 0) return product(U, sides_.view().block_cols(0, p));
    linalg::cholesky_solve(K.view(), y.view());
    for (int64_t j = 0; j < D; ++j)
      for (int64_t a = 0; a < d_; ++a)
        for (int64_t k = 0; k < p; ++k) sides_(j, k) += y(a, 0) * sides_(j, (a + 1) * p + k);
    return product(U, sides_.view().block_cols(0, p));
  }

  /// Along the step, by the quadratic that each part is. False: theta is as near as it gets.
  bool step() {
    const double decrement = solve_step();
    const Matrix<double> move = copy_of(sides_.view().block_cols(0, of_.C.cols()), context_, kWhat);
    const Matrix<double> h_move = made();
    multiply(of_.H, move, h_move);
    const double slope = product(move, h_theta_) - product(move, of_.C),
                 curvature = product(move, h_move);
    std::vector<double> slopes(d_), curvatures(d_);
    for (int64_t a = 0; a < d_; ++a) {
      multiply(of_.G[a], move, g_step_[a]);
      slopes[a] = product(move, g_theta_[a]);
      curvatures[a] = product(move, g_step_[a]);
    }
    const auto change = [&](double by) {
      double sum = by * (0.5 * by * curvature - slope);
      for (int64_t a = 0; a < d_; ++a)
        sum += barrier(std::max(0.0, squares_[a] + by * (by * curvatures[a] - 2 * slopes[a]))) -
               barrier(squares_[a]);
      return sum;
    };
    double by = 1;
    while (decrement > kFullStep * mu_ && by > kLeastStep &&
           !(change(by) <= -kArmijo * by * decrement))
      by /= 2;
    if (by <= kLeastStep) return false;
    linalg::add(-by, all(move), all(theta_));
    return true;
  }

  const GroupNormSystem& system_;
  const GroupNormProblem& of_;
  double tau_;
  Context& context_;
  int64_t d_, iterations_ = 0;
  double mu_ = 0;
  Matrix<double> theta_, h_theta_;
  std::vector<Matrix<double>> g_theta_, g_step_;
  Matrix<double> factor_, sides_;
  std::vector<double> squares_, t_;  // ||theta||_a^2, t_a
};

namespace {

/// Divides C by its largest entry, which it returns; 1 where all are 0.
double take_size(const Matrix<double>& C) {
  double largest = 0;
  for (int64_t i = 0; i < C.rows() * C.cols(); ++i)
    largest = std::max(largest, std::abs(C.data()[i]));
  if (largest == 0) return 1;
  for (int64_t i = 0; i < C.rows() * C.cols(); ++i) C.data()[i] /= largest;
  return largest;
}

void scale(double factor, GroupNormSolution& solution) {
  for (int64_t i = 0; i < solution.theta.rows() * solution.theta.cols(); ++i)
    solution.theta.data()[i] *= factor;
  for (double& norm : solution.norms) norm *= factor;
}

}  // namespace

GroupNormSystem::GroupNormSystem(GroupNormProblem problem, Context& context)
    : problem_(std::move(problem)),
      size_(take_size(problem_.C)),
      factor_(copy_of(problem_.H.view(), context, kWhat)),
      plain_(copy_of(problem_.C.view(), context, kWhat)) {
  jittered_cholesky(factor_.view(), context);
  linalg::cholesky_solve(factor_.view(), plain_.view());
  const double gain = product(problem_.C, plain_);
  if (gain > 0) scale_ = gain / 2;
  double norms = 0;
  const Matrix<double> of(plain_.rows(), plain_.cols(), context, kWhat);
  for (const Matrix<double>& G : problem_.G) {
    multiply(G, plain_, of);
    norms += std::sqrt(std::max(0.0, product(plain_, of)));
  }
  if (norms > 0) unit_ = gain / norms;
}

GroupNormSolution GroupNormSystem::solve(double tau, double tolerance, Context& context) const {
  require(tau >= 0 && std::isfinite(tau), MERCER_INVALID_ARGUMENT,
          "tau = %g, expected a finite number >= 0", tau);
  // Far beyond the least tau of theta = 0 the barrier's digits would be those of tau.
  constexpr double kMostUnits = 1e6;
  if (tau > 0) {
    const double most = unit_ > 0 ? kMostUnits * unit_ : kInfinity;
    GroupNormSolution found = Descent(*this, std::min(tau / size_, most), context).run(tolerance);
    scale(size_, found);
    return found;
  }
  GroupNormSolution solution{copy_of(plain_.view(), context, kWhat), {}, 0, 0};
  const Matrix<double> of(plain_.rows(), plain_.cols(), context, kWhat);
  for (const Matrix<double>& G : problem_.G) {
    multiply(G, plain_, of);
    solution.norms.push_back(std::sqrt(std::max(0.0, product(plain_, of))));
  }
  scale(size_, solution);
  return solution;
}

}  // namespace mercer::solver
