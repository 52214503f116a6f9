// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Errors of rows left out of decomposable maps whose targets' means are those of the rows that are
// left: of paths and sums whose last output is 1.
#pragma once

#include <cstdint>
#include <span>

#include "solver/block_source.h"
#include "solver/stein.h"

namespace mercer::model {

/// Y and a last column of ones.
Matrix<double> with_ones(MatrixView<const double> Y, Context& context);

/// Mean squared error of one output by leave-one-out, 1 x lambdas, N lambda kept, of the path of
/// these rows, with_ones of targets of mean 0. At least two rows, else INVALID_ARGUMENT.
Matrix<double> leave_one_out_error(const solver::RidgePath& path, const solver::OutputBasis& basis,
                                   std::span<const double> lambdas, const solver::BlockSource& rows,
                                   Context& context);

/// The same of a fold, predicted by a fit on the others, at their own N; sums of with_ones.
Matrix<double> held_out_error(solver::RowStatistics&& others, const solver::RowStatistics& fold,
                              const solver::OutputBasis& basis, std::span<const double> lambdas,
                              Context& context);

}  // namespace mercer::model
