// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge on an operator-valued map for a whole path of lambdas from one eigendecomposition: of sum_i
// Phi(x_i) Phi(x_i)' (r x r), or of the Gram matrix of the m observed targets where m < r.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "feature/field/field_map.h"

namespace mercer::model {

class OperatorPath {
 public:
  /// X N x d and Y N x p, NaN where a target is missing, are referred to. Cost: N D^2 + r^3, with
  /// gaps N p r^2 + r^3, for m < r m^2 r + m^3; memory: bytes. Errors: INVALID_ARGUMENT if no
  /// target was observed; those of linalg::symmetric_eigen.
  OperatorPath(const feature::FieldMap& map, MatrixView<const double> X, MatrixView<const double> Y,
               Context& context);
  /// min(r, m): what a path costs the cube of.
  static int64_t size(const feature::FieldMap& map, MatrixView<const double> Y);
  /// What a path and its leave_one_out of so many rows take at most: with k = size 24 k^2, for m <
  /// r 8 m r, else 8 D^2 more, and blocks: each of 8 MiB or a row's p r numbers, and of N rows.
  static int64_t bytes(const feature::FieldMap& map, MatrixView<const double> Y, int64_t rows);

  /// Mean squared error of an observed target of `rows` (ascending) for each lambda > 0, the row
  /// with all its targets left out and N lambda kept; infinite where the fit passes through a row
  /// whatever its targets. With q observed targets a row and k = min(r, m) a row costs q k^2, for
  /// m < r nothing, and q (q + 3)/2 k for each lambda.
  std::vector<double> leave_one_out(std::span<const double> lambdas, std::span<const int64_t> rows,
                                    Context& context) const;
  /// Minimises (1/N) sum |f(x_i) - y_i|^2 / 2 + lambda/2 |theta|^2, lambda > 0.
  void solve(double lambda, Context& context, std::span<double> theta) const;

 private:
  void decompose_features(Context& context);
  void decompose_targets(Context& context);
  /// Observed rows of Phi', by row and output; the matrix of all outputs is had by blocks of rows.
  Matrix<double> explicit_rows(std::span<const int64_t> rows, Context& context) const;
  Matrix<double> projected(std::span<const int64_t> rows, Context& context) const;
  /// append_products of rows; how many rows of out they fill.
  int64_t write_products(std::span<const int64_t> rows, Context& context,
                         MatrixView<double> out) const;
  /// Squared residuals of a row from the sums that its products have at a lambda; M, e: scratch.
  double row_error(int64_t row, double lambda, const std::vector<double>& sums,
                   std::vector<double>& M, std::vector<double>& e) const;
  int64_t count(int64_t row) const { return first_[row + 1] - first_[row]; }

  const feature::FieldMap& map_;
  MatrixView<const double> X_, Y_;
  std::vector<int64_t> first_;  // of row i among the observed targets; N + 1 numbers
  bool dual_ = false;
  Matrix<double> V_;                // row j: eigenvector j
  std::vector<double> s_, turned_;  // eigenvalues; V A'y, or V y
};

}  // namespace mercer::model
