// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Estimated cost of decompositions of D x D matrices, in rows added to Z'Z (D^2 products each), for
// progress.
#pragma once

#include <cstdint>

namespace mercer::solver {

/// 10 D^3 products, half of them at the speed of memory.
inline int64_t eigen_rows(int64_t D) noexcept { return 8 * D; }
/// D^3/3 products.
inline int64_t cholesky_rows(int64_t D) noexcept { return D / 3 + 1; }

}  // namespace mercer::solver
