// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Preprocessing of rows before they are projected: it rewrites a row, or computes numbers for the
// epilogue (a norm, a stabiliser), or both.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace mercer::transform {

// Derivatives of row prologues, for features that are products over the inputs of row numbers times
// one function of a projection:
//  F(x) = g(x) f(W't(x)), g(x) = prod_k g_k(x_k), t(x)_k = t_k(x_k).

/// With omega = w_k, in input k alone,
///   d^p F / dx_k^p = g sum_{q = least(p)}^p c(k, p, q, x_k) omega^q f^(q).
/// Immutable.
class RowDerivative {
 public:
  virtual ~RowDerivative() = default;
  virtual int64_t least(int64_t p) const noexcept = 0;
  /// 0 <= least(p) <= q <= p; c(k, 0, 0, x) = 1.
  virtual double coefficient(int64_t k, int64_t p, int64_t q, double x) const noexcept = 0;
};

/// g = 1, t(x) = x.
std::shared_ptr<const RowDerivative> plain_derivative();
/// g = 1, t_k(x) = log(x + shift_k), one shift or one per input: c = s(p, q) (x + shift_k)^{-p}, s
/// the signed Stirling numbers of the first kind.
std::shared_ptr<const RowDerivative> log_shift_derivative(std::vector<double> shift);
/// t(x) = x, g_k(x) = exp(-a_k x^2 / 2), one a or one per input:
///   c = C(p, q) G_{p-q}(x), G_0 = 1, G_1 = -a x, G_{n+1} = -a (x G_n + n G_{n-1}).
std::shared_ptr<const RowDerivative> radial_derivative(std::vector<double> a);

struct PrologueShape {
  bool rewrites = false;       // the projection reads other rows than the caller's
  int row_numbers = 0;         // numbers per row for the epilogue
  bool keeps_zeros = false;    // zeros stay 0 and contribute nothing, in any column: sparse
                               // rows are read by their stored non-zeros
  bool needs_entries = false;  // a row of zeros has no features: they are NaN
};

/// Immutable. The result of a row depends on that row alone.
class RowPrologue {
 public:
  virtual ~RowPrologue() = default;
  const PrologueShape& shape() const noexcept { return shape_; }
  /// Processes one row: out[k] from x[k], k < count (null unless rewrites), and its numbers. count
  /// is d, or less with keeps_zeros, if zeros are omitted.
  virtual void run(const float* x, int64_t count, float* out, float* numbers) const noexcept = 0;
  virtual void run(const double* x, int64_t count, double* out, double* numbers) const noexcept = 0;
  /// The derivative, where the row's numbers are factors of the features; null if it has none.
  const RowDerivative* derivative() const noexcept { return derivative_.get(); }

 protected:
  RowPrologue(const PrologueShape& shape, std::shared_ptr<const RowDerivative> derivative)
      : shape_(shape), derivative_(std::move(derivative)) {}

 private:
  PrologueShape shape_;
  std::shared_ptr<const RowDerivative> derivative_;
};

/// A prologue from body(x, count, out, numbers), noexcept for either precision.
template <class Body>
std::shared_ptr<const RowPrologue> make_prologue(
    const PrologueShape& shape, Body body,
    std::shared_ptr<const RowDerivative> derivative = nullptr) {
  class Closure final : public RowPrologue {
   public:
    Closure(const PrologueShape& own, Body run, std::shared_ptr<const RowDerivative> slope)
        : RowPrologue(own, std::move(slope)), run_(std::move(run)) {}
    void run(const float* x, int64_t count, float* out, float* numbers) const noexcept override {
      run_(x, count, out, numbers);
    }
    void run(const double* x, int64_t count, double* out, double* numbers) const noexcept override {
      run_(x, count, out, numbers);
    }

   private:
    Body run_;
  };
  return std::make_shared<const Closure>(shape, std::move(body), std::move(derivative));
}

/// x_k -> log(x_k + shift_k), one shift or one per input, computed in double.
std::shared_ptr<const RowPrologue> log_shift_prologue(const std::vector<double>& shift);
/// x -> x in [0, inf), NaN elsewhere.
std::shared_ptr<const RowPrologue> half_line_prologue();
/// x -> x / ||x||, computed in double; NaN for zeros.
std::shared_ptr<const RowPrologue> unit_norm_prologue();
/// x -> 1[x > threshold], NaN for what is not finite.
std::shared_ptr<const RowPrologue> binary_prologue(double threshold);

/// 1 / ||x||, squares neither over- nor underflowing; NaN for zeros, and where x has one.
template <class T>
double inverse_norm(int64_t count, const T* x) noexcept {
  double largest = 0, sum = 0;
  for (int64_t k = 0; k < count; ++k)
    largest = std::max(largest, std::fabs(static_cast<double>(x[k])));
  for (int64_t k = 0; k < count; ++k) {
    const double share = static_cast<double>(x[k]) / largest;
    sum += share * share;
  }
  return 1 / (largest * std::sqrt(sum));
}

}  // namespace mercer::transform
