// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Algorithms 4 and 5 of Wacker, Kanagawa, Filippone 2022, "Improved random features for dot product
// kernels": each column goes to the degree whose variance it lowers most, which is optimal because
// variances are convex in the number of columns; that of blocks of d dependent columns is not, and
// gives way to the surrogate of appendix D.1.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "feature/feature_map.h"
#include "feature/maclaurin.h"
#include "feature/sketch_tree.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::feature {
namespace {

// One column of a sketch of degree n has E |z z'|^2 = M^n, M linear in N = ||x||^2 ||y||^2, s^2 =
// (x'y)^2 and Q = sum_k x_k^2 y_k^2, so that its variance is M^n - s^{2n}; two columns of one block
// of d have the covariance (s^2 - (M - s^2)/(d - 1))^n - s^{2n} (Wacker, Kanagawa, Filippone 2022,
// "Improved random features for dot product kernels", section 4 and appendix C). Of [Re | Im] it is
// the mean of both with M and with that of E (z z')^2. What is lost after degree p is added up from
// the far end, so that nothing cancels. s and Q are products of matrices, of some rows at a time.
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

/// The moments are linear, so that three pairs determine them.
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

/// Numbers kept for each row.
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

int64_t count_sketched(const DegreeCosts& costs, int64_t p) {
  return std::count(costs.sketched.begin(), costs.sketched.begin() + p, true);
}

// The estimate is sum_n w_n k_n S_n, w_n = a_n/(D mu(n)), where S_n is the sketch of (x'y)^n by k_n
// columns, V_n(k) its variance. Of k_n columns b_n are shared out and the others drawn, R in all,
// with the chances q_n = (D mu(n) - b_n)/R, so that k_n has the mean D mu(n), and the variance is
// (ours)
//   R [sum_n q_n (w_n s^n)^2 - (sum_n q_n w_n s^n)^2] + sum_n w_n^2 E k_n^2 V_n(k_n).
constexpr uint64_t kDegreeSeed = 2;
constexpr int64_t kDrawnDegrees = 1024;  // at a time
constexpr int64_t kMostDrawnColumns = int64_t{1} << 16;
// Probabilities below this share of the largest are rounding.
constexpr double kNoShare = 1e-18;

/// E f(k), k binomial: outward from the most probable k, whose probability cancels.
template <class Function>
double binomial_mean(int64_t D, double mu, const Function& f) {
  if (mu >= 1) return f(D);
  const int64_t mode = std::min(D, static_cast<int64_t>(static_cast<double>(D + 1) * mu));
  const double odds = mu / (1 - mu);
  double sum = f(mode), all = 1, p = 1;
  for (int64_t k = mode + 1; k <= D && p > kNoShare; ++k) {
    p *= odds * static_cast<double>(D - k + 1) / static_cast<double>(k);
    sum += p * f(k);
    all += p;
  }
  p = 1;
  for (int64_t k = mode - 1; k >= 0 && p > kNoShare; --k) {
    p *= static_cast<double>(k + 1) / (odds * static_cast<double>(D - k));
    sum += p * f(k);
    all += p;
  }
  return sum / all;
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

double DegreeAllotment::error() const noexcept {
  return std::accumulate(variance.begin(), variance.end(), bias.back());
}

double degree_variance(const DegreeCosts& costs, int64_t n, int64_t D) noexcept {
  const double V = costs.error.variance[n - 1], C = costs.error.covariance[n - 1];
  const auto columns = static_cast<double>(D), block = static_cast<double>(costs.block);
  const double variance =
      C > 0 || columns > block ? (V + (block - 1) * C) / columns : (V - C) / columns + C;
  return std::max(variance, 0.0);  // whole blocks are exact at degree 1, up to rounding
}

DegreeAllotment allot_degrees(const DegreeCosts& costs, int64_t p, int64_t total) {
  const std::vector<double>& bias = costs.error.bias;
  DegreeAllotment made{std::vector<int64_t>(p, 0),
                       std::vector<double>(p, 0.0),
                       {bias.begin() + 1, bias.begin() + p + 1}};
  std::vector<double> gain(p, -1.0);  // of one more column
  const auto give = [&](int64_t n) {
    const int64_t D = ++made.columns[n - 1];
    made.variance[n - 1] = degree_variance(costs, n, D);
    gain[n - 1] = made.variance[n - 1] - degree_variance(costs, n, D + 1);
  };
  for (int64_t n = 1; n <= p; ++n)
    if (costs.sketched[n - 1]) give(n);
  for (int64_t left = total - count_sketched(costs, p); left > 0; --left) {
    int64_t best = 0;
    for (int64_t n = 1; n <= p; ++n)
      if (costs.sketched[n - 1] && (best == 0 || gain[n - 1] > gain[best - 1])) best = n;
    give(best);
  }
  return made;
}

DegreeAllotment best_allotment(const DegreeCosts& costs, int64_t least, int64_t most,
                               int64_t total) {
  std::optional<DegreeAllotment> best;
  for (int64_t p = least; p <= most; ++p) {
    const int64_t sketched = count_sketched(costs, p);
    if (sketched > total || (sketched == 0 && total > 0)) continue;
    DegreeAllotment own = allot_degrees(costs, p, total);
    if (!best || own.error() < best->error()) best = std::move(own);
  }
  require(best.has_value(), MERCER_INVALID_ARGUMENT,
          "%ld columns for degrees 1 to %ld, of which %ld have coefficients > 0, expected at least "
          "one for each, and degrees for all columns",
          total, least, count_sketched(costs, least));
  return std::move(*best);
}

RandomDegrees::RandomDegrees(std::vector<SeriesTerm> terms, int64_t D, int64_t block, double base)
    : terms_(std::move(terms)), D_(D), block_(block) {
  double sum = 0, power = 1;
  for (size_t i = 0; i < terms_.size(); ++i) {
    // What is never drawn keeps a chance, so that weights are numbers.
    for (int64_t n = i == 0 ? terms_[i].degree : terms_[i - 1].degree; n < terms_[i].degree; ++n)
      power = std::max(power / base, std::numeric_limits<double>::min());
    mu_.push_back(power);
    sum += power;
  }
  drawn_ = D;
  const auto rest = static_cast<double>(std::max<int64_t>(D - kMostDrawnColumns, 0));
  for (double& chance : mu_) {
    chance /= sum;
    shared_.push_back(static_cast<int64_t>(rest * chance));
    drawn_ -= shared_.back();
  }
  for (size_t i = 0; i < terms_.size(); ++i) {
    chances_.push_back((static_cast<double>(D) * mu_[i] - static_cast<double>(shared_[i])) /
                       static_cast<double>(drawn_));
    pairs_.push_back(block <= 1 ? 0 : binomial_mean(drawn_, chances_[i], [&](int64_t k) {
      return pairs_in_blocks(block, shared_[i] + k);
    }));
  }
}

std::vector<int64_t> RandomDegrees::draw(uint64_t seed) const {
  const random::Stream stream(random::child_seed(seed, kDegreeSeed, 0), random::Tag::sample, 0);
  std::vector<int64_t> columns = shared_;
  std::vector<double> u(static_cast<size_t>(kDrawnDegrees));
  for (int64_t first = 0; first < drawn_; first += kDrawnDegrees) {
    const auto count = static_cast<size_t>(std::min(drawn_ - first, kDrawnDegrees));
    random::fill_uniform(stream, static_cast<uint64_t>(first), std::span(u).first(count));
    for (size_t j = 0; j < count; ++j) {
      size_t term = 0;
      double left = u[j];
      while (term + 1 < terms_.size() && left >= chances_[term]) left -= chances_[term++];
      ++columns[term];
    }
  }
  return columns;
}

/// E k^2 V(k), which is k v + c(k) C where columns are dependent within blocks: v = V(1), c(k) pairs
/// of one block, and C = 2 V(2) - v.
double RandomDegrees::mean_square(size_t term,
                                  const std::function<double(size_t, int64_t)>& of) const {
  if (block_ > 0) {
    const double v = of(term, 1), mean = static_cast<double>(D_) * mu_[term];
    return mean * v + (block_ == 1 ? 0 : pairs_[term] * (2 * of(term, 2) - v));
  }
  return binomial_mean(drawn_, chances_[term], [&](int64_t k) {
    const auto columns = static_cast<double>(shared_[term] + k);
    return columns == 0 ? 0 : columns * columns * of(term, shared_[term] + k);
  });
}

/// Later terms are rounding: a column of degree n has E |z z'|^2 <= (3 N)^n.
size_t RandomDegrees::terms_that_count(double N) const {
  std::vector<double> bounds;
  for (size_t i = 0; i < terms_.size(); ++i) {
    const double w = terms_[i].coefficient / mu_[i];
    bounds.push_back(w * w * std::pow(3 * N, static_cast<double>(terms_[i].degree)));
  }
  const double largest = *std::ranges::max_element(bounds);
  size_t count = bounds.size();
  while (count > 1 && bounds[count - 1] <= kNoShare * largest) --count;
  return count;
}

double RandomDegrees::variance(double s, double N,
                               const std::function<double(size_t, int64_t)>& of) const {
  double squares = 0, sum = 0, sketches = 0;
  for (size_t i = 0; i < terms_that_count(N); ++i) {
    const double w = terms_[i].coefficient / (static_cast<double>(D_) * mu_[i]);
    const double value = w * std::pow(s, static_cast<double>(terms_[i].degree));
    squares += chances_[i] * value * value;
    sum += chances_[i] * value;
    sketches += w * w * mean_square(i, of);
  }
  return std::max(squares - sum * sum, 0.0) * static_cast<double>(drawn_) + sketches;
}

}  // namespace mercer::feature
