// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Many rows from two, each a weighted sum of them: derivatives of features are features and slopes
// times powers of the frequencies.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// A row of weights, and whether it multiplies `slope` or `value`.
template <class T>
struct ScaledTerm {
  const T* weights;
  bool takes_slope;
};

/// Copy b, count numbers from to + b to_step on, is the sum over first[b] <= t < first[b + 1], t
/// ascending, of from[j] weights[j] factors[t], with from and weights of terms[t]. Inputs that no
/// term uses may be null.
template <class T>
struct ScaledSums {
  const T* value;
  const T* slope;
  const ScaledTerm<T>* terms;
  int64_t offset;    // added to every term's weights
  const T* factors;  // one per term
  const int64_t* first;
  int64_t count;
  int64_t copies;
  T* to;
  int64_t to_step;
  bool stream;  // around the caches; the caller then calls finish_streaming
};

/// Any alignment; whole cache lines of a copy are streamed.
void scaled_sums(const ScaledSums<float>& call) noexcept;
void scaled_sums(const ScaledSums<double>& call) noexcept;

}  // namespace mercer::transform
