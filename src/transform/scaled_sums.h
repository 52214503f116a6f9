// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Two rows of numbers to many rows, each a sum of them multiplied by numbers of its own:
// derivatives of features, which are the features and their slopes times powers of the frequencies.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// A row of weights, and whether it multiplies `slope` or `value`.
template <class T>
struct ScaledTerm {
  const T* weights;
  bool takes_slope;
};

/// Copy b, count numbers from to + b to_step on: the sum over first[b] <= t < first[b + 1], t
/// ascending, of from[j] weights[j] factors[t], from and weights those of terms[t]. What no term
/// takes may be a null pointer.
template <class T>
struct ScaledSums {
  const T* value;
  const T* slope;
  const ScaledTerm<T>* terms;
  int64_t offset;    // of every term's weights
  const T* factors;  // of the terms
  const int64_t* first;
  int64_t count;
  int64_t copies;
  T* to;
  int64_t to_step;
  bool stream;  // around the caches; whoever calls follows with finish_streaming
};

/// No alignment is asked for; whole cache lines of a copy are streamed.
void scaled_sums(const ScaledSums<float>& call) noexcept;
void scaled_sums(const ScaledSums<double>& call) noexcept;

}  // namespace mercer::transform
