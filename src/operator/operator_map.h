// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random features of operator-valued kernels (Brault, Heinonen, d'Alche-Buc 2016; SPEC section 8)
// as linear operators. A map is a scalar Fourier map z of D = 2F columns [cos | sin] and roots B_j:
//   Phi(x) y, of r = D q coefficients: entry c q + b is z_c(x) (B_j'y)_b, j = c mod F;
// Phi(x)'Phi(z) estimates K(x, z). Immutable once made.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/matrix_view.h"
#include "base/number_array.h"
#include "base/parameters.h"
#include "base/result_view.h"
#include "base/rows.h"
#include "feature/feature_map.h"
#include "operator/field_weights.h"
#include "operator/frequencies.h"
#include "operator/frequency_root.h"
#include "operator/operator_kernel.h"

namespace mercer::operators {

/// Row i of out, p p numbers: E (K~ - K)^2 of the pair X_i, Y_i.
using RowVariance = std::function<void(MatrixView<const double> X, MatrixView<const double> Y,
                                       Context& context, MatrixView<double> out)>;

struct OperatorParts {
  Parameters parameters;                         // the canonical spec
  std::shared_ptr<const OperatorKernel> kernel;  // null: the caller's own B(omega)
  std::shared_ptr<const feature::FeatureMap> scalar;
  std::shared_ptr<const FrequencyRoot> root;
  /// omega_j, F x d; UNSUPPORTED where a row is warped before it is projected.
  std::shared_ptr<const Frequencies> frequencies;
  RowVariance variance;              // UNSUPPORTED without a closed form
  double dropped = 0;                // OutputRoot::dropped
  std::vector<NumberArray> numbers;  // what the spec cannot hold
};

class OperatorMap {
 public:
  explicit OperatorMap(OperatorParts parts);

  const Parameters& parameters() const noexcept { return parts_.parameters; }
  const OperatorKernel* kernel() const noexcept { return parts_.kernel.get(); }
  const feature::FeatureMap& scalar() const noexcept { return *parts_.scalar; }
  const std::vector<NumberArray>& numbers() const noexcept { return parts_.numbers; }
  int64_t inputs() const noexcept { return scalar().inputs(); }           // d
  int64_t outputs() const noexcept { return parts_.root->outputs(); }     // p
  int64_t features() const noexcept { return scalar().features(); }       // D
  int64_t width() const noexcept { return parts_.root->width(); }         // q
  int64_t coefficients() const noexcept { return features() * width(); }  // r
  double dropped() const noexcept { return parts_.dropped; }
  /// B (p x q) where it is the same for all frequencies, else no rows.
  MatrixView<const double> shared_root() const noexcept { return parts_.root->shared(); }

  /// C, D x p: Phi(x)'theta = C'z(x) for one theta, r numbers. Cost: D p q.
  Matrix<double> output_weights(MatrixView<const double> theta, Context& context) const;

  /// out row i: for each column theta_k of theta (r x m) the numbers of `kind` of the field f_k(x)
  /// = Phi(x)'theta_k at X_i, one after the other; of the precision of X. A row of out depends on
  /// its row of X alone, bit for bit, whatever the split of rows and the number of threads; NaN
  /// stays in its row. Cost for values: D d + D p m a row (decomposable D d + (D + p) q m), D p q m
  /// once; memory a block of features, D p m numbers. Errors: DIMENSION_MISMATCH; UNSUPPORTED
  /// (field_numbers); OUT_OF_MEMORY, CANCELLED.
  void apply(const Rows& X, MatrixView<const double> theta, FieldKind kind, Context& context,
             const ResultView& out) const;

  /// theta (r x m) = sum_i Phi(X_i) Y_i, a row of Y holding m vectors of p numbers one after the
  /// other; Y dense, of the precision of X. The number of threads changes no bit. Cost as of apply;
  /// memory a block of features, D p m numbers.
  void adjoint(const Rows& X, const Rows& Y, Context& context, MatrixView<double> theta) const;

  /// Row i p + o of out (n p x r) is row o of Phi(X_i)'. Cost: n p r.
  void matrix(const Rows& X, Context& context, MatrixView<double> out) const;

  /// H (r x r) = sum_i Phi(X_i) Phi(X_i)'. Cost: n D^2 + r^2 p.
  void gram(const Rows& X, Context& context, MatrixView<double> H) const;

  /// Row i of out, p p numbers: E (K~ - K)^2 at (X_i, Y_i). Errors: UNSUPPORTED without a
  /// closed form, CANCELLED.
  void variance(MatrixView<const double> X, MatrixView<const double> Y, Context& context,
                MatrixView<double> out) const;

 private:
  Matrix<double> weights(MatrixView<const double> theta, FieldKind kind, Context& context) const;
  template <class View>
  void apply_rows(const View& X, MatrixView<const double> W, Context& context,
                  MatrixView<RowNumberOf<View>> out, bool through_root) const;
  template <class View>
  void add_adjoint(const View& X, const Rows& Y, Context& context, MatrixView<double> sums) const;
  void check_theta(MatrixView<const double> theta) const;
  /// Prepared.
  const FrequencyRoot& root(Context& context) const;

  OperatorParts parts_;
};

}  // namespace mercer::operators
