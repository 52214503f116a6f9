// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of kernels of several outputs, made of maps of one.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "feature/fourier.h"
#include "feature/map_entry.h"
#include "kernel/matrix_kernel.h"

namespace mercer::feature {

/// Further fields of the map fourier for a kernel with field_parts(): "bounded" and "root".
std::vector<Field> field_fourier_fields();
/// The map for such a kernel. Errors: UNSUPPORTED for another form than pair, for a projection that
/// cannot draw the kernel's distribution or that of "bounded" or weighs its columns, and for
/// "bounded" with any kernel but gaussian of one lengthscale; INVALID_ARGUMENT for a number of
/// features that is no multiple of field_features_step.
std::unique_ptr<FeatureMap> make_field_fourier(const MapArguments& arguments);
/// 2 q: a cosine and a sine of each frequency, times the columns of B(omega).
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
std::unique_ptr<FeatureMap> make_field_supplied(const kernel::Kernel& kernel,
                                                MatrixView<const double> frequencies,
                                                std::span<const double> weights,
                                                const SuppliedRoots& roots,
                                                const FourierOptions& options);

}  // namespace mercer::feature
