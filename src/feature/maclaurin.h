// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How many columns each degree of a power series gets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "kernel/kernel.h"
#include "projection/sketch_kind.h"

namespace mercer::feature {

// The mean squared error of sketches of a power series, degree by degree, over the pairs of a sample
// of rows.

/// Each degree of sum_n a_n (x'y)^n has a sketch of its own, of this kind.
struct SeriesSketch {
  const projection::SketchKind& kind;  // independent, or in blocks
  projection::SketchField field;
  int64_t padded;  // columns of a block
};

/// Means over the pairs x_i, x_j, i != j, with the radial factors of the series.
struct SeriesError {
  /// Entry n - 1 is the variance of a_n times one column of the sketch of degree n, and the
  /// covariance of two such columns of one block. A complex column that is laid out as two real
  /// ones counts as one.
  std::vector<double> variance;
  std::vector<double> covariance;
  /// Entry p is the square of what the series loses after degree p.
  std::vector<double> bias;
};

/// Degrees 1 to `most`. X: rows over the lengthscale, at least two. Cost: m^2 d by BLAS, then m^2/2
/// pairs of a few operations for each degree; memory O(m) for each row of a block. Errors:
/// INVALID_ARGUMENT where a mean is not finite, OUT_OF_MEMORY, CANCELLED.
SeriesError series_error(const kernel::PowerSeries& series, const SeriesSketch& sketch,
                         int64_t most, MatrixView<const double> X, Context& context);

/// What decides how columns are shared out. `block`: columns of a block of dependent ones.
/// `sketched`: [n - 1] whether degree n has columns: a_n > 0, and it is not kept exactly.
struct DegreeCosts {
  SeriesError error;
  int64_t block;
  std::vector<bool> sketched;
};

struct DegreeAllotment {
  std::vector<int64_t> columns;  // D_1, ..., D_p
  std::vector<double> variance;  // of each degree
  std::vector<double> bias;      // squared, of a series that ends at each degree
  double error() const noexcept;
};

/// The mean variance of degree n with D columns: V/D of independent ones, of blocks its convex
/// surrogate.
double degree_variance(const DegreeCosts& costs, int64_t n, int64_t D) noexcept;

/// Shares `total` columns out to the sketched degrees among 1 to p, at least one each, with the
/// least sum of variances; of equal gains that of the lowest degree counts.
DegreeAllotment allot_degrees(const DegreeCosts& costs, int64_t p, int64_t total);

/// The p in [least, most] and its allotment that have the least error; of equal errors that of the
/// lowest p. Errors: INVALID_ARGUMENT where no p can have `total` columns.
DegreeAllotment best_allotment(const DegreeCosts& costs, int64_t least, int64_t most,
                               int64_t total);

// Degrees of a power series drawn at random, one for each column (Kar, Karnick, "Random feature
// maps for dot product kernels", AISTATS 2012), and the variance that this adds.

/// A term a_n (x'y)^n, a_n > 0.
struct SeriesTerm {
  int64_t degree;
  double coefficient;
};

/// Degrees n_1, ..., n_D i.i.d. from mu(n) proportional to base^-n over the given terms, at least
/// one; of more than 2^16 columns the others are shared out by mu. With D_n columns for degree n,
/// sum_n a_n D_n/(D mu(n)) (x'y)^n has the mean sum_n a_n (x'y)^n.
class RandomDegrees {
 public:
  /// block: columns of a block of dependent ones, 1 where all are independent; 0: others.
  RandomDegrees(std::vector<SeriesTerm> terms, int64_t D, int64_t block, double base = 2);

  const std::vector<SeriesTerm>& terms() const noexcept { return terms_; }
  /// The numbers D_n of columns of all terms, the same on every machine.
  std::vector<int64_t> draw(uint64_t seed) const;
  double mu(size_t term) const noexcept { return mu_[term]; }
  /// a_n k/(D mu(n)).
  double weight(size_t term, int64_t k) const noexcept {
    return terms_[term].coefficient * static_cast<double>(k) /
           (static_cast<double>(D_) * mu_[term]);
  }

  /// The variance of the estimate at x, y with x'y = s and ||x||^2 ||y||^2 = N; of(term, k) is the
  /// variance of the sketch of (x'y)^n by k columns.
  double variance(double s, double N,
                  const std::function<double(size_t term, int64_t k)>& of) const;

 private:
  double mean_square(size_t term, const std::function<double(size_t, int64_t)>& of) const;
  size_t terms_that_count(double N) const;

  std::vector<SeriesTerm> terms_;
  std::vector<double> mu_;
  int64_t D_;
  std::vector<int64_t> shared_;  // columns of each term that are not drawn
  int64_t drawn_;                // those that are
  std::vector<double> chances_;  // of each term in a draw
  int64_t block_;
  std::vector<double> pairs_;  // mean number of pairs of columns of one block
};

// Columns of several maps side by side, after a constant one, times a function of the row's norm.

/// phi(x) = g(x) [root | psi(x)], g(x) = exp(-radial ||u||^2 / 2), u = x over the lengthscale. The
/// maps psi read rows u where there are several lengthscales, else x.
struct RadialSeries {
  const FeatureMap& whole;
  std::span<const std::unique_ptr<const FeatureMap>> maps;
  double root;  // 0: no such column
  double radial;
  std::span<const double> inverse;  // of the lengthscale: none, one, or one for each input

  bool scales_rows() const noexcept { return inverse.size() > 1; }
  double at(int64_t k) const noexcept {
    return inverse.empty() ? 1 : inverse[scales_rows() ? static_cast<size_t>(k) : 0];
  }
  /// The real numbers of a row before those of psi, and its columns.
  int64_t constants() const noexcept { return root > 0 ? 1 : 0; }
  int64_t constant_reals() const noexcept { return constants() * (whole.is_complex() ? 2 : 1); }

  /// Rows at a time, so that `width` numbers of each stay in the cache.
  template <class T>
  int64_t tile_rows(int64_t n, int64_t width) const noexcept {
    constexpr int64_t kBytes = int64_t{1} << 21, kLeast = 128;
    if (radial == 0 && !scales_rows()) return n;
    return std::min(n, std::max(kLeast, kBytes / (width * int64_t{sizeof(T)})));
  }
  /// Makes room for that many scaled rows.
  template <class T>
  Matrix<T> room(int64_t rows, Context& context) const {
    return {scales_rows() ? rows : 0, whole.inputs(), context, "rows over the lengthscale"};
  }
  /// The rows that the maps read.
  template <class T>
  MatrixView<const T> scaled(MatrixView<const T> X, const Matrix<T>& room) const noexcept {
    if (!scales_rows()) return X;
    for (int64_t i = 0; i < X.rows; ++i)
      for (int64_t k = 0; k < X.cols; ++k)
        room(i, k) = static_cast<T>(static_cast<double>(X(i, k)) * at(k));
    return room.view().block_rows(0, X.rows);
  }
  /// g(x), NaN for a row with a number that is not finite.
  template <class T>
  double factor(const T* x) const noexcept {
    double norm = 0, nothing = 0;
    for (int64_t k = 0; k < whole.inputs(); ++k) {
      const double u = static_cast<double>(x[k]) * at(k);
      norm += u * u;
      nothing += 0 * u;
    }
    return (radial > 0 ? std::exp(-0.5 * radial * norm) : 1) + nothing;
  }
};

/// These are as in Derivatives, which all maps have.
MERCER_DERIVATIVES(RadialSeries)

}  // namespace mercer::feature
