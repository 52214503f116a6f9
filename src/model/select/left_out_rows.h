// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scores of training rows by fits that left them out, in closed form, for a list of lambdas.
#pragma once

#include <functional>
#include <span>

#include "solver/block_source.h"
#include "solver/coupled_path.h"
#include "solver/dual_system.h"
#include "solver/ridge.h"
#include "solver/ridge_factor.h"

namespace mercer::model {

/// A row, its coded target, its weight, and its left-out residuals y - f: lambda by lambda, the
/// outputs of one together.
using LeftOutRow =
    std::function<void(int64_t row, const double* code, double weight, const double* residuals)>;

/// The path's eigenvectors meet the rows once more.
void for_each_left_out(const solver::BlockSource& rows, const solver::RidgePath& path,
                       std::span<const double> lambdas, Context& context, const LeftOutRow& body,
                       const solver::RowsDone& done = {});
/// At the factor's lambda; weights: the factor's.
void for_each_left_out(const solver::BlockSource& rows, const solver::RidgeFactor& factor,
                       const solver::Weights& weights, Context& context, const LeftOutRow& body);
void for_each_left_out(const solver::BlockSource& rows, const solver::CoupledPath& path,
                       std::span<const double> lambdas, Context& context, const LeftOutRow& body,
                       const solver::RowsDone& done = {});
/// The same of a dual system, which must be decomposed.
void for_each_left_out(const solver::DualSystem& system, std::span<const double> lambdas,
                       Context& context, const LeftOutRow& body);

}  // namespace mercer::model
