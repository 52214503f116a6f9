// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The finishing half of the fused projection, applied to a block of P = XW while it is in cache. An
// epilogue states what it reads and writes, so that the loop over tiles (feature/projected_tiles.h)
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

#include "transform/epilogue_gradient.h"

namespace mercer::transform {

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
  class Made final : public Epilogue {
   public:
    Made(const EpilogueShape& own, Body finish, const EpilogueGradient* derivative)
        : Epilogue(own, derivative), finish_(std::move(finish)) {}
    void finish(const EpilogueBlock<float>& block) const noexcept override { finish_(block); }
    void finish(const EpilogueBlock<double>& block) const noexcept override { finish_(block); }

   private:
    Body finish_;
  };
  return std::make_unique<const Made>(shape, std::move(body), gradient);
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

}  // namespace mercer::transform
