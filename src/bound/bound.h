// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Theoretical bounds: {"bound": NAME, ...}. Each file has a theorem's formula, its keys, and the
// quantities of a kernel that the formula takes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parameters.h"
#include "base/views.h"
#include "feature/field_map.h"
#include "kernel/kernel.h"

namespace mercer::bound {

struct BoundEntry {
  const char* name;
  const char* help;
  std::vector<Field> fields;
  /// The asked parameters followed by the answers.
  Parameters (*answer)(Parameters asked);
};
std::span<const BoundEntry> bound_table();
/// The key "bound", which names an entry, and it with the entry's own fields.
Field bound_name_field();
std::vector<Field> bound_fields(const BoundEntry& entry);

/// Bounds of P(sup |K~ - K| >= epsilon).
BoundEntry derivative_bound_entry();
BoundEntry decomposable_bound_entry();
BoundEntry bounded_features_entry();
BoundEntry unbounded_features_entry();
/// Bounds of the error of kernel values.
BoundEntry uniform_bound_entry();
BoundEntry expected_bound_entry();
BoundEntry sketch_bound_entry();
/// How many random features learn as well as the kernel.
BoundEntry ridge_bound_entry();
BoundEntry excess_risk_bound_entry();
BoundEntry kernel_pca_bound_entry();

/// The field without its default.
inline Field required(Field field) {
  field.fallback = {};
  return field;
}
/// Keys that more than one entry has.
Field optional_above_zero(const char* key, const char* help);
Field bound_kernel_field(const char* help);
std::vector<Field> bound_size_fields();  // "inputs", and "frequencies", given or answered
std::unique_ptr<kernel::Kernel> bound_kernel(const Parameters& asked);
/// Which of two keys is given: true for the first. Errors: INVALID_ARGUMENT for both or none.
bool is_first_given(const Parameters& asked, const char* first, const char* second);
/// Sets an answer. INVALID_ARGUMENT naming it unless it is finite.
void set_answer(Parameters& asked, const char* key, double value);

/// The least F >= 1 for which `holds` is true, as it then is for all larger F; UNSUPPORTED if there
/// is none up to 2^53. `name` and `value`: what was asked for, in the message.
template <class Holds>
int64_t least_where(const Holds& holds, const char* name, double value) {
  constexpr int64_t kMost = int64_t{1} << 53;
  require(holds(kMost), MERCER_UNSUPPORTED, "%s = %g needs more than 2^53 frequencies by the bound",
          name, value);
  int64_t low = 0, high = kMost;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

// How far inner products of derivatives of Fourier features may be from the kernel's derivatives,
// uniformly over a set (Szabo, Sriperumbudur 2019, theorem and remarks of section 3).

/// Constants of the derivative (p, q) of a kernel of d inputs and variance 1.
struct SpectralConstants {
  double sigma;      // sigma_{p,q} = (E |omega^{p+q}|^2)^{1/2}
  double ratio;      // C_{p,q} = (E |omega^{p+q}|^2 ||omega||^2)^{1/2} / sigma
  double bernstein;  // the least K >= 1 with A_n <= n!/2 K^{n-2} for n = 2, 3, ...
};
/// UNSUPPORTED unless the kernel has a spectrum of the form of kernel::EvenPowerSpectrum, and where
/// no K exists: |p| + |q| above twice its order.
SpectralConstants spectral_constants(const kernel::Kernel& kernel, int64_t d,
                                     const kernel::MultiIndex& order);

/// A_n = E |omega^order|^n / (E |omega^order|^2)^{n/2}, whether or not Bernstein's condition holds.
double moment_ratio(const kernel::Kernel& kernel, const kernel::MultiIndex& order, int64_t n);

struct BoundQuestion {
  int64_t d;
  double diameter;   // |S| > 0
  double delta;      // the bound fails with probability at most this
  double norm = 0;   // r of the norm L^r over S x S; 0: uniform
  double bernstein;  // K
};
/// The theorem's bound for F frequencies, times the kernel's variance.
double derivative_bound(const kernel::Kernel& kernel, const SpectralConstants& constants,
                        const BoundQuestion& question, int64_t F);
/// The least F whose bound is at most epsilon; UNSUPPORTED if that is above 2^53.
int64_t least_frequencies(const kernel::Kernel& kernel, const SpectralConstants& constants,
                          const BoundQuestion& question, double epsilon);

// How far the kernel of an operator-valued Fourier map may be from the exact one, uniformly over a
// ball of inputs (Brault, Heinonen, d'Alche-Buc 2016, section 4 and appendix B.2).
// All are bounds of P(sup |K~ - K| >= epsilon) in the operator norm; F independent frequencies,
// which the paper calls D.

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
