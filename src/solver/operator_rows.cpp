// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products with the observed rows, by blocks of rows.
#include "solver/operator_rows.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;
using Long = long long;

}  // namespace

ExplicitRows::ExplicitRows(MatrixView<const double> Phi, int64_t outputs)
    : Phi_(Phi), outputs_(outputs) {
  require(outputs >= 1 && Phi.rows % outputs == 0, MERCER_DIMENSION_MISMATCH,
          "Phi has %lld rows, expected a multiple of outputs = %lld", static_cast<Long>(Phi.rows),
          static_cast<Long>(outputs));
}

void ExplicitRows::values(int64_t first, MatrixView<const double> theta, Context&,
                          MatrixView<double> S) const {
  for (int64_t i = 0; i < S.rows; ++i)
    linalg::multiply(1.0, Transpose::yes, theta, Transpose::yes,
                     Phi_.block_rows((first + i) * outputs_, (first + i + 1) * outputs_), 0.0,
                     {S.row(i), theta.cols, outputs_});
}

void ExplicitRows::add_adjoint(int64_t first, MatrixView<const double> S, Context&,
                               MatrixView<double> theta) const {
  for (int64_t i = 0; i < S.rows; ++i)
    linalg::multiply(1.0, Transpose::yes,
                     Phi_.block_rows((first + i) * outputs_, (first + i + 1) * outputs_),
                     Transpose::yes, {S.row(i), theta.cols, outputs_}, 1.0, theta);
}

int64_t count_observed(MatrixView<const double> Y) {
  int64_t observed = 0;
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; k < Y.cols; ++k) {
      require(!std::isinf(Y(i, k)), MERCER_INVALID_ARGUMENT,
              "target (%lld, %lld) is infinite, expected a finite number, or NaN where none was "
              "observed",
              static_cast<Long>(i), static_cast<Long>(k));
      observed += !std::isnan(Y(i, k));
    }
  require(observed > 0, MERCER_INVALID_ARGUMENT,
          "no target was observed, expected at least one that is not NaN");
  return observed;
}

ObservedRows::ObservedRows(const OperatorRows& of, MatrixView<const double> Y) : of_(of), Y_(Y) {
  require(Y.rows == of.rows() && Y.cols == of.outputs(), MERCER_DIMENSION_MISMATCH,
          "targets are %lld x %lld, expected %lld rows x %lld outputs", static_cast<Long>(Y.rows),
          static_cast<Long>(Y.cols), static_cast<Long>(of.rows()), static_cast<Long>(of.outputs()));
  observed_ = count_observed(Y);
}

std::vector<double> ObservedRows::targets() const {
  std::vector<double> y;
  y.reserve(static_cast<std::size_t>(rows()));
  for (int64_t i = 0; i < Y_.rows; ++i)
    for (int64_t k = 0; k < Y_.cols; ++k) y.push_back(std::isnan(Y_(i, k)) ? 0.0 : Y_(i, k));
  return y;
}

// All columns at once, so that the features of a row are computed once.
void ObservedRows::multiply(Transpose transpose, MatrixView<const double> X, Context& context,
                            MatrixView<double> Y) const {
  const int64_t p = of_.outputs(), most = std::min(kOperatorRows, of_.rows()), m = X.cols;
  const Matrix<double> scores(most, checked_multiply(p, m, "a block of values"), context,
                              "a block of values");
  for (int64_t j = 0; transpose == Transpose::yes && j < Y.rows; ++j) std::fill_n(Y.row(j), m, 0.0);
  for (int64_t first = 0; first < of_.rows(); first += most) {
    const MatrixView<double> S = scores.view().block_rows(0, std::min(most, of_.rows() - first));
    if (transpose == Transpose::no) of_.values(first, X, context, S);
    for (int64_t i = 0; i < S.rows; ++i)
      for (int64_t k = 0; k < p; ++k) {
        const bool seen = !std::isnan(Y_(first + i, k));
        const int64_t at = (first + i) * p + k;
        for (int64_t c = 0; c < m; ++c) {
          if (transpose == Transpose::no) {
            Y(at, c) = seen ? S(i, c * p + k) : 0.0;
          } else {
            S(i, c * p + k) = seen ? X(at, c) : 0.0;
          }
        }
      }
    if (transpose == Transpose::yes) of_.add_adjoint(first, S, context, Y);
    context.checkpoint();
  }
}

}  // namespace mercer::solver
