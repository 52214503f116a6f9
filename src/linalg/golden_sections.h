// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The least value of a function of one number between two others, by golden sections (Kiefer 1953).
#pragma once

namespace mercer::linalg {

/// Where f is least between low and high, within the tolerance; a local minimum of several. f is
/// called once for each section.
template <class F>
double golden_sections(double low, double high, double tolerance, const F& f) {
  constexpr double kKept = 0.6180339887498949;  // of the interval
  double left = high - kKept * (high - low), right = low + kKept * (high - low);
  double at_left = f(left), at_right = f(right);
  while (high - low > tolerance) {
    if (at_left > at_right) {
      low = left, left = right, at_left = at_right;
      at_right = f(right = low + kKept * (high - low));
    } else {
      high = right, right = left, at_right = at_left;
      at_left = f(left = high - kKept * (high - low));
    }
  }
  return (low + high) / 2;
}

}  // namespace mercer::linalg
