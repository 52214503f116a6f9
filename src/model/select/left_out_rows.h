// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Leave-one-out residuals of training rows, in closed form, for a list of lambdas.
#pragma once

#include <functional>
#include <span>

#include "solver/block_source.h"
#include "solver/coupled_path.h"
#include "solver/dual_system.h"
#include "solver/ridge.h"
#include "solver/ridge_factor.h"

namespace mercer::model {

/// A row, its coded target, its weight and its leave-one-out residuals y - f, all outputs of the
/// first lambda first.
using LeftOutRow =
    std::function<void(int64_t row, const double* code, double weight, const double* residuals)>;

/// One more pass over the rows.
void for_each_left_out(const solver::BlockSource& rows, const solver::RidgePath& path,
                       std::span<const double> lambdas, Context& context, const LeftOutRow& body,
                       const solver::RowsDone& done = {});
/// At the factor's lambda; weights: the factor's.
void for_each_left_out(const solver::BlockSource& rows, const solver::RidgeFactor& factor,
                       const solver::Weights& weights, Context& context, const LeftOutRow& body);
void for_each_left_out(const solver::BlockSource& rows, const solver::CoupledPath& path,
                       std::span<const double> lambdas, Context& context, const LeftOutRow& body,
                       const solver::RowsDone& done = {});
/// For a dual system, which must be decomposed.
void for_each_left_out(const solver::DualSystem& system, std::span<const double> lambdas,
                       Context& context, const LeftOutRow& body);

}  // namespace mercer::model
