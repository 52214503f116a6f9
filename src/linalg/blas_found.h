// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which BLAS does the products and factorisations, as it says itself.
#pragma once

#include <string>

namespace mercer::linalg {

struct BlasFound {
  std::string version;  // and how it was built
  std::string core;     // whose kernels run here
  int threads;          // of the process: this library leaves them alone
};

BlasFound blas_found();

}  // namespace mercer::linalg
