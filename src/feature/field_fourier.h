// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of kernels of several outputs, made of maps of one, and those of supplied frequencies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/parameters.h"
#include "feature/field_map.h"
#include "feature/fourier.h"
#include "feature/frequencies.h"
#include "feature/map_entry.h"
#include "kernel/kernel.h"
#include "kernel/matrix_kernel.h"

namespace mercer::feature {

/// Further fields of the map fourier for a kernel with field_parts(): "bounded" and "root".
std::vector<Field> field_fourier_fields();
/// The map for a kernel with field_parts(). Errors: UNSUPPORTED for another form than pair, for a
/// projection that cannot draw the kernel's distribution or that of "bounded" or weighs its
/// columns, and for "bounded" with any kernel but gaussian of one lengthscale; INVALID_ARGUMENT for
/// a number of features that is no multiple of field_features_step.
std::unique_ptr<FeatureMap> make_field_fourier(const MapArguments& arguments);
/// The number 2 q of features of a frequency: its cosine and its sine, times the q columns of
/// B(omega).
int64_t field_features_step(const MapArguments& arguments);

/// The map for a kernel k Gamma: any real map of k, and a root of Gamma.
std::unique_ptr<FeatureMap> make_decomposable_map(std::shared_ptr<const kernel::Kernel> kernel,
                                                  std::shared_ptr<const FeatureMap> scalar);

/// The caller's own frequencies and roots: `roots` holds F matrices B_j, p x q, one after the
/// other; the estimate is k(0) sum_j w_j cos(omega_j'(x - y)) B_j B_j', `kernel` and the rest as of
/// make_fourier_supplied. INVALID_ARGUMENT for numbers that are not finite; UNSUPPORTED for another
/// form than pair.
inline constexpr const char* kRoots = "roots";  // its name in numbers()
struct SuppliedRoots {
  int64_t p;
  int64_t q;
  std::span<const double> numbers;
};
/// B_j of F matrices A_j = B_j B_j', p x p and one below the other, of as many columns as the largest
/// rank, by Cholesky factors with pivots (kernel::output_root); zeros behind. Errors:
/// DIMENSION_MISMATCH; those of output_root, naming j.
Matrix<double> roots_of_squares(MatrixView<const double> A, int64_t F);
std::unique_ptr<FeatureMap> make_field_supplied(const kernel::Kernel& kernel,
                                                MatrixView<const double> frequencies,
                                                std::span<const double> weights,
                                                const SuppliedRoots& roots,
                                                const FourierOptions& options);

// Fourier features of the caller's own frequencies.

/// Row j of W (F x d) is omega_j; weights: F numbers, or none (1/F each).
struct SuppliedFrequencies {
  MatrixView<const double> W;
  std::span<const double> weights = {};
  std::optional<SuppliedRoots> roots = {};
};

/// The map of a spec, whose "map", "inputs" and "features" may be left out. Errors:
/// DIMENSION_MISMATCH where these differ from the frequencies'; UNSUPPORTED for a map or a
/// projection that takes none; those of make_fourier_supplied and make_field_supplied.
std::unique_ptr<FeatureMap> make_supplied(Parameters given, const kernel::Kernel* kernel,
                                          const SuppliedFrequencies& supplied);

// Roots of A(omega) = curl omega omega' + divergence (||omega||^2 I - omega omega').

/// The root of the divergence-free part: ||omega|| I - omega omega'/||omega||, p x p; or ||omega||
/// times an orthonormal basis of the complement of omega, p x (p - 1).
enum class DivergenceRoot { symmetric, orthonormal };

/// Whether A has a divergence-free part for some mixture; if not there is no root to choose.
bool has_divergence(const kernel::Kernel& kernel);

/// q for p outputs.
int64_t field_root_width(int64_t p, const kernel::FieldParts& parts, DivergenceRoot kind);

/// The root, with as many outputs as omega_j has inputs. length > 0 replaces the norm of every
/// omega_j in A (bounded forms). Columns: sqrt(curl) omega, then sqrt(divergence) times the root of
/// the divergence-free part; a part of weight 0 has none.
std::unique_ptr<const FrequencyRoot> make_field_root(std::shared_ptr<const Frequencies> omega,
                                                     const kernel::FieldParts& parts, double length,
                                                     DivergenceRoot kind);

// E (K~ - K)^2, a p x p matrix, of operator-valued random features with F i.i.d. frequencies.

/// Variance of K~ = (1/F) sum_j cos(omega_j'tau) A(omega_j), A as FieldParts says:
///   (M(0) + M(2 tau))/(2F) - K(tau)^2/F,  M(t) = E cos(omega't) A(omega)^2.
class FieldVariance {
 public:
  /// `total` = 0 is the unbounded form: omega from the kernel's spectral density. Otherwise the
  /// bounded form: omega from a density proportional to ||omega||^2 times it, A over ||omega||^2
  /// times `total` = E ||omega||^2, and M = total E cos(omega't) A(omega)^2/||omega||^2.
  FieldVariance(const kernel::Kernel& kernel, const kernel::FieldParts& parts, double total,
                int64_t d, int64_t F);
  void at(const double* x, const double* y, MatrixView<double> out);

 private:
  void add_moment(const double* x, const double* y, MatrixView<double> out);

  kernel::SpectralMoments moments_;
  kernel::FieldParts parts_;
  double amplitude_;
  double total_;
  double F_;
  Matrix<double> K_;
  std::vector<double> doubled_;  // 2 tau, and 0
};

}  // namespace mercer::feature
