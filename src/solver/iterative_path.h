// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge by passes over the rows: conjugate gradients on (Z'WZ + n lambda I) w = Z'Wy, centred, in
// double. Features are recomputed in every pass unless they fit the cache; of features that are
// others times a matrix (Nystroem features) these others alone, so that a pass costs what they do
// (Rudi, Carratino, Rosasco 2017). What makes it converge is in ridge_preconditioner.h.
#pragma once

#include <memory>

#include "solver/coupled_path.h"

namespace mercer::solver {

struct Iterated {
  Weights weights;
  int64_t iterations = 0;
  /// Iterative::sketch: |b - A w| / |b|; Iterative::gram: |M^{-1} (b - A w)| / |w|, which is the
  /// relative error of the weights but for that of the preconditioner M. Of the worst output.
  double residual = 0;
};

class IterativePath : public LambdaPath {
 public:
  virtual Iterated iterate(double lambda, Context& context) const = 0;
  Weights solve(double lambda, Context& context) const override {
    return iterate(lambda, context).weights;
  }
};

/// Iterative::sketch: to a residual of 1e-9. Memory: 3 r D numbers for a sketch of rank r <= 256 of
/// some thousand rows, and 8 D for each output; for where Z'Z does not fit in memory, or would take
/// longer than some hundred passes.
/// Iterative::gram: to a residual of 5e-11, or where rounding ends it before, 1e-6 at most. Z'Z is
/// summed up in single precision, of all rows, or of 4 D for more than 4,096 features or rows that
/// are factored(); 16 D^2 bytes, of outputs that share a root 8 D^2 more for each. A few passes
/// where n lambda is above the rounding of Z'Z, then as many as the root of what lacks.
/// The source is referred to. Outputs may share a root; targets may not be missing. Tr H of
/// solution() comes from the preconditioner: of a sketch too small where the spectrum falls slowly.
/// Errors: UNSUPPORTED, NOT_CONVERGED naming the residual, those of conjugate_gradient.
std::unique_ptr<IterativePath> make_iterative_path(const BlockSource& rows,
                                                   const RidgeProblem& problem, Context& context,
                                                   const RowsDone& done = {});

}  // namespace mercer::solver
