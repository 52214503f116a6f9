// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Preprocessing of rows before they are projected: it rewrites a row, or computes numbers for the
// epilogue (a norm, a stabiliser), or both.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transform/row_derivative.h"

namespace mercer::transform {

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
  class Made final : public RowPrologue {
   public:
    Made(const PrologueShape& own, Body run, std::shared_ptr<const RowDerivative> slope)
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
  return std::make_shared<const Made>(shape, std::move(body), std::move(derivative));
}

/// x -> log(x + shift), computed in double.
std::shared_ptr<const RowPrologue> log_shift_prologue(double shift);
/// x -> x in [0, inf), NaN elsewhere.
std::shared_ptr<const RowPrologue> half_line_prologue();
/// x -> x / ||x||, computed in double; NaN for zeros.
std::shared_ptr<const RowPrologue> unit_norm_prologue();
/// x -> 1[x > threshold], NaN for what is not finite.
std::shared_ptr<const RowPrologue> binary_prologue(double threshold);

}  // namespace mercer::transform
