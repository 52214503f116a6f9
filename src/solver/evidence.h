// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The marginal likelihood of ridge regression on a path of lambdas: with K = ZZ' + n lambda I, an
// amplitude for each output at its maximum and a flat prior of the intercept, whose degree is lost,
//   f = 1/2 log(y'K^{-1}y) + 1/(2 m) log |K|, m = n less the intercept's degree,
// is the negative log marginal likelihood over m but for a constant (Rasmussen and Williams 2006,
// sections 2.7 and 5.4). K's eigenvalues are those of Z'Z or ZZ' plus n lambda.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace mercer::solver {

class EvidenceSums {
 public:
  /// outside: of y'y what no eigenvector explains. shift: n lambda > 0, which `others` more
  /// eigenvalues of K are; below 0 so many of those that are added are none of K's.
  EvidenceSums(std::span<const double> outside, double shift, double others)
      : determinant_(others * std::log(shift)) {
    for (const double rest : outside) quadratic_.push_back(rest / shift);
  }
  /// Eigenvalue s of Z'Z or ZZ', whose c are worth `share` c^2 of y'K^{-1}y.
  void add(double s, const double* c, double shift, double share) {
    determinant_ += std::log(s + shift);
    for (std::size_t o = 0; o < quadratic_.size(); ++o) quadratic_[o] += share * c[o] * c[o];
  }
  /// f of each output; 0 of constant ones, which say nothing of lambda.
  std::vector<double> of(double degrees) const {
    std::vector<double> result;
    for (const double q : quadratic_)
      result.push_back(q > 0 ? 0.5 * std::log(q) + determinant_ / (2 * degrees) : 0.0);
    return result;
  }

 private:
  double determinant_;
  std::vector<double> quadratic_;
};

}  // namespace mercer::solver
