// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z'WZ of rows as an operator that needs neither them nor D^2 numbers, for conjugate gradients.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "linalg/conjugate_gradient.h"

namespace mercer::solver {

/// Sums over the rows of all processes.
struct NormalSums {
  std::unique_ptr<const linalg::LinearOperator> gram;  // Z'WZ
  std::vector<double> diagonal;                        // of Z'WZ
  std::vector<int64_t> heavy;                          // columns whose products are large
  Matrix<double> block;                                // these products, the lower triangle
  double weight = 0;                                   // n, of W
  std::vector<double> features;                        // Z'W1
  std::vector<double> origin, outputs;                 // (Y - 1 origin')'W1
  Matrix<double> cross;                                // Z'W(Y - 1 origin'), D x outputs
};

/// Z'WZ - n m m', m the mean row of Z or, without centring, zeros.
class CentredGram final : public linalg::LinearOperator {
 public:
  CentredGram(std::unique_ptr<const linalg::LinearOperator> gram, double weight,
              std::vector<double> mean)
      : gram_(std::move(gram)), weight_(weight), mean_(std::move(mean)) {}
  int64_t rows() const override { return gram_->rows(); }

 private:
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> Y) const override;
  std::unique_ptr<const linalg::LinearOperator> gram_;
  double weight_;
  std::vector<double> mean_;
};

/// Approximate inverses of H + shift_k I for column k, H the centred Z'WZ: of the heavy columns'
/// block by its Cholesky factor, of the others by the diagonal. Memory: 8 h^2 bytes for h heavy
/// columns, and as many for each shift.
class HeavyPreconditioner {
 public:
  static constexpr int64_t kMostIterations = 20000;  // which pass over no rows
  HeavyPreconditioner(NormalSums& sums, std::span<const double> mean);
  linalg::BlockPreconditioner at(std::span<const double> shifts, Context& context) const;
  /// Of Tr H (H + shift I)^{-1}.
  double effective_dimension(double shift, Context& context) const;

 private:
  Matrix<double> factor(double shift, Context& context) const;
  std::vector<int64_t> heavy_;
  Matrix<double> block_;
  std::vector<double> diagonal_;  // 0 of heavy columns
};

}  // namespace mercer::solver
