// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Estimates of one entry of a Gram matrix over many seeds, and how far their mean and variance are
// from what they should be.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "contract/cells.h"

namespace mercer::test {

/// z(x) z(y)^H of the two rows of Z, interleaved if complex.
std::complex<double> inner_product(MatrixView<const double> Z, bool is_complex);

class Sample {
 public:
  /// Estimates of k(x, y) by maps of D features, x and y the rows of X.
  Sample(const Cell& cell, int64_t d, int64_t D);

  /// At least `least` seeds, then more until the variance is known to a share of `sharpness` of
  /// itself, `most` at the most. False: that was not enough.
  bool draw(int64_t least, double sharpness, int64_t most);

  /// "" if mean and variance are those that the cell's law permits; z: the threshold of z-scores.
  std::string fault(double z) const;

 private:
  void extend(int64_t count);
  std::string fixed_fault() const;
  /// Variances so small against k^2 are rounding: the estimate is then exact.
  bool is_exact() const;

  const Cell& cell_;
  const LawRow& law_;
  Matrix<double> X_;
  int64_t D_;
  double k_;
  bool is_complex_;
  double variance_ = 0, pseudo_ = 0, bias_ = 0;
  double largest_bias_;  // that the law permits, or the map's own bound
  std::vector<double> real_;
  std::vector<double> deviation_;  // (real - k)^2
  std::vector<double> squared_;    // (real - k)^2 - imaginary^2
};

}  // namespace mercer::test
