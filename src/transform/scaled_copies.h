// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One row of numbers to many copies of it, each multiplied by numbers of its own: derivatives of
// features, which are the features and their slopes times powers of the frequencies.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// Copy b, count numbers from to + b to_step on: from[j] weights[b weight_step + j], from = slope
/// where takes_slope[b], else value. A copy that is taken of none may have a null pointer.
template <class T>
struct ScaledCopies {
  const T* value;
  const T* slope;
  const uint8_t* takes_slope;
  const T* weights;
  int64_t weight_step;
  int64_t count;
  int64_t copies;
  T* to;
  int64_t to_step;
  bool stream;  // around the caches; whoever calls follows with finish_streaming
};

/// No alignment is asked for; whole cache lines of a copy are streamed.
void scaled_copies(const ScaledCopies<float>& call) noexcept;
void scaled_copies(const ScaledCopies<double>& call) noexcept;

}  // namespace mercer::transform
