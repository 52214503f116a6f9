// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One column of a sketch of degree n has E |z z'|^2 = M^n, M linear in N = ||x||^2 ||y||^2, s^2 =
// (x'y)^2 and Q = sum_k x_k^2 y_k^2, so that its variance is M^n - s^{2n}; two columns of one block
// of d have the covariance (s^2 - (M - s^2)/(d - 1))^n - s^{2n} (Wacker, Kanagawa, Filippone 2022,
// "Improved random features for dot product kernels", section 4 and appendix C). Of [Re | Im] it is
// the mean of both with M and with that of E (z z')^2. What is lost after degree p is added up from
// the far end, so that nothing cancels. s and Q are products of matrices, of some rows at a time.
#include "moment/series_error.h"

#include <algorithm>
#include <cmath>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "linalg/blas.h"
#include "moment/sketch_moments.h"

namespace mercer::moment {
namespace {

using projection::SketchField;

constexpr const char* kPairs = "the pairs of a sample of rows";
constexpr int64_t kPairRows = 128;   // of the products at a time
constexpr int64_t kPairStrip = 128;  // pairs whose powers stay in the first-level cache
// Terms smaller than this share of the largest are rounding.
constexpr double kNoTerm = 1e-20;
constexpr int64_t kMostTerms = 4096;

/// E |z z'|^2 of a column of degree 1 is N n + s^2 s + Q q.
struct ColumnSquare {
  double n, s, q;
  double at(double N, double s2, double Q) const noexcept { return n * N + s * s2 + q * Q; }
};

/// The moments are linear, so three pairs tell them.
ColumnSquare column_square(const SeriesSketch& sketch, double PairMoments::*moment) {
  const auto of = [&](const PairSums& sums) {
    const PairMoments factor = exact_pair(sums);
    return sketch.kind.moments(sketch.field != SketchField::real, 1, sketch.padded, {&factor, 1}).*
           moment;
  };
  return {of({0, 1, 0}), of({1, 0, 0}), of({0, 0, 1})};
}

/// a_0, ..., a_L, of which a_L R^L is the last that counts where |x'y| <= R.
std::vector<double> coefficients_within(const kernel::PowerSeries& series, double R, int64_t most) {
  const int64_t last = std::min(series.degree().value_or(kMostTerms), kMostTerms);
  std::vector<double> a{series.coefficient(0)};
  double power = 1, largest = a[0];
  for (int64_t n = 1; n <= last; ++n) {
    a.push_back(series.coefficient(n));
    power *= R;
    const double term = a.back() * power;
    largest = std::max(largest, term);
    if (n >= most && !series.degree() && term <= kNoTerm * largest) break;
  }
  a.resize(std::max<size_t>(a.size(), static_cast<size_t>(most) + 1), 0.0);
  return a;
}

/// Adds up one row of pairs.
class PairRow {
 public:
  PairRow(const SeriesSketch& sketch, std::vector<double> coefficients, int64_t most)
      : a_(std::move(coefficients)),
        most_(most),
        others_(sketch.kind.blocks && sketch.padded > 1 ? static_cast<double>(sketch.padded - 1)
                                                        : kInfinity),
        in_blocks_(sketch.kind.blocks) {
    squares_.push_back(column_square(sketch, &PairMoments::S));
    if (sketch.field == SketchField::complex_to_real)
      squares_.push_back(column_square(sketch, &PairMoments::R));
  }

  /// Numbers of a row's sums: variances, covariances, then biases.
  int64_t sums() const noexcept { return 3 * most_ + 1; }
  int64_t scratch() const noexcept { return (most_ + 7) * kPairStrip; }

  /// Pairs of a row of squared norm xx and radial factor g with `count` others: s, Q, yy, h theirs.
  void add(double xx, double g, int64_t count, const double* s, const double* Q, const double* yy,
           const double* h, double* scratch, double* sums) const noexcept {
    for (int64_t j = 0; j < count; j += kPairStrip) {
      const int64_t n = std::min(kPairStrip, count - j);
      double* const weight = scratch;
      for (int64_t k = 0; k < n; ++k) weight[k] = (g * h[j + k]) * (g * h[j + k]);
      for (const ColumnSquare& square : squares_)
        add_variances(square, {n, xx, s + j, Q + j, yy + j}, scratch, sums);
      add_biases(n, s + j, scratch, sums + 2 * most_);
    }
  }

 private:
  struct Strip {
    int64_t n;
    double xx;
    const double *s, *Q, *yy;
  };

  void add_variances(const ColumnSquare& square, const Strip& strip, double* scratch,
                     double* sums) const noexcept {
    const double* const weight = scratch;
    double *const M = scratch + kPairStrip, *const C = M + kPairStrip, *const s2 = C + kPairStrip;
    double *const m = s2 + kPairStrip, *const c = m + kPairStrip, *const r = c + kPairStrip;
    for (int64_t k = 0; k < strip.n; ++k) {
      s2[k] = strip.s[k] * strip.s[k];
      M[k] = square.at(strip.xx * strip.yy[k], s2[k], strip.Q[k]);
      C[k] = s2[k] - (M[k] - s2[k]) / others_;
      m[k] = c[k] = r[k] = weight[k];
    }
    const double share = 1 / static_cast<double>(squares_.size());
    for (int64_t degree = 1; degree <= most_; ++degree) {
      double V = 0, Cov = 0;
      for (int64_t k = 0; k < strip.n; ++k) {
        m[k] *= M[k];
        c[k] *= C[k];
        r[k] *= s2[k];
        V += m[k] - r[k];
        Cov += c[k] - r[k];
      }
      const double a2 = share * a_[degree] * a_[degree];
      if (a2 == 0) continue;
      sums[degree - 1] += a2 * V;
      if (in_blocks_) sums[most_ + degree - 1] += a2 * Cov;
    }
  }

  /// By Horner's rule: tail p holds sum_{n > p} a_n s^{n - p - 1}.
  void add_biases(int64_t n, const double* s, double* scratch, double* sums) const noexcept {
    const double* const weight = scratch;
    double *const tail = scratch + kPairStrip, *const power = tail + (most_ + 1) * kPairStrip;
    double* const far = tail + most_ * kPairStrip;
    std::fill_n(far, n, 0.0);
    for (int64_t degree = std::ssize(a_) - 1; degree > most_; --degree)
      for (int64_t k = 0; k < n; ++k) far[k] = a_[degree] + s[k] * far[k];
    for (int64_t degree = most_; degree > 0; --degree) {
      const double* const above = tail + degree * kPairStrip;
      double* const below = tail + (degree - 1) * kPairStrip;
      for (int64_t k = 0; k < n; ++k) below[k] = a_[degree] + s[k] * above[k];
    }
    std::copy_n(s, n, power);
    for (int64_t p = 0; p <= most_; ++p) {
      double sum = 0;
      for (int64_t k = 0; k < n; ++k) {
        const double lost = power[k] * tail[p * kPairStrip + k];
        sum += weight[k] * lost * lost;
        power[k] *= s[k];
      }
      sums[p] += sum;
    }
  }

  std::vector<double> a_;
  int64_t most_;
  double others_;  // columns of a block beside one
  bool in_blocks_;
  std::vector<ColumnSquare> squares_;
};

/// Numbers of each row.
struct RowNumbers {
  Matrix<double> squares;       // x_k^2
  std::vector<double> norms;    // ||x||^2
  std::vector<double> radials;  // exp(-radial ||x||^2 / 2)
};

RowNumbers numbers_of(MatrixView<const double> X, double radial, Context& context) {
  RowNumbers rows{Matrix<double>(X.rows, X.cols, context, kPairs), {}, {}};
  for (int64_t i = 0; i < X.rows; ++i) {
    double norm = 0;
    for (int64_t k = 0; k < X.cols; ++k) {
      rows.squares(i, k) = X(i, k) * X(i, k);
      norm += rows.squares(i, k);
    }
    rows.norms.push_back(norm);
    rows.radials.push_back(std::exp(-0.5 * radial * norm));
  }
  return rows;
}

SeriesError mean_of(const std::vector<double>& sums, int64_t most, int64_t m) {
  SeriesError error;
  const double pairs = 0.5 * static_cast<double>(m) * static_cast<double>(m - 1);
  for (size_t k = 0; k < sums.size(); ++k) {
    const auto n = static_cast<int64_t>(k);
    const double mean = sums[k] / pairs;
    require(std::isfinite(mean), MERCER_INVALID_ARGUMENT,
            "the mean squared error of degree %ld over pairs of rows is %g, expected a finite one: "
            "centred rows, a longer lengthscale, or a smaller max_degree",
            n < 2 * most ? n % most + 1 : n - 2 * most, mean);
    (n < most ? error.variance : n < 2 * most ? error.covariance : error.bias).push_back(mean);
  }
  return error;
}

}  // namespace

SeriesError series_error(const kernel::PowerSeries& series, const SeriesSketch& sketch,
                         int64_t most, MatrixView<const double> X, Context& context) {
  const int64_t m = X.rows, height = std::min(kPairRows, m);
  const RowNumbers rows = numbers_of(X, series.radial(), context);
  const double R = *std::ranges::max_element(rows.norms);
  const PairRow pairs(sketch, coefficients_within(series, R, most), most);
  const Matrix<double> S(height, m, context, kPairs), Q(height, m, context, kPairs),
      sums(height, pairs.sums(), context, kPairs),
      scratch(worker_count(context, height), pairs.scratch(), context, kPairs);
  std::vector<double> total(static_cast<size_t>(pairs.sums()), 0.0);
  Stage stage(context, m);
  for (int64_t i0 = 0; i0 < m; i0 += height) {
    const int64_t count = std::min(height, m - i0), width = m - i0;
    const auto product = [&](MatrixView<const double> A, MatrixView<double> out) {
      linalg::multiply(1, linalg::kPlain, A.block_rows(i0, i0 + count), linalg::kTransposed,
                       A.block_rows(i0, m), 0, out);
    };
    const MatrixView<double> s = S.view().block_rows(0, count).block_cols(0, width),
                             q = Q.view().block_rows(0, count).block_cols(0, width);
    product(X, s);
    product(rows.squares.view(), q);
    sums.fill(0);
    parallel_for(context, count, [&](int64_t i, int worker) noexcept {
      const int64_t j = i0 + i + 1;
      pairs.add(rows.norms[i0 + i], rows.radials[i0 + i], m - j, s.row(i) + i + 1, q.row(i) + i + 1,
                rows.norms.data() + j, rows.radials.data() + j, scratch.view().row(worker),
                sums.view().row(i));
    });
    for (int64_t i = 0; i < count; ++i)
      for (size_t k = 0; k < total.size(); ++k) total[k] += sums(i, static_cast<int64_t>(k));
  }
  return mean_of(total, most, m);
}

}  // namespace mercer::moment
