// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge where Z'Z does not fit in memory, or would take longer than some hundred passes over the
// rows: conjugate gradients on (Z'WZ + n lambda I) w = Z'Wy, centred. Features are recomputed in
// every pass unless they fit the cache. The preconditioner is a Nystroem sketch of the Gram matrix
// of some thousand rows (Frangella, Tropp, Udell 2023; Rudi, Carratino, Rosasco 2017).
#pragma once

#include <memory>

#include "solver/coupled_path.h"

namespace mercer::solver {

/// Weights to a relative residual of 1e-9. The source is referred to. Memory: 3 r D numbers for a
/// sketch of rank r <= 256, and 8 D for each output. Tr H of solution() comes from the sketch: too
/// small where the spectrum falls slowly. Outputs may share a root; targets may not be missing.
/// Errors: UNSUPPORTED, NOT_CONVERGED naming the residual, those of conjugate_gradient.
std::unique_ptr<LambdaPath> make_iterative_path(const BlockSource& rows,
                                                const RidgeProblem& problem, Context& context,
                                                const RowsDone& done = {});

}  // namespace mercer::solver
