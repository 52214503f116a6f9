// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Checks of kernel parameters, shared by the makers and the lengthscale conversions.
#pragma once

#include <vector>

namespace mercer::kernel {

/// INVALID_ARGUMENT naming `name` and the value unless it is positive and finite.
void require_positive(const char* name, double value);
/// Returns the list if it is not empty and all its numbers are lengthscales, else INVALID_ARGUMENT.
std::vector<double> checked_lengthscale(std::vector<double> lengthscale);

}  // namespace mercer::kernel
