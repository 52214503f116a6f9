// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A stands for the observed rows of Phi' (m x r), A'A = V'SV or AA' = V'SV. With T the rows of A V'
// or of V', W = diag 1/(s + N lambda) and c = V A'y or V y, the fit is g = T W c, its hat matrix
// G = T W T' (primal), or the weights of targets are g and the inverse is G (dual).
#include "model/outputs/operator_path.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "model/outputs/observed_gram.h"
#include "model/outputs/operator_left_out.h"

namespace mercer::model {
namespace {

using linalg::Transpose;

constexpr const char* kWhat = "ridge on an operator-valued map";

MatrixView<const double> column(std::span<const double> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1};
}
MatrixView<double> column(std::span<double> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1};
}

int64_t observed_in(MatrixView<const double> Y, int64_t i) {
  return std::count_if(Y.row(i), Y.row(i) + Y.cols, [](double y) { return !std::isnan(y); });
}

/// Rows whose matrices of p x r numbers stand side by side.
int64_t matrix_block(int64_t p, int64_t r, int64_t rows) {
  return std::clamp<int64_t>(kPhiNumbers / (p * r), 1, std::max<int64_t>(rows, 1));
}

}  // namespace

int64_t OperatorPath::size(const feature::FieldMap& map, MatrixView<const double> Y) {
  int64_t observed = 0;
  for (int64_t i = 0; i < Y.rows; ++i) observed += observed_in(Y, i);
  return std::min(map.features(), observed);
}

int64_t OperatorPath::bytes(const feature::FieldMap& map, MatrixView<const double> Y,
                            int64_t rows) {
  const int64_t p = Y.cols, r = map.features(), D = map.scalar().features(), n = Y.rows;
  int64_t q = 0, m = 0;
  for (int64_t i = 0; i < n; ++i) {
    q = std::max(q, observed_in(Y, i));
    m += observed_in(Y, i);
  }
  const int64_t k = std::min(m, r), judged = product_block(q, k, std::min(rows, n));
  // The decomposition; blocks of Phi, and of scalar features and inputs beside them; targets.
  const int64_t made = 3 * k * k + (m < r ? m * r : D * D) + 2 * n * (p + map.inputs());
  const int64_t blocks =
      matrix_block(p, r, n) * (p * r + 2 * D) + 2 * std::min(n * D, kPhiNumbers / 4);
  const int64_t left_out =
      judged * (product_rows(q) * (k + kLambdas) + q * (k + r)) + k * kLambdas + p * p;
  return 8 * (made + blocks + left_out);
}

OperatorPath::OperatorPath(const feature::FieldMap& map, MatrixView<const double> X,
                           MatrixView<const double> Y, Context& context)
    : map_(map), X_(X), Y_(Y), first_{0} {
  for (int64_t i = 0; i < Y.rows; ++i) first_.push_back(first_.back() + observed_in(Y, i));
  const int64_t m = first_.back();
  require(m > 0, MERCER_INVALID_ARGUMENT, "no target was observed, expected at least one");
  dual_ = m < map.features();
  const int64_t k = std::min(m, map.features());
  s_.resize(static_cast<size_t>(k));
  turned_.resize(static_cast<size_t>(k));
  dual_ ? decompose_targets(context) : decompose_features(context);
  for (double& s : s_) s = std::max(s, 0.0);
}

Matrix<double> OperatorPath::explicit_rows(std::span<const int64_t> rows, Context& context) const {
  const int64_t p = Y_.cols, r = map_.features(), n = std::ssize(rows);
  int64_t m = 0;
  for (const int64_t row : rows) m += count(row);
  const int64_t size = matrix_block(p, r, n);
  const Matrix<double> inputs(size, X_.cols, context, kWhat), Phi(size * p, r, context, kWhat);
  Matrix<double> kept(m, r, context, kWhat);
  int64_t to = 0;
  for (int64_t begin = 0; begin < n; begin += size) {
    const auto part =
        rows.subspan(static_cast<size_t>(begin), static_cast<size_t>(std::min(size, n - begin)));
    const int64_t some = std::ssize(part);
    for (int64_t i = 0; i < some; ++i)
      std::copy_n(X_.row(part[static_cast<size_t>(i)]), X_.cols, inputs.view().row(i));
    map_.apply(MatrixView<const double>(inputs.view().block_rows(0, some)), {0, r}, context,
               Phi.view().block_rows(0, some * p));
    for (int64_t i = 0; i < some; ++i)
      for (int64_t o = 0; o < p; ++o)
        if (!std::isnan(Y_(part[static_cast<size_t>(i)], o)))
          std::copy_n(Phi.view().row(i * p + o), r, kept.view().row(to++));
  }
  return kept;
}

void OperatorPath::decompose_features(Context& context) {
  const std::vector<double> right = observed_sums(map_, X_, Y_, context);
  V_ = observed_gram(map_, X_, Y_, context);
  linalg::symmetric_eigen(V_.view(), s_, context);
  linalg::multiply(1.0, Transpose::no, MatrixView<const double>(V_.view()), Transpose::no,
                   column(std::span<const double>(right)), 0.0, column(std::span(turned_)));
}

void OperatorPath::decompose_targets(Context& context) {
  std::vector<int64_t> rows;
  std::vector<double> y;
  for (int64_t i = 0; i < X_.rows; ++i) {
    if (count(i) > 0) rows.push_back(i);
    for (int64_t o = 0; o < Y_.cols; ++o)
      if (!std::isnan(Y_(i, o))) y.push_back(Y_(i, o));
  }
  {
    const Matrix<double> A = explicit_rows(rows, context);
    V_ = Matrix<double>(std::ssize(y), std::ssize(y), context, kWhat);
    V_.fill(0);
    linalg::rank_update_rows(1.0, MatrixView<const double>(A.view()), V_.view());
  }
  linalg::symmetric_eigen(V_.view(), s_, context);
  linalg::multiply(1.0, Transpose::no, MatrixView<const double>(V_.view()), Transpose::no,
                   column(std::span<const double>(y)), 0.0, column(std::span(turned_)));
}

Matrix<double> OperatorPath::projected(std::span<const int64_t> rows, Context& context) const {
  const int64_t k = V_.rows();
  int64_t m = 0;
  for (const int64_t row : rows) m += count(row);
  Matrix<double> T(m, k, context, kWhat);
  if (!dual_) {
    const Matrix<double> A = explicit_rows(rows, context);
    linalg::multiply(1.0, Transpose::no, MatrixView<const double>(A.view()), Transpose::yes,
                     MatrixView<const double>(V_.view()), 0.0, T.view());
    return T;
  }
  int64_t to = 0;
  for (const int64_t row : rows)
    for (int64_t a = 0; a < count(row); ++a, ++to)
      for (int64_t j = 0; j < k; ++j) T(to, j) = V_(j, first_[static_cast<size_t>(row)] + a);
  return T;
}

void OperatorPath::solve(double lambda, Context& context, std::span<double> theta) const {
  std::vector<double> weighted = turned_;
  for (size_t j = 0; j < s_.size(); ++j)
    weighted[j] /= s_[j] + static_cast<double>(X_.rows) * lambda;
  std::vector<double> u(s_.size());
  linalg::multiply(1.0, Transpose::yes, MatrixView<const double>(V_.view()), Transpose::no,
                   column(std::span<const double>(weighted)), 0.0, column(std::span(u)));
  if (!dual_) {
    std::ranges::copy(u, theta.begin());
    return;
  }
  const Matrix<double> U(X_.rows, Y_.cols, context, kWhat);
  for (int64_t i = 0; i < X_.rows; ++i) {
    int64_t a = first_[static_cast<size_t>(i)];
    for (int64_t o = 0; o < Y_.cols; ++o)
      U(i, o) = std::isnan(Y_(i, o)) ? 0 : u[static_cast<size_t>(a++)];
  }
  map_.adjoint(X_, MatrixView<const double>(U.view()), context, column(theta));
}

}  // namespace mercer::model
