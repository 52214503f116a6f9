// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a fit by passes over the rows (iterative_path.h) took.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/numbers.h"

namespace mercer::solver {

struct SolverRun {
  int64_t iterations = 0;
  double residual = kNaN;  // NaN: there were no passes
  double seconds = kNaN;   // not kept in files
  bool known() const noexcept { return !std::isnan(residual); }
};

}  // namespace mercer::solver
