// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge where Z'Z has no room, or would take longer than some hundred passes over the rows:
// (Z'WZ + n lambda I) w = Z'Wy, centred, by conjugate gradients, features made anew in every pass
// unless all of them fit the cache. The preconditioner is a Nystroem sketch of the Gram matrix of
// some thousand of the rows (Frangella, Tropp, Udell 2023; Rudi, Carratino, Rosasco 2017 precondition
// by a part of the rows, too).
#pragma once

#include <memory>

#include "solver/coupled_path.h"

namespace mercer::solver {

/// Weights to a relative residual of 1e-9. The source is referred to. Memory: 3 r D numbers of a
/// sketch of rank r <= 256 and 8 D for each output. Tr H of solution() is what the sketch sees of
/// it, too small where the spectrum falls slowly. Outputs may have a shared root, no gaps.
/// Errors: UNSUPPORTED, NOT_CONVERGED naming the residual, those of conjugate_gradient.
std::unique_ptr<LambdaPath> make_iterative_path(const BlockSource& rows,
                                                const RidgeProblem& problem, Context& context,
                                                const RowsDone& done = {});

}  // namespace mercer::solver
