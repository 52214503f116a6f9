// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The marginal likelihood of ridge regression on a path of lambdas. With K = ZZ' + n lambda I, the
// best amplitude for each output and a flat prior on the intercept, which takes one degree,
//   f = 1/2 log(y'K^{-1}y) + 1/(2 m) log |K|, m = n - 1 (n without an intercept),
// is the negative log marginal likelihood divided by m, up to a constant (Rasmussen and Williams
// 2006, sections 2.7 and 5.4). K's eigenvalues are those of Z'Z or ZZ' plus n lambda.
// Outputs that are joined have one amplitude: y, all their targets less N in all degrees, is
// N(0, sigma^2 K), in nats N/2 log(y'K^{-1}y / N) + 1/2 log |K|. Of a metric Gamma = Q diag(g) Q'
// column j of YQ has K_j = g_j ZZ' + n lambda I.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

namespace mercer::solver {

class EvidenceSums {
 public:
  /// outside: the part of y'y that no eigenvector explains. shift: n lambda > 0. others: how many
  /// more eigenvalues K has than are added, all equal to shift; negative if K has fewer.
  EvidenceSums(std::span<const double> outside, double shift, double others)
      : determinant_(others * std::log(shift)) {
    for (const double rest : outside) quadratic_.push_back(rest / shift);
  }
  /// Adds eigenvalue s of Z'Z or ZZ', which contributes share c_o^2 to y'K^{-1}y of output o.
  void add(double s, const double* c, double shift, double share) {
    determinant_ += std::log(s + shift);
    for (std::size_t o = 0; o < quadratic_.size(); ++o) quadratic_[o] += share * c[o] * c[o];
  }
  /// f of each output; 0 for a constant output, which says nothing about lambda. noise: s^2 if it
  /// is known, by which the amplitude is s^2/shift instead of the best; else 0.
  std::vector<double> of(double degrees, double shift, double noise) const {
    std::vector<double> result;
    const double amplitude = noise / shift, determinant = determinant_ / (2 * degrees);
    for (const double q : quadratic_) {
      if (noise > 0) {
        result.push_back(q / (2 * degrees * amplitude) + determinant +
                         0.5 * std::log(2 * std::numbers::pi * amplitude));
      } else {
        result.push_back(q > 0 ? 0.5 * std::log(q) + determinant : 0.0);
      }
    }
    return result;
  }

 private:
  double determinant_;
  std::vector<double> quadratic_;
};

/// Of joined outputs, in nats.
class JointEvidence {
 public:
  /// outside: the part of y'y that no eigenvector explains; others: as above.
  JointEvidence(double outside, double shift, double others)
      : shift_(shift), determinant_(others * std::log(shift)), quadratic_(outside / shift) {}
  /// Adds K's eigenvalue g s + shift and its part of y'K^{-1}y.
  void add(double s, double g, double quadratic) {
    determinant_ += std::log(g * s + shift_);
    quadratic_ += quadratic;
  }
  /// 0 of constant outputs.
  double of(double degrees) const {
    return quadratic_ > 0 ? (degrees * std::log(quadratic_ / degrees) + determinant_) / 2 : 0;
  }

 private:
  double shift_, determinant_, quadratic_;
};

}  // namespace mercer::solver
