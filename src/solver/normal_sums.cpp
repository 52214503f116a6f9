// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/normal_sums.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "linalg/blas.h"
#include "solver/primal_system.h"

namespace mercer::solver {
namespace {

constexpr const char* kHeavy = "the heavy columns' products";

}  // namespace

void CentredGram::multiply(MatrixView<const double> X, Context& context,
                           MatrixView<double> Y) const {
  gram_->apply(X, context, Y);
  std::vector<double> of_mean(X.cols, 0.0);
  for (int64_t j = 0; j < X.rows; ++j)
    for (int64_t k = 0; k < X.cols; ++k) of_mean[k] += mean_[j] * X(j, k);
  for (int64_t j = 0; j < Y.rows; ++j)
    for (int64_t k = 0; k < Y.cols; ++k) Y(j, k) -= weight_ * mean_[j] * of_mean[k];
}

HeavyPreconditioner::HeavyPreconditioner(NormalSums& sums, std::span<const double> mean)
    : heavy_(std::move(sums.heavy)),
      block_(std::move(sums.block)),
      diagonal_(std::move(sums.diagonal)) {
  for (std::size_t j = 0; j < diagonal_.size(); ++j)
    diagonal_[j] = std::max(0.0, diagonal_[j] - sums.weight * mean[j] * mean[j]);
  for (std::size_t a = 0; a < heavy_.size(); ++a) {
    diagonal_[heavy_[a]] = 0;
    double* const row = block_.view().row(static_cast<int64_t>(a));
    for (std::size_t b = 0; b <= a; ++b) row[b] -= sums.weight * mean[heavy_[a]] * mean[heavy_[b]];
  }
}

Matrix<double> HeavyPreconditioner::factor(double shift, Context& context) const {
  const int64_t h = block_.rows();
  Matrix<double> L(h, h, context, kHeavy);
  for (int64_t a = 0; a < h; ++a) {
    std::copy_n(block_.view().row(a), a + 1, L.view().row(a));
    L(a, a) += shift;
  }
  require(linalg::cholesky(L.view()) == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "n lambda = %g is lost in the rounding of Z'Z, expected a larger lambda", shift);
  return L;
}

linalg::BlockPreconditioner HeavyPreconditioner::at(std::span<const double> shifts,
                                                    Context& context) const {
  std::vector<std::shared_ptr<const Matrix<double>>> of_column;
  for (std::size_t k = 0; k < shifts.size(); ++k) {
    const auto same = std::ranges::find(shifts, shifts[k]) - shifts.begin();
    of_column.push_back(same < std::ssize(of_column)
                            ? of_column[same]
                            : std::make_shared<const Matrix<double>>(factor(shifts[k], context)));
  }
  return [this, of_column = std::move(of_column),
          own = std::vector<double>(shifts.begin(), shifts.end())](MatrixView<double> R) {
    const Matrix<double> some(block_.rows(), 1);
    for (int64_t k = 0; k < R.cols; ++k) {
      for (int64_t a = 0; a < some.rows(); ++a) some(a, 0) = R(heavy_[a], k);
      linalg::cholesky_solve(of_column[k]->view(), some.view());
      for (int64_t j = 0; j < R.rows; ++j) R(j, k) /= diagonal_[j] + own[k];
      for (int64_t a = 0; a < some.rows(); ++a) R(heavy_[a], k) = some(a, 0);
    }
  };
}

double HeavyPreconditioner::effective_dimension(double shift, Context& context) const {
  double sum = static_cast<double>(block_.rows()) -
               shift * inverse_trace(factor(shift, context).view(), context);
  for (const double s : diagonal_) sum += s / (s + shift);
  return sum;
}

}  // namespace mercer::solver
