// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Without row i the mean of n targets e of mean 0 is -e_i/(n - 1), so that the others are learnt
// e_i/(n - 1) higher. The residual of row i left out is linear in the targets: it is
//   r_i + e_i/(n - 1) u_i,   u the residuals left out of the target 1.
// In the basis of Gamma (stein.h) this holds for each output by itself, u at its own lambda / g.
#include "model/outputs/operator_means.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"

namespace mercer::model {
namespace {

using linalg::Transpose;

constexpr const char* kWhat = "means of the rows that are left";

/// For each lambda the outputs of a basis, and beside them as often the last output, 1.
struct Shifted {
  Matrix<double> M;
  std::vector<double> lambdas;

  Shifted(const solver::OutputBasis& basis, std::span<const double> of, Context& context)
      : M(basis.outputs() + 1,
          checked_multiply(2 * basis.outputs(), static_cast<int64_t>(of.size()), kWhat), context,
          kWhat) {
    const int64_t p = basis.outputs();
    M.fill(0);
    for (int64_t j = 0; j < M.cols(); ++j) {
      const int64_t k = j % (2 * p);
      for (int64_t o = 0; o < p && k < p; ++o) M(o, j) = basis.Q()(o, k);
      if (k >= p) M(p, j) = 1;
    }
    for (const double lambda : of)
      for (int twice = 0; twice < 2; ++twice)
        for (const double own : basis.lambdas(lambda)) lambdas.push_back(own);
  }
};

/// Sums of squares for each lambda of residuals e, as Shifted has them, of rows whose targets in
/// the basis are T.
void add_squares(MatrixView<const double> e, MatrixView<const double> T, double others,
                 MatrixView<double> sums) {
  const int64_t p = T.cols;
  for (int64_t i = 0; i < e.rows; ++i)
    for (int64_t l = 0; l < sums.cols; ++l)
      for (int64_t j = 0; j < p; ++j) {
        const int64_t at = 2 * p * l + j;
        const double r = e(i, at) + T(i, j) / others * e(i, at + p);
        sums(0, l) += r * r;
      }
}

}  // namespace

Matrix<double> with_ones(MatrixView<const double> Y, Context& context) {
  Matrix<double> more(Y.rows, Y.cols + 1, context, kWhat);
  more.fill(1);
  for (int64_t i = 0; i < Y.rows; ++i) std::copy_n(Y.row(i), Y.cols, more.view().row(i));
  return more;
}

Matrix<double> leave_one_out_error(const solver::RidgePath& path, const solver::OutputBasis& basis,
                                   std::span<const double> lambdas, const solver::BlockSource& rows,
                                   Context& context) {
  const int64_t n = rows.rows(), p = basis.outputs();
  require(n >= 2, MERCER_INVALID_ARGUMENT,
          "%lld rows, expected at least 2: of one there is no mean without it",
          static_cast<long long>(n));
  const Shifted shifted(basis, lambdas, context);
  Matrix<double> errors(1, std::ssize(lambdas));
  errors.fill(0);
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    const Matrix<double> T(block.Y.rows, p, context, kWhat);
    linalg::multiply(1.0, Transpose::no, block.Y.block_cols(0, p), Transpose::no, basis.Q(), 0.0,
                     T.view());
    const Matrix<double> e =
        path.leave_one_out({shifted.M.view(), shifted.lambdas}, block.Z, block.Y, context);
    add_squares(e.view(), T.view(), static_cast<double>(n - 1), errors.view());
  });
  for (int64_t l = 0; l < errors.cols(); ++l) errors(0, l) /= static_cast<double>(n * p);
  return errors;
}

Matrix<double> held_out_error(solver::RowStatistics&& others, const solver::RowStatistics& fold,
                              const solver::OutputBasis& basis, std::span<const double> lambdas,
                              Context& context) {
  const int64_t p = basis.outputs(), D = others.features();
  std::vector<double> mean;
  for (size_t o = 0; o <= static_cast<size_t>(p); ++o)
    mean.push_back(others.origin_outputs()[o] + others.sum_outputs()[o] / others.weight());
  const Matrix<double> M(p + 1, p, context, kWhat);  // (y - mean) Q, of y and 1
  M.fill(0);
  for (int64_t o = 0; o < p; ++o)
    for (int64_t j = 0; j < p; ++j) {
      M(o, j) = basis.Q()(o, j);
      M(p, j) -= mean[static_cast<size_t>(o)] * basis.Q()(o, j);
    }
  const solver::RidgePath path(std::move(others), false, context);
  Matrix<double> errors(1, std::ssize(lambdas));
  for (int64_t l = 0; l < errors.cols(); ++l) {
    const std::vector<double> own = basis.lambdas(lambdas[static_cast<size_t>(l)]);
    const solver::Weights rotated = path.solve({M.view(), own}, context);
    const solver::Weights weights{Matrix<double>(D, p + 1, context, kWhat), mean};
    weights.w.fill(0);
    linalg::multiply(1.0, Transpose::no, rotated.w.view(), Transpose::yes, basis.Q(), 0.0,
                     weights.w.view().block_cols(0, p));
    errors(0, l) = 0;  // of the output 1, whose mean is 1, there is none
    for (const double error : solver::mean_squared_error(weights, fold))
      errors(0, l) += error / static_cast<double>(p);
    context.checkpoint();
  }
  return errors;
}

}  // namespace mercer::model
