// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The CoupledPath for a shared root and complete targets. Private to solver.
#pragma once

#include "solver/coupled_path.h"

namespace mercer::solver {

/// The problem's coupling is referred to.
std::unique_ptr<CoupledPath> make_rotated_path(const BlockSource& rows, const RidgeProblem& problem,
                                               Context& context, const RowsDone& done);

}  // namespace mercer::solver
