// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The log marginal likelihood of ridge regression and its derivatives in the features, by which a
// map's hyper-parameters are learnt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"

namespace mercer::solver {

/// Ridge is the Gaussian process y_o = intercept + N(0, sigma_o^2 K), K = ZZ' + n lambda I, with an
/// amplitude sigma_o for each output. With a flat prior on the intercept (Z and Y are then centred,
/// and n - 1 degrees of freedom remain) and every sigma_o at its maximum,
///   f = mean over o of 1/2 log(y_o' K^{-1} y_o) + 1/(2 (n - 1)) log |K|
/// is the negative log marginal likelihood divided by n - 1, up to a constant (Rasmussen, Williams
/// 2006, section 5.4). Constant outputs are ignored. A row of weight w_i has noise of variance
/// sigma_o^2 lambda sum(w)/w_i: Z and y are centred by the weighted means and replaced by W^{1/2}Z
/// and W^{1/2}y. Only ratios of weights count.
/// If the noise variance s^2 of a row of mean weight is given, sigma_o^2 = s^2/(n lambda) and
///   f = mean over o of y_o' K^{-1} y_o/(2 (n - 1) sigma_o^2) + log |K|/(2 (n - 1))
///       + 1/2 log(2 pi sigma_o^2).
class ProfiledLikelihood {
 public:
  struct Options {
    bool center = true;  // false: no intercept, and n degrees of freedom
    double noise = 0;    // s^2; 0: unknown
  };
  /// Y: n x outputs, n >= 2; a centred copy is kept. D: of at(), or 0 for at_gram(). weights: n
  /// numbers > 0, or none. Memory: n D + r^2 numbers beside Y, charged; n^2 for at_gram().
  ProfiledLikelihood(MatrixView<const double> Y, int64_t D, Context& context,
                     std::span<const double> weights, const Options& options);
  ProfiledLikelihood(MatrixView<const double> Y, int64_t D, Context& context,
                     std::span<const double> weights = {})
      : ProfiledLikelihood(Y, D, context, weights, Options{}) {}

  /// The outputs that vary; with none there is no likelihood.
  int64_t outputs() const noexcept { return Y_.cols(); }
  int64_t rows() const noexcept { return Y_.rows(); }
  /// Degrees of freedom per output.
  double freedom() const noexcept {
    return static_cast<double>(options_.center ? rows() - 1 : rows());
  }

  struct Point {
    double value;             // f; NaN where K is not numerically positive definite
    double slope;             // df / d log lambda
    MatrixView<double> by_Z;  // df/dZ, n x D, or the lower triangle of df/dK, until the next call
  };
  /// At features Z (n x D, centred and weighed in place) and lambda > 0, by A = Z'Z + n lambda I,
  /// or of fewer rows than features K: O(n D r + r^3), r the lesser of n and D.
  Point at(MatrixView<double> Z, double lambda);
  /// At the Gram matrix ZZ' of a kernel, whose lower triangle is read: O(n^3).
  Point at_gram(MatrixView<const double> gram, double lambda);

 private:
  struct Share {
    double value, slope, by_quadratic;  // slope: in log lambda, with K fixed
  };
  Share share_of(double quadratic, int64_t o, double shift) const;
  void center(MatrixView<double> Z) const;
  void take_varying(MatrixView<const double> Y, Context& context);
  bool is_dual() const noexcept { return A_.rows() == rows(); }  // A is K
  std::vector<double> weight_roots() const;
  void put_centered(MatrixView<const double> gram);
  double factor(double noise);
  std::vector<double> residuals(MatrixView<const double> Z, double noise);
  double trace_of_inverse();
  void finish(const std::vector<double>& quadratic, double noise, Point& point);
  Point at_dual(double noise);

  Options options_;
  std::vector<double> weights_;  // sum n; empty: 1 each
  std::vector<double> scales_;   // factors of Y
  Matrix<double> Y_;             // scaled to variance 1, so that quadratic forms do not overflow
  Matrix<double> residuals_;     // y - Zw of each output
  Matrix<double> w_;             // w = Z'K^{-1}y
  Matrix<double> scaled_;        // w divided by the quadratic forms
  Matrix<double> A_;
  Matrix<double> by_Z_;
};

}  // namespace mercer::solver
