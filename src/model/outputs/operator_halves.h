// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of several targets in two parts, of one of which a fit knows nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::model {

/// Rows of Y in which something was observed, ascending.
std::vector<int64_t> observed_rows(MatrixView<const double> Y);

/// Y without about a fifth of the rows in which something was observed, by seed, and those rows
/// alone; about_means: less what the outputs of `kept` are in the mean. Errors: INVALID_ARGUMENT
/// for fewer than two such rows.
struct OperatorHalves {
  Matrix<double> kept, held_out;
  OperatorHalves(MatrixView<const double> Y, uint64_t seed, bool about_means, Context& context);
};

}  // namespace mercer::model
