// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The threads of BLAS. They are the process's own, so that the library leaves them alone; the
// command has its process to itself.
#pragma once

#include <cstdint>

namespace mercer::cli {

/// At most `threads` from now on; 0: as many as there are. Fewer that OPENBLAS_NUM_THREADS asks for
/// stay. Nothing for a BLAS that is not OpenBLAS.
void limit_blas_threads(int32_t threads);

}  // namespace mercer::cli
