// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The first and last steps: moments of rows that are not random, and variances from moments.
#include "moment/sketch_moments.h"

#include <algorithm>

namespace mercer::moment {

PairMoments exact_pair(const PairSums& sums) noexcept {
  const double square = sums.s * sums.s;
  return {sums.s, sums.N, square, square, sums.Q, sums.Q, sums.Q};
}

PairSums augmented(const PairSums& sums, double scale, double constant) noexcept {
  const double a = scale * scale, c = constant * constant;
  const double xx = a * sums.xx + c, yy = a * sums.yy + c;
  return {a * sums.s + c, xx * yy, a * a * sums.Q + c * c, xx, yy};
}

PairMoments as_real(const PairMoments& complex) noexcept {
  const double S = (complex.S + complex.R) / 2;
  const double Q = complex.Q / 2 + (complex.T + complex.U) / 4;
  return {complex.mean, complex.N, S, S, Q, Q, Q};
}

double real_variance(const PairMoments& moments) noexcept {
  // std::max in this order keeps a NaN.
  return std::max((moments.S + moments.R) / 2 - moments.mean * moments.mean, 0.0);
}

double pseudo_variance(const PairMoments& moments) noexcept {
  return moments.R - moments.mean * moments.mean;
}

}  // namespace mercer::moment
