// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The state of a RidgePath. Private to solver.
#pragma once

#include <vector>

#include "solver/centering.h"
#include "solver/ridge.h"

namespace mercer::solver {

struct RidgePath::State {
  RowStatistics statistics;  // centred; gram() holds V', row i eigenvector i
  Means means;
  int64_t centered = 0;        // 1 when an intercept is fitted
  std::vector<double> values;  // eigenvalues s, ascending
  Matrix<double> projected{};  // c = V'Z'Y, D x outputs
  std::vector<double>
      outside{};          // per output: squared norm of the part of Y outside Z's column space
  double null_level = 0;  // eigenvalues up to this are rounding errors

  MatrixView<const double> vectors() const { return statistics.gram(); }
  int64_t features() const { return statistics.features(); }
  int64_t outputs() const { return statistics.outputs(); }

  /// 1/(s + n lambda), or 0 in a numerically null direction.
  double inverse(std::size_t i, double shift) const {
    return values[i] + shift > null_level ? 1 / (values[i] + shift) : 0;
  }
  /// n - Tr H, the intercept included, without cancellation: the sum of n lambda/(s + n lambda)
  /// plus the unused degrees.
  double residual_degrees(double shift) const;
  std::vector<double> residual_sum_of_squares(double shift) const;

  /// 1/(s + n lambda) for a combination, D x columns; and these times V'Z'Y M.
  Matrix<double> inverses(const Combination& of, Context& context) const;
  Matrix<double> filtered(const Combination& of, Context& context) const;

  struct LeftOut;  // all in leave_one_out.cpp
  LeftOut prepare_left_out(std::span<const double> lambdas, Context& context) const;
  template <class Targets>
  Matrix<double> left_out(const LeftOut& factors, MatrixView<const double> Z,
                          const Targets& targets, std::span<const double> weights,
                          Context& context) const;
};

/// M' of.
std::vector<double> combined(std::span<const double> of, MatrixView<const double> M);

}  // namespace mercer::solver
