// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How far the kernel of an operator-valued Fourier map may be from the exact one, uniformly over a
// ball of inputs (Brault, Heinonen, d'Alche-Buc 2016, section 4 and appendix B.2).
// All are bounds of P(sup |K~ - K| >= epsilon) in the operator norm; F independent frequencies,
// which the paper calls D.
#pragma once

#include <cstdint>
#include <functional>

#include "base/aligned.h"
#include "base/views.h"
#include "feature/field_map.h"

namespace mercer::bound {

/// What the bounds use of a kernel.
struct OperatorConstants {
  double m = 0;          // >= E ||omega|| |A(omega)|
  double u = 0;          // corollary 31: >= 4 (|| |A| ||_psi1 + sup |K|); 32: >= sup |A| + sup |K|
  double v = 0;          // >= sup F |Var K~|
  double intrinsic = 1;  // >= Tr V / |V|, V an upper bound of the variance
  bool of_any_matrix = true;  // false: K~ - K is a number times a fixed matrix
};

/// Gaussian kernels of lengthscale sigma on R^d; A(omega) as in field_fourier.h.
struct GaussianOperator {
  enum class Kind { decomposable, curl_free, divergence_free };
  Kind kind = Kind::curl_free;
  bool bounded = false;  // the form of fields; decomposable kernels have one only
  int64_t d = 0;
  double sigma = 0;
  double norm = 1;       // decomposable: |Gamma|; fields: the kernel's variance
  double intrinsic = 1;  // decomposable: Tr Gamma^2 / |Gamma|^2
};
/// v is |E A^2|, which no variance exceeds. exponential: u for corollary 31 and proposition 46;
/// otherwise u for 32 and 47, UNSUPPORTED for unbounded forms of fields.
OperatorConstants gaussian_constants(const GaussianOperator& of, bool exponential);

/// || ||omega||^2 ||_psi1 for omega ~ N(0, I / sigma^2) in R^d: 2 / (sigma^2 (1 - 4^{-1/d})).
double squared_norm_psi1(int64_t d, double sigma);

struct OperatorBoundQuestion {
  int64_t d = 0, p = 0;
  double diameter = 0;  // |C|; of the inputs, not of their differences
  double epsilon = 0;
  OperatorConstants constants;
  double radius = 0;    // propositions 46, 47: r, and the number of balls of radius r that cover
  double covering = 0;  // the differences of C
};

/// 2^8 (s norm |C| / epsilon)^2 exp(-F epsilon^2 / (4 norm^2 (d + 2))), of a decomposable kernel:
/// s^2 = E ||omega||^2, norm = |Gamma|; norm 1: Rahimi, Recht 2007. Here and below a ball C with m
/// |C| < epsilon, m = s norm, counts as the larger one with m |C| = epsilon. Computed in
/// logarithms, so that no factor overflows; a bound beyond the range of double is infinite.
double corollary28(int64_t d, double s, double norm, double diameter, double epsilon, double F);
/// Sub-exponential A.
double corollary31(const OperatorBoundQuestion& question, double F);
/// Bounded A; infinite below the least epsilon of the inequality. p_int is the least of 2 p_int and
/// max(p_int, p/2): the paper bounds the largest eigenvalue where it says the norm.
double corollary32(const OperatorBoundQuestion& question, double F);
/// Corollaries 31 and 32 with a covering that the caller gives.
double proposition46(const OperatorBoundQuestion& question, double F);
double proposition47(const OperatorBoundQuestion& question, double F);

/// The least F >= 1 with bound(F) <= delta for a bound that falls in F. UNSUPPORTED above 2^53.
int64_t least_frequencies(const std::function<double(double F)>& bound, double delta);

/// Proposition 33 for a p x p kernel at tau: (1/2F) ((K(2 tau) + K(0)) E[A] - 2 K(tau)^2 + 2
/// Var[A]); the paper prints Var[A] once, which fails at tau = 0. The product with E[A] is replaced
/// by its symmetric part, which is the same where all axes have one lengthscale.
struct VarianceBoundParts {
  MatrixView<const double> at_tau, at_twice, at_zero;  // K(tau), K(2 tau), K(0)
  MatrixView<const double> mean, variance;             // of A(omega)
};
Matrix<double> proposition33(const VarianceBoundParts& parts, double F);

// Proposition 33 of Brault, Heinonen, d'Alche-Buc 2016 for a map and pairs of rows.

/// Row i of out, p p numbers: the bound on the operator variance E (K~ - K)^2 at (X_i, Y_i); where
/// all A(omega) are one matrix, the variance itself. O(d^3) a row. Errors: those of
/// FeatureMap::variances.
void operator_variance_bound(const feature::FieldMap& map, MatrixView<const double> X,
                             MatrixView<const double> Y, Context& context, MatrixView<double> out);

}  // namespace mercer::bound
