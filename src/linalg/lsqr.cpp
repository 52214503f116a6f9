// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Paige, Saunders 1982, algorithm LSQR of section 4 with the estimates of section 5: Golub and
// Kahan's bidiagonalisation beta u = A v - alpha u, alpha v = A'u - beta v, and a QR factorisation
// of it by rotations, the damping rotated away first.
#include "linalg/lsqr.h"

#include <algorithm>
#include <cmath>

#include "base/aligned.h"
#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/converged_part.h"

namespace mercer::linalg {
namespace {

using Long = long long;

constexpr const char* kWhat = "LSQR";
constexpr int64_t kUnits = 1000;  // of progress

double norm(std::span<const double> x) { return std::sqrt(dot(x, x)); }

MatrixView<double> column(std::span<double> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1};
}

class Iteration {
 public:
  Iteration(const LinearOperator& A, std::span<const double> b, const LsqrOptions& options,
            Context& context, std::span<double> x)
      : A_(A),
        options_(options),
        context_(context),
        x_(x),
        rows_(checked_multiply(2, A.rows(), kWhat), context, kWhat),
        cols_(checked_multiply(3, A.cols(), kWhat), context, kWhat) {
    std::ranges::copy(b, u_.begin());
    std::ranges::fill(x_, 0.0);
  }

  LsqrResult run() {
    size_of_b_ = phibar_ = normalize(u_);
    if (phibar_ > 0) {
      A_.apply_transpose(column(u_), context_, column(v_));
      alpha_ = normalize(v_);
    }
    result_.residual = phibar_;
    result_.normal_residual = normal_at_start_ = alpha_ * phibar_;
    result_.end = alpha_ * phibar_ == 0 ? LsqrEnd::zero : iterate();
    return result_;
  }

 private:
  LsqrEnd iterate() {
    std::ranges::copy(v_, w_.begin());
    rhobar_ = alpha_;
    while (result_.iterations < options_.most_iterations) {
      stage_.reach(part_done());
      context_.checkpoint();
      ++result_.iterations;
      bidiagonalize();
      rotate();
      if (result_.residual <= options_.tolerance * (result_.norm * result_.size + size_of_b_))
        return LsqrEnd::consistent;
      if (result_.normal_residual <= options_.tolerance * result_.norm * result_.residual)
        return LsqrEnd::least_squares;
      if (result_.normal_residual <= options_.normal_tolerance * normal_at_start_)
        return LsqrEnd::least_squares;
      if (result_.condition >= options_.largest_condition) return LsqrEnd::condition;
    }
    return LsqrEnd::iterations;
  }

  double part_done() const {
    const double consistent =
        converged_part(result_.residual, size_of_b_,
                       options_.tolerance * (result_.norm * result_.size + size_of_b_));
    const double normal = converged_part(result_.normal_residual, normal_at_start_,
                                         options_.normal_tolerance * normal_at_start_);
    return std::max({spent_part(static_cast<double>(result_.iterations),
                                static_cast<double>(options_.most_iterations)),
                     options_.tolerance > 0 ? consistent : 0,
                     options_.normal_tolerance > 0 ? normal : 0});
  }

  void bidiagonalize() {
    A_.apply(column(v_), context_, column(scratch_u_));
    for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = scratch_u_[i] - alpha_ * u_[i];
    beta_ = normalize(u_);
    squares_ += alpha_ * alpha_ + beta_ * beta_ + options_.damping * options_.damping;
    A_.apply_transpose(column(u_), context_, column(scratch_v_));
    for (std::size_t i = 0; i < v_.size(); ++i) v_[i] = scratch_v_[i] - beta_ * v_[i];
    alpha_ = normalize(v_);
  }

  /// The QR factorisation, x and w take their step, and the estimates.
  void rotate() {
    const double damped = std::hypot(rhobar_, options_.damping);
    const double psi = options_.damping / damped * phibar_;
    phibar_ *= rhobar_ / damped;
    const double rho = std::hypot(damped, beta_), c = damped / rho, s = beta_ / rho;
    const double theta = s * alpha_, phi = c * phibar_;
    rhobar_ = -c * alpha_;
    phibar_ *= s;
    lost_ += psi * psi;
    inverses_ += dot(w_, w_) / (rho * rho);
    add(phi / rho, w_, x_);
    for (std::size_t i = 0; i < w_.size(); ++i) w_[i] = v_[i] - theta / rho * w_[i];
    result_.residual = std::hypot(phibar_, std::sqrt(lost_));
    result_.normal_residual = alpha_ * std::abs(s * phi);
    result_.norm = std::sqrt(squares_);
    result_.condition = result_.norm * std::sqrt(inverses_);
    result_.size = norm(x_);
  }

  /// x becomes x / |x|, unless that is 0; |x|.
  static double normalize(std::span<double> x) {
    const double size = norm(x);
    require(std::isfinite(size), MERCER_INVALID_ARGUMENT,
            "a vector of LSQR has the norm %g, expected finite b and products with A", size);
    if (size > 0)
      for (double& value : x) value /= size;
    return size;
  }

  static std::span<double> part(const AlignedBuffer<double>& of, int64_t size, int64_t i) {
    return {of.data() + i * size, static_cast<std::size_t>(size)};
  }

  const LinearOperator& A_;
  const LsqrOptions& options_;
  Context& context_;
  std::span<double> x_;
  AlignedBuffer<double> rows_, cols_;
  std::span<double> u_ = part(rows_, A_.rows(), 0), scratch_u_ = part(rows_, A_.rows(), 1),
                    v_ = part(cols_, A_.cols(), 0), w_ = part(cols_, A_.cols(), 1),
                    scratch_v_ = part(cols_, A_.cols(), 2);
  double alpha_ = 0, beta_ = 0, rhobar_ = 0, phibar_ = 0, size_of_b_ = 0;
  double squares_ = 0, inverses_ = 0, lost_ = 0, normal_at_start_ = 0;
  LsqrResult result_;
  Stage stage_{context_, kUnits};
};

}  // namespace

LsqrResult lsqr(const LinearOperator& A, std::span<const double> b, const LsqrOptions& options,
                Context& context, std::span<double> x) {
  require(std::isfinite(options.damping) && options.damping >= 0, MERCER_INVALID_ARGUMENT,
          "damping = %g, expected a finite number >= 0", options.damping);
  for (const double tolerance : {options.tolerance, options.normal_tolerance})
    require(tolerance >= 0, MERCER_INVALID_ARGUMENT, "tolerance = %g, expected a number >= 0",
            tolerance);
  require(options.most_iterations >= 0, MERCER_INVALID_ARGUMENT,
          "most_iterations = %lld, expected at least 0",
          static_cast<Long>(options.most_iterations));
  require(options.largest_condition > 1, MERCER_INVALID_ARGUMENT,
          "largest_condition = %g, expected a number > 1", options.largest_condition);
  require(static_cast<int64_t>(b.size()) == A.rows() && static_cast<int64_t>(x.size()) == A.cols(),
          MERCER_DIMENSION_MISMATCH, "b has %zu entries and x %zu, expected A's %lld and %lld",
          b.size(), x.size(), static_cast<Long>(A.rows()), static_cast<Long>(A.cols()));
  return Iteration(A, b, options, context, x).run();
}

void require_converged(const LsqrResult& result, const LsqrOptions& options) {
  require(result.converged(), MERCER_NOT_CONVERGED,
          "|A'r| = %g, |r| = %g, |A| = %g, condition number %g after %lld iterations of LSQR, "
          "expected |A'r| <= %g |A| |r|",
          result.normal_residual, result.residual, result.norm, result.condition,
          static_cast<Long>(result.iterations), options.tolerance);
}

}  // namespace mercer::linalg
