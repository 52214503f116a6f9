// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Least squares under x >= 0, for small problems whose solution decides parameters: scalar code,
// the same bits on every machine, without LAPACK.
#pragma once

#include <span>
#include <vector>

#include "base/views.h"

namespace mercer::linalg {

/// The x >= 0 that minimises x'Gx/2 - b'x, G symmetric and positive semidefinite: entries whose
/// gradient is below `tolerance` stay 0, and so do those that G makes a combination of others, to
/// rounding. O(k^3) for each of the about k steps, k the number of entries above 0.
std::vector<double> non_negative_least_squares(MatrixView<const double> G,
                                               std::span<const double> b, double tolerance);

}  // namespace mercer::linalg
