// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of Nystroem features in the log lengthscales of the kernel: of its values with the
// landmarks, which are held fixed, and of the root, which depends on the values among landmarks.
#pragma once

#include <span>

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/nystroem_derivative.h"

namespace mercer::feature {

/// UNSUPPORTED for a kernel without lengthscale or derivatives; a kernel matrix of the landmarks of
/// lower rank, whose root changes with eigenvectors that were cut off; and a root that is not
/// triangular, as in older files.
void require_lengthscale_slopes(const NystroemParts& parts, int64_t rank);

/// each[k] = dL/d log l_k, one for each input, G = dL/dZ. Sums in double, rows ascending. Memory:
/// three times D^2 numbers, and blocks of 1,024 rows of 2 D + d. Cost: D^2 for each row, and 2 D^3.
template <class T>
void pull_rows_to_lengthscale(const NystroemParts& parts, MatrixView<const T> X,
                              MatrixView<const T> G, Context& context, std::span<double> each);

}  // namespace mercer::feature
