// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With the hat matrix G and the inverse of operator_path.cpp, a row i with its targets left out has
// the residuals (I - G_ii)^-1 (y_i - g_i), resp. G_ii^-1 g_i.
#include "model/outputs/operator_left_out.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "linalg/blas.h"
#include "model/outputs/operator_path.h"

namespace mercer::model {
namespace {

using linalg::Transpose;

constexpr const char* kWhat = "ridge on an operator-valued map";
constexpr double kLeastPivot = 1e-8;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

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

}  // namespace

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

}  // namespace mercer::model
