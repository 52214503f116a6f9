// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A stands for the observed rows of Phi' (m x r), A'A = V'SV or AA' = V'SV. With T the rows of A V'
// or of V', W = diag 1/(s + N lambda) and c = V A'y or V y, the fit is g = T W c, its hat matrix
// G = T W T' (primal), or the weights of targets are g and the inverse is G (dual). A row i with its
// targets left out has the residuals (I - G_ii)^-1 (y_i - g_i), resp. G_ii^-1 g_i.
#include "model/operator_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "model/observed_gram.h"

namespace mercer::model {
namespace {

using linalg::Transpose;

constexpr const char* kWhat = "ridge on an operator-valued map";
constexpr int64_t kBlockNumbers = int64_t{1} << 18;  // products side by side
constexpr int64_t kLambdas = 32;                     // as many at once
constexpr double kLeastPivot = 1e-8;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

MatrixView<const double> column(std::span<const double> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1};
}
MatrixView<double> column(std::span<double> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1};
}

/// e := M^-1 e of a symmetric M (lower triangle, q x q, by rows), which changes; false where M has
/// a pivot up to `least`.
bool solve_small(int64_t q, double least, std::vector<double>& M, std::vector<double>& e) {
  const auto at = [&](int64_t i, int64_t j) -> double& {
    return M[static_cast<size_t>(i * q + j)];
  };
  for (int64_t j = 0; j < q; ++j) {
    if (!(at(j, j) > least)) return false;
    const double root = std::sqrt(at(j, j));
    for (int64_t i = j; i < q; ++i) at(i, j) /= root;
    for (int64_t i = j + 1; i < q; ++i)
      for (int64_t k = j + 1; k <= i; ++k) at(i, k) -= at(i, j) * at(k, j);
  }
  for (int64_t i = 0; i < q; ++i) {
    double& x = e[static_cast<size_t>(i)];
    for (int64_t k = 0; k < i; ++k) x -= at(i, k) * e[static_cast<size_t>(k)];
    x /= at(i, i);
  }
  for (int64_t i = q - 1; i >= 0; --i) {
    double& x = e[static_cast<size_t>(i)];
    for (int64_t k = i + 1; k < q; ++k) x -= at(k, i) * e[static_cast<size_t>(k)];
    x /= at(i, i);
  }
  return true;
}

/// The products T_a T_b (b <= a) and T_a c of the q rows of T from `first`: what G_ii and g_i are
/// weighted sums of.
void append_products(MatrixView<const double> T, int64_t first, int64_t q,
                     std::span<const double> c, double*& to) {
  for (int64_t a = 0; a < q; ++a) {
    const double* x = T.row(first + a);
    for (int64_t b = 0; b <= a; ++b) {
      const double* y = T.row(first + b);
      for (int64_t j = 0; j < T.cols; ++j) *to++ = x[j] * y[j];
    }
    for (int64_t j = 0; j < T.cols; ++j) *to++ = x[j] * c[static_cast<size_t>(j)];
  }
}

int64_t observed_in(MatrixView<const double> Y, int64_t i) {
  return std::count_if(Y.row(i), Y.row(i) + Y.cols, [](double y) { return !std::isnan(y); });
}

/// Products of a row with q observed targets, and how many such rows stand side by side.
int64_t product_rows(int64_t q) { return q * (q + 3) / 2; }
int64_t product_block(int64_t q, int64_t k, int64_t rows) {
  return std::clamp<int64_t>(kBlockNumbers / (std::max<int64_t>(product_rows(q), 1) * k), 1,
                             std::max<int64_t>(rows, 1));
}
/// Rows whose matrices of p x r numbers stand side by side.
int64_t matrix_block(int64_t p, int64_t r, int64_t rows) {
  return std::clamp<int64_t>(kPhiNumbers / (p * r), 1, std::max<int64_t>(rows, 1));
}

}  // namespace

int64_t OperatorPath::size(const operators::OperatorMap& map, MatrixView<const double> Y) {
  int64_t observed = 0;
  for (int64_t i = 0; i < Y.rows; ++i) observed += observed_in(Y, i);
  return std::min(map.coefficients(), observed);
}

int64_t OperatorPath::bytes(const operators::OperatorMap& map, MatrixView<const double> Y,
                            int64_t rows) {
  const int64_t p = Y.cols, r = map.coefficients(), D = map.features(), n = Y.rows;
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

OperatorPath::OperatorPath(const operators::OperatorMap& map, MatrixView<const double> X,
                           MatrixView<const double> Y, Context& context)
    : map_(map), X_(X), Y_(Y), first_{0} {
  for (int64_t i = 0; i < Y.rows; ++i) first_.push_back(first_.back() + observed_in(Y, i));
  const int64_t m = first_.back();
  require(m > 0, MERCER_INVALID_ARGUMENT, "no target was observed, expected at least one");
  dual_ = m < map.coefficients();
  const int64_t k = std::min(m, map.coefficients());
  s_.resize(static_cast<size_t>(k));
  turned_.resize(static_cast<size_t>(k));
  dual_ ? decompose_targets(context) : decompose_features(context);
  for (double& s : s_) s = std::max(s, 0.0);
}

Matrix<double> OperatorPath::explicit_rows(std::span<const int64_t> rows, Context& context) const {
  const int64_t p = Y_.cols, r = map_.coefficients(), n = std::ssize(rows);
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
    map_.matrix(MatrixView<const double>(inputs.view().block_rows(0, some)), context,
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

double OperatorPath::row_error(int64_t row, double lambda, const std::vector<double>& sums,
                               std::vector<double>& M, std::vector<double>& e) const {
  const int64_t q = count(row);
  size_t from = 0;
  int64_t o = -1;
  e.clear();
  for (int64_t a = 0; a < q; ++a) {
    do ++o;
    while (std::isnan(Y_(row, o)));
    for (int64_t b = 0; b <= a; ++b, ++from)
      M[static_cast<size_t>(a * q + b)] = dual_ ? sums[from] : (a == b ? 1 : 0) - sums[from];
    e.push_back(dual_ ? sums[from] : Y_(row, o) - sums[from]);
    ++from;
  }
  // The dual's inverse has entries up to 1/(N lambda), which times N lambda are those of I - G.
  const double unit = dual_ ? static_cast<double>(X_.rows) * lambda : 1;
  if (!solve_small(q, kLeastPivot / unit, M, e)) return kInfinite;
  return std::inner_product(e.begin(), e.end(), e.begin(), 0.0);
}

std::vector<double> OperatorPath::leave_one_out(std::span<const double> lambdas,
                                                std::span<const int64_t> rows,
                                                Context& context) const {
  const int64_t k = V_.rows(), L = std::ssize(lambdas), p = Y_.cols;
  int64_t largest = 0;  // observed targets of a row
  for (const int64_t row : rows) largest = std::max(largest, count(row));
  const Matrix<double> W(k, L, context, kWhat);
  for (int64_t j = 0; j < k; ++j)
    for (int64_t l = 0; l < L; ++l)
      W(j, l) = 1 / (s_[static_cast<size_t>(j)] +
                     static_cast<double>(X_.rows) * lambdas[static_cast<size_t>(l)]);
  const int64_t most = product_rows(largest);
  const int64_t block = product_block(largest, k, std::ssize(rows));
  const Matrix<double> products(block * most, k, context, kWhat);
  const Matrix<double> sums(block * most, L, context, kWhat);
  std::vector<double> errors(lambdas.size(), 0.0), of_row, M(static_cast<size_t>(p * p)), e;
  int64_t observed = 0;
  for (size_t begin = 0; begin < rows.size(); begin += static_cast<size_t>(block)) {
    const auto part =
        rows.subspan(begin, std::min(static_cast<size_t>(block), rows.size() - begin));
    const int64_t used = write_products(part, context, products.view());
    linalg::multiply(1.0, Transpose::no,
                     MatrixView<const double>(products.view().block_rows(0, used)), Transpose::no,
                     MatrixView<const double>(W.view()), 0.0, sums.view().block_rows(0, used));
    int64_t at = 0;
    for (const int64_t row : part) {
      const int64_t q = count(row), numbers = q * (q + 3) / 2;
      for (int64_t l = 0; l < L; ++l) {
        of_row.clear();
        for (int64_t j = 0; j < numbers; ++j) of_row.push_back(sums(at + j, l));
        errors[static_cast<size_t>(l)] +=
            row_error(row, lambdas[static_cast<size_t>(l)], of_row, M, e);
      }
      at += numbers;
      observed += q;
    }
    context.checkpoint();
  }
  for (double& error : errors) error /= static_cast<double>(observed);
  return errors;
}

int64_t OperatorPath::write_products(std::span<const int64_t> rows, Context& context,
                                     MatrixView<double> out) const {
  const Matrix<double> T = projected(rows, context);
  double* to = out.data;
  int64_t place = 0;
  for (const int64_t row : rows) {
    append_products(T.view(), place, count(row), turned_, to);
    place += count(row);
  }
  return (to - out.data) / out.cols;
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
