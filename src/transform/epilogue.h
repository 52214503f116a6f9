// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The finishing half of the fused projection, applied to a block of P = XW while it is in cache. An
// epilogue states what it reads and writes, so that the loop over tiles (feature/tiles.h)
// is independent of its function.
//
// Fourier epilogues take P in turns (angle / 2 pi), because frequencies are packed in turns:
// subtracting the nearest integer is then exact for every finite argument, so sine and cosine need
// no long reduction and no slow path, and keep their accuracy over the whole range of floats:
// absolute error at most 2^-23 (float), 2^-52 (double). NaN and Inf give NaN, in their row only.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "transform/row_prologue.h"

namespace mercer::transform {

// Derivatives of the finishing half of the fused projection: the cotangent of a block of P = XW
// from that of its block of features, and the slopes of features, from which derivatives of every
// order follow.

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
  static constexpr int64_t kAnyOrder = 32;  // the limit of kernel/kernel.h

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
/// (transform/exponential_epilogue.h).
const EpilogueGradient& exp_gradient();
const EpilogueGradient& tilted_gradient();
const EpilogueGradient& hyperbolic_gradient();
const EpilogueGradient& grown_pair_gradient();
/// Gradient of scale exp(-P).
const EpilogueGradient& decay_gradient();

/// What an epilogue reads and writes.
struct EpilogueShape {
  int factors = 1;       // projections whose columns j together give feature j
  int row_numbers = 0;   // numbers per row from the row prologue
  int parts = 1;         // features per projected column; F columns of each part in turn
  int reals = 1;         // numbers per feature; complex: 2, interleaved re, im
  int scratch = 0;       // scratch numbers per element of a block
  bool carries = false;  // supports EpilogueBlock::carry
};

template <class T>
struct EpilogueBlock {
  const T* P;            // factor f: rows x columns without gaps at P + f factor_step
  int64_t factor_step;   //
  int64_t rows;          //
  int64_t columns;       // a multiple of kPanelColumns<T>
  const T* scale;        // one number per column
  const T* phase;        // likewise, in turns; unspecified without phases
  const T* row_numbers;  // rows x row_numbers
  T* scratch;            // rows x columns x scratch
  T* out;                // part p of row i: columns x reals at out + p part_step + i ld
  int64_t part_step;
  int64_t ld;
  bool stream;  // may write around the caches: out is 64-byte aligned, part_step and ld multiples
                //  of that, unless there is a carry; the caller then calls finish_streaming
                // Not null: out starts anywhere, and whole cache lines are streamed. A line that a
                // row shares with later columns is left to them; for a line shared with earlier
                // columns, carry holds these at the end of the line at carry + i carry_step + p
                // kLineNumbers, where the row's own last numbers then go. carry_room bounds the
                // shared numbers.
  T* carry;
  int64_t carry_step;
};

/// P, scale, phase and scratch are 64-byte aligned. The bits of a row of the result depend on its
/// row of P, its row numbers and the columns' numbers alone.
class Epilogue {
 public:
  virtual ~Epilogue() = default;
  const EpilogueShape& shape() const noexcept { return shape_; }
  virtual void finish(const EpilogueBlock<float>& block) const noexcept = 0;
  virtual void finish(const EpilogueBlock<double>& block) const noexcept = 0;
  /// Its derivative; null if it has none.
  const EpilogueGradient* gradient() const noexcept { return gradient_; }

 protected:
  explicit Epilogue(const EpilogueShape& shape, const EpilogueGradient* gradient = nullptr)
      : shape_(shape), gradient_(gradient) {}

 private:
  EpilogueShape shape_;
  const EpilogueGradient* gradient_;
};

/// With a carry, rows begin fewer than this many numbers after a cache line: less than one vector.
int64_t carry_room(float) noexcept;
int64_t carry_room(double) noexcept;

/// An epilogue from body(block), noexcept for either precision. The gradient outlives it.
template <class Body>
std::unique_ptr<const Epilogue> make_epilogue(const EpilogueShape& shape, Body body,
                                              const EpilogueGradient* gradient = nullptr) {
  class Closure final : public Epilogue {
   public:
    Closure(const EpilogueShape& own, Body finish, const EpilogueGradient* derivative)
        : Epilogue(own, derivative), finish_(std::move(finish)) {}
    void finish(const EpilogueBlock<float>& block) const noexcept override { finish_(block); }
    void finish(const EpilogueBlock<double>& block) const noexcept override { finish_(block); }

   private:
    Body finish_;
  };
  return std::make_unique<const Closure>(shape, std::move(body), gradient);
}

/// [scale cos(2 pi P) | scale sin(2 pi P)].
std::unique_ptr<const Epilogue> pair_epilogue();
/// scale cos(2 pi (P + phase)).
std::unique_ptr<const Epilogue> phase_epilogue();
/// scale (cos(2 pi P) + i sin(2 pi P)).
std::unique_ptr<const Epilogue> complex_epilogue();
/// scale exp(-P), P >= 0 and not in turns: 1 ulp; NaN gives NaN.
std::unique_ptr<const Epilogue> decay_epilogue();
/// scale P, P not in turns: linear maps.
std::unique_ptr<const Epilogue> scale_epilogue();

// Epilogues of maps that apply one function to every projected number P = XW, not in turns. A P
// that is NaN or infinite gives NaN, whatever the function's value there.

/// scale 1[P > 0] P^order, order 0, 1 or 2 (else INVALID_ARGUMENT). Has a gradient from order 1 on.
std::unique_ptr<const Epilogue> positive_power_epilogue(int64_t order);
/// scale sign(P), one bit: sign(0) = 1.
std::unique_ptr<const Epilogue> sign_epilogue();

// Powers of the modulus of complex projections.

/// scale (P_0^2 + P_1^2)^half of two projections, half >= 1; of one factor P_1 is P_0. NaN or
/// infinite P give features that are not finite.
std::unique_ptr<const Epilogue> modulus_epilogue(int factors, int64_t half);
/// scale min(round((P_0^2 + P_1^2)^half gain), most): recorded by a camera of most + 1 levels. NaN
/// in P gives NaN.
std::unique_ptr<const Epilogue> recorded_modulus_epilogue(int factors, int64_t half, double gain,
                                                          double most);
/// x -> x, NaN for numbers that are not finite, which a camera would show at its highest level.
std::shared_ptr<const RowPrologue> finite_prologue();

}  // namespace mercer::transform
