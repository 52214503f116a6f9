// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With a column for |phi|^2 beside phi, and likewise psi, the product A of both holds all that the
// unbiased estimate needs beside the columns' sums (Song et al. 2012, equation 5): of K and L
// without their diagonals, tr KL, 1'KL1, and 1'K1, 1'L1.
// If X and Y are independent, n hsic tends to sum_ij lambda_i mu_j (z_ij^2 - 1) with the
// eigenvalues of both covariances, of variance 2 tr S^2 tr T^2 and third moment 8 tr S^3 tr T^3.
#include "statistic/independence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "linalg/blas.h"
#include "random/distributions.h"

namespace mercer::statistic {
namespace {

constexpr int64_t kRowsTogether = 1024;

/// Features in double, and their squared norm.
void fill(const MappedRows& from, int64_t first, Context& context, MatrixView<double> out) {
  const int64_t D = from.map.features();
  from.rows.block_rows(first, first + out.rows).visit([&](const auto& rows) {
    using T = RowNumberOf<decltype(rows)>;
    const Matrix<T> Z(out.rows, D, context, "a block of features");
    from.map.apply(rows, {0, D}, context, Z.view());
    for (int64_t i = 0; i < out.rows; ++i) {
      double* const row = out.row(i);
      std::copy_n(Z.view().row(i), D, row);
      row[D] = std::inner_product(row, row + D, row, 0.0);
    }
  });
}

/// Sums over rows of the features of one side, with that of their norms.
struct Side {
  std::vector<double> sum;
  Matrix<double> products;  // lower triangle
  int64_t D;

  Side(int64_t features, Context& context)
      : sum(features + 1),
        products(features, features, context, "products of features"),
        D(features) {
    products.fill(0);
  }
  void add(MatrixView<const double> Z) {
    for (int64_t i = 0; i < Z.rows; ++i)
      for (int64_t j = 0; j <= D; ++j) sum[j] += Z(i, j);
    linalg::rank_update(1.0, Z.block_cols(0, D), products.view());
  }
};

/// tr S^2 and tr S^3 of the covariance S.
struct Traces {
  double second = 0, third = 0;
};

Traces traces(const Side& side, int64_t rows, Context& context) {
  const int64_t D = side.D;
  const auto n = static_cast<double>(rows);
  const Matrix<double> S(D, D, context, "a covariance"), squared(D, D, context, "its square");
  for (int64_t i = 0; i < D; ++i)
    for (int64_t j = 0; j <= i; ++j)
      S(i, j) = S(j, i) = side.products(i, j) / n - side.sum[i] / n * (side.sum[j] / n);
  linalg::multiply(1.0, linalg::kPlain, S.view(), linalg::kPlain, S.view(), 0.0, squared.view());
  Traces out;
  for (int64_t i = 0; i < D; ++i) out.second += squared(i, i);
  out.third = std::inner_product(S.data(), S.data() + D * D, squared.data(), 0.0);
  return out;
}

double bilinear(MatrixView<const double> A, const double* x, const double* y) {
  double sum = 0;
  for (int64_t i = 0; i < A.rows; ++i)
    sum += x[i] * std::inner_product(A.row(i), A.row(i) + A.cols, y, 0.0);
  return sum;
}

double squared_norm(const double* x, int64_t count) {
  return std::inner_product(x, x + count, x, 0.0);
}

/// The criterion from A = [phi, |phi|^2]'[psi, |psi|^2] and the sums of both.
double hsic_of(MatrixView<const double> A, const std::vector<double>& s,
               const std::vector<double>& t, int64_t rows) {
  const int64_t p = A.rows - 1, q = A.cols - 1;
  const auto n = static_cast<double>(rows);
  const MatrixView<const double> inner = A.block_rows(0, p).block_cols(0, q);
  double squares = 0, by_norm = 0;  // by_norm: sum_i phi_i's |psi_i|^2
  for (int64_t i = 0; i < p; ++i) squares += squared_norm(A.row(i), q);
  const double both = A(p, q), mixed = bilinear(inner, s.data(), t.data());
  const double ss = squared_norm(s.data(), p), tt = squared_norm(t.data(), q);
  if (rows < 4) return (squares - 2 * mixed / n + ss * tt / (n * n)) / (n * n);
  for (int64_t i = 0; i < p; ++i) by_norm += A(i, q) * s[i];
  by_norm += std::inner_product(t.begin(), t.begin() + q, A.row(p), 0.0);
  const double traces = squares - both, sums = (ss - s[p]) * (tt - t[q]);
  const double paths = mixed - by_norm + both;
  return (traces + sums / ((n - 1) * (n - 2)) - 2 * paths / (n - 2)) / (n * (n - 3));
}

/// The features of rows order[first, first + out.rows).
void gather(const Matrix<double>& from, const std::vector<int64_t>& order, int64_t first,
            MatrixView<double> out) {
  for (int64_t i = 0; i < out.rows; ++i)
    std::copy_n(from.view().row(order[first + i]), out.cols, out.row(i));
}

/// One pass over the rows as they are, then passes with the rows of one side permuted.
class Passes {
 public:
  Passes(const MappedRows& x, const MappedRows& y, bool keep, Context& context)
      : x_(x),
        y_(y),
        n_(x.rows.rows()),
        block_(std::min(n_, kRowsTogether)),
        keep_(keep),
        context_(context),
        phi_(keep ? n_ : block_, x.map.features() + 1, context, "features of all rows"),
        psi_(keep ? n_ : block_, y.map.features() + 1, context, "features of all rows"),
        shuffled_(block_, psi_.cols(), context, "a block of features"),
        A_(phi_.cols(), psi_.cols(), context, "products of features"),
        of_x(x.map.features(), context),
        of_y(y.map.features(), context) {}

  double observed(Stage& stage) {
    each_block(stage, [&](int64_t first, MatrixView<double> left, MatrixView<double> right) {
      fill(x_, first, context_, left);
      fill(y_, first, context_, right);
      of_x.add(left);
      of_y.add(right);
      return right;
    });
    return hsic_of(A_.view(), of_x.sum, of_y.sum, n_);
  }
  double permuted(const std::vector<int64_t>& order, Stage& stage) {
    each_block(stage, [&](int64_t first, MatrixView<double> left, MatrixView<double>) {
      const MatrixView<double> right = shuffled_.view().block_rows(0, left.rows);
      gather(psi_, order, first, right);
      return right;
    });
    return hsic_of(A_.view(), of_x.sum, of_y.sum, n_);
  }

 private:
  /// A = the sum over blocks of left' right(first, left, features of y).
  template <class Right>
  void each_block(Stage& stage, const Right& right) {
    for (int64_t first = 0; first < n_; first += block_) {
      const int64_t count = std::min(block_, n_ - first), at = keep_ ? first : 0;
      const MatrixView<double> left = phi_.view().block_rows(at, at + count);
      const MatrixView<double> with = right(first, left, psi_.view().block_rows(at, at + count));
      linalg::multiply(1.0, linalg::kTransposed, left, linalg::kPlain, with, first == 0 ? 0.0 : 1.0,
                       A_.view());
      stage.advance(count);
      context_.checkpoint();
    }
  }

  MappedRows x_, y_;
  int64_t n_, block_;
  bool keep_;
  Context& context_;
  Matrix<double> phi_, psi_, shuffled_, A_;

 public:
  Side of_x, of_y;
};

}  // namespace

Independence independence(const MappedRows& x, const MappedRows& y, int64_t permutations,
                          uint64_t seed, Context& context) {
  const int64_t n = x.rows.rows();
  const auto rows = static_cast<double>(n);
  Stage stage(context, n * (permutations + 1));
  Passes passes(x, y, permutations > 0, context);
  Independence out;
  out.hsic = passes.observed(stage);
  out.permuted.values = {out.hsic};
  out.permuted.rounding =
      kLostInSums * passes.of_x.sum.back() / rows * (passes.of_y.sum.back() / rows);
  std::vector<int64_t> order(n);
  for (int64_t b = 1; b <= permutations; ++b) {
    random::Cursor cursor(random::Stream(seed, random::Tag::permutation, static_cast<uint64_t>(b)));
    random::permutation(cursor, order);
    out.permuted.values.push_back(passes.permuted(order, stage));
  }
  const Traces s = traces(passes.of_x, n, context), t = traces(passes.of_y, n, context);
  const double product = s.second * t.second;
  if (!(std::sqrt(product) > out.permuted.rounding)) return out;  // a constant side
  out.effect = out.hsic / std::sqrt(product);
  if (n < kLeastRowsOfLimit) {
    out.p_limit = kNaN;
    return out;
  }
  out.p_limit = gamma_tail(rows * out.hsic / std::sqrt(2 * product),
                           8 * s.third * t.third / std::pow(2 * product, 1.5));
  return out;
}

}  // namespace mercer::statistic
