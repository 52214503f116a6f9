// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of the finishing half of the fused projection: from the cotangent of a block of
// features to that of the block of P = XW that they were made of.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// A loss L(Z): G = dL/dZ of some rows of a block of columns, to dL/dP.
template <class T>
struct GradientBlock {
  const T* P;      // rows x columns without gaps
  const T* G;      // part p: rows x columns without gaps at G + p part_step
  const T* scale;  // one number per column
  const T* phase;  // the same, in turns; anything if the map has no phases
  T* out;          // rows x columns without gaps; may be G's first part
  int64_t rows;
  int64_t columns;  // a multiple of kPanelColumns<T>
  int64_t part_step;
};

/// Arrays are 64-byte aligned. Every element has the bits of its own operands.
class EpilogueGradient {
 public:
  virtual ~EpilogueGradient() = default;
  virtual void pull_back(const GradientBlock<float>& block) const noexcept = 0;
  virtual void pull_back(const GradientBlock<double>& block) const noexcept = 0;
};

/// Of [scale cos(2 pi P) | scale sin(2 pi P)]: 2 pi scale (cos(2 pi P) G_1 - sin(2 pi P) G_0).
const EpilogueGradient& pair_gradient();
/// Of scale cos(2 pi (P + phase)): -2 pi scale sin(2 pi (P + phase)) G_0.
const EpilogueGradient& phase_gradient();

}  // namespace mercer::transform
