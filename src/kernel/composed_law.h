// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Spectral laws of sums and products of shift-invariant kernels: a mixture, since Fourier
// transforms add up, and the law of a sum of frequencies, since those of products are convolved.
#pragma once

#include <memory>
#include <span>

#include "kernel/kernel.h"
#include "random/law.h"

namespace mercer::kernel {

using KernelParts = std::span<const std::shared_ptr<const Kernel>>;

/// The law of a part drawn with probability k_i(0) / sum_j k_j(0); isotropic where all parts are,
/// over one lengthscale each, and a mixture of products where they are products or mixtures. Null
/// unless every part has a spectral law and takes rows as they are.
std::unique_ptr<const random::Law> mixture_of(KernelParts parts);

/// The law of the sum of one frequency per part; isotropic where all parts are, over one
/// lengthscale each, and at most one of their scales is random. Null as above, and if the law of a
/// part is neither isotropic nor a product.
std::unique_ptr<const random::Law> convolution_of(KernelParts parts);

}  // namespace mercer::kernel
