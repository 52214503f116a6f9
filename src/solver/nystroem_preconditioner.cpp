// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Frangella, Tropp, Udell 2023, algorithm 2.1: with G Gaussian and Y = (H + nu I) G, H is about
// Y (G'Y)^{-1} Y' - nu I, whose eigenvectors are the left singular vectors of B = Y C^{-T},
// G'Y = C C'. Their G is orthogonal, which only improves the condition of G'Y; a tall Gaussian
// matrix is well conditioned, too. The singular vectors come from B'B: eigenvalues near eps of the
// largest are lost, but are dropped anyway.
#include "solver/nystroem_preconditioner.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "random/distributions.h"
#include "random/stream.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;

constexpr const char* kPreconditioner = "a sketch for conjugate gradients";
constexpr double kLeastShare = 1e-12;  // of the largest eigenvalue

/// rows x cols standard normals, a stream per row.
Matrix<double> gaussian(int64_t rows, int64_t cols, uint64_t seed, Context& context) {
  Matrix<double> G(rows, cols, context, kPreconditioner);
  for (int64_t i = 0; i < rows; ++i)
    random::fill_normal({seed, random::Tag::probe, static_cast<uint64_t>(i)}, 0,
                        {G.view().row(i), static_cast<std::size_t>(cols)});
  return G;
}

}  // namespace

NystroemPreconditioner::NystroemPreconditioner(const linalg::LinearOperator& H, int64_t rank,
                                               uint64_t seed, Context& context) {
  const int64_t r = H.rows();
  require(rank >= 1 && rank <= r, MERCER_INVALID_ARGUMENT,
          "rank = %ld, expected 1 to %ld, the operator's size", rank, r);
  const Matrix<double> G = gaussian(r, rank, seed, context), Y(r, rank, context, kPreconditioner);
  H.apply(G.view(), context, Y.view());
  double square = 0;
  for (int64_t i = 0; i < r * rank; ++i) square += Y.data()[i] * Y.data()[i];
  const double nu = kEpsilon * std::sqrt(square);
  for (int64_t i = 0; i < r * rank; ++i) Y.data()[i] += nu * G.data()[i];
  Matrix<double> core(rank, rank, context, kPreconditioner),
      basis(rank, r, context, kPreconditioner);
  linalg::multiply(1.0, Transpose::yes, G.view(), Transpose::no, Y.view(), 0.0, core.view());
  require(linalg::cholesky(core.view()) == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "the sketch of rank %ld is not positive definite, expected an operator that is", rank);
  for (int64_t i = 0; i < r; ++i)
    for (int64_t j = 0; j < rank; ++j) basis(j, i) = Y(i, j);
  linalg::triangular_solve(core.view(), basis.view());
  linalg::multiply(1.0, Transpose::no, basis.view(), Transpose::yes, basis.view(), 0.0,
                   core.view());
  std::vector<double> squares(rank);
  linalg::symmetric_eigen(core.view(), squares, context);
  const auto first = std::ranges::upper_bound(squares, kLeastShare * squares.back());
  const auto dropped = first - squares.begin();
  for (auto at = first; at != squares.end(); ++at) eigenvalues_.push_back(std::max(0.0, *at - nu));
  basis_ = Matrix<double>(this->rank(), r, context, kPreconditioner);
  linalg::multiply(1.0, Transpose::no, core.view().block_rows(dropped, rank), Transpose::no,
                   basis.view(), 0.0, basis_.view());
  for (int64_t j = 0; j < basis_.rows(); ++j) {
    const double size = std::sqrt(first[j]);
    for (int64_t i = 0; i < r; ++i) basis_(j, i) /= size;
  }
}

void NystroemPreconditioner::apply(double shift, MatrixView<double> R) const {
  if (eigenvalues_.empty()) return;
  const Matrix<double> C(rank(), R.cols);
  linalg::multiply(1.0, Transpose::no, basis_.view(), Transpose::no, R, 0.0, C.view());
  for (int64_t j = 0; j < C.rows(); ++j) {
    const double factor = (eigenvalues_.front() + shift) / (eigenvalues_[j] + shift) - 1;
    for (int64_t k = 0; k < C.cols(); ++k) C(j, k) *= factor;
  }
  linalg::multiply(1.0, Transpose::yes, basis_.view(), Transpose::no, C.view(), 1.0, R);
}

}  // namespace mercer::solver
