// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of the finishing half of the fused projection: the cotangent of a block of P = XW
// from that of its block of features, and the slopes of features, from which derivatives of every
// order follow.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// From G = dL/dZ to dL/dP for a loss L(Z), in some rows of a block of columns.
template <class T>
struct GradientBlock {
  const T* P;      // rows x columns without gaps
  const T* G;      // part p: rows x columns without gaps at G + p part_step
  const T* scale;  // one number per column
  const T* phase;  // likewise, in turns; unspecified without phases
  T* out;          // rows x columns without gaps; may be G's first part
  int64_t rows;
  int64_t columns;  // a multiple of kPanelColumns<T>
  int64_t part_step;
  const T* row_numbers = nullptr;  // one per row if the epilogue reads them
  double* sums = nullptr;          // if so, sum_j G Z is added to each row's
};

/// Features of one row of a block, and their slopes d Z / d angle, angle = P times
/// EpilogueGradient::angle(). Either may be null.
template <class T>
struct SlopeRow {
  const T* P;      // columns numbers
  const T* scale;  // as above
  const T* phase;
  T* value;  // part p at value + p part_step, numbers as the epilogue lays them out; 64-byte aligned
  T* slope;  // likewise for the slopes
  int64_t part_step;
  int64_t columns;                // a multiple of kPanelColumns<T>
  const T* row_number = nullptr;  // if the epilogue reads one
};

/// Arrays are 64-byte aligned. The bits of an element depend on its own operands alone.
class EpilogueGradient {
 public:
  virtual ~EpilogueGradient() = default;
  /// Parts of G: complex features have two, re and im.
  int gradient_parts() const noexcept { return gradient_parts_; }
  /// 2 pi for P in turns, else 1.
  double angle() const noexcept { return in_turns_ ? 6.2831853071795864769 : 1.0; }
  /// Z'' = second() Z in the angle: -1, 0 or 1.
  double second() const noexcept { return second_; }
  /// The highest derivative for which this holds; functions with steps or kinks only have the
  /// first.
  int64_t most_order() const noexcept { return most_order_; }

  /// Uses the slopes unless overridden by something shorter.
  virtual void pull_back(const GradientBlock<float>& block) const noexcept;
  virtual void pull_back(const GradientBlock<double>& block) const noexcept;
  virtual void slopes(const SlopeRow<float>& row) const noexcept = 0;
  virtual void slopes(const SlopeRow<double>& row) const noexcept = 0;

 protected:
  static constexpr int64_t kAnyOrder = 32;  // the limit of kernel/multi_index.h

  EpilogueGradient(int gradient_parts, bool in_turns, double second, int64_t most_order)
      : gradient_parts_(gradient_parts),
        in_turns_(in_turns),
        second_(second),
        most_order_(most_order) {}

 private:
  int gradient_parts_;
  bool in_turns_;
  double second_;
  int64_t most_order_;
};

/// Gradient of [scale cos(2 pi P) | scale sin(2 pi P)]: 2 pi scale (cos(2 pi P) G_1 - sin(2 pi P)
/// G_0).
const EpilogueGradient& pair_gradient();
/// Gradient of scale cos(2 pi (P + phase)): -2 pi scale sin(2 pi (P + phase)) G_0.
const EpilogueGradient& phase_gradient();
/// Gradient of scale (cos(2 pi P) + i sin(2 pi P)): as for the pair, G_0 = Re G, G_1 = Im G.
const EpilogueGradient& complex_gradient();
/// Gradient of scale P: scale G_0.
const EpilogueGradient& scale_gradient();
/// Gradients of exp_epilogue, tilted_epilogue, hyperbolic_epilogue and grown_pair_epilogue
/// (transform/exponential.h).
const EpilogueGradient& exp_gradient();
const EpilogueGradient& tilted_gradient();
const EpilogueGradient& hyperbolic_gradient();
const EpilogueGradient& grown_pair_gradient();
/// Gradient of scale exp(-P).
const EpilogueGradient& decay_gradient();

}  // namespace mercer::transform
