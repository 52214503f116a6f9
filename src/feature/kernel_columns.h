// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#pragma once

namespace mercer::feature {

class FeatureMap;

/// A map whose columns are the kernel's values with rows that it keeps, k(x, x_j). Their inner
/// products are not k: weights a on them have the norm a'K a, and ridge with that norm is kernel
/// ridge itself.
class KernelColumns {
 public:
  virtual ~KernelColumns() = default;
};

bool has_kernel_columns(const FeatureMap& map) noexcept;

}  // namespace mercer::feature
