// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Classification by Gaussian process regression (Milios, Camoriano, Michiardi, Rosasco, Filippone
// 2018, equations 4 to 6). A label stands for one gamma variable per class, of shape alpha + 1 for
// its own class and alpha for others. Matching log-normal moments gives each class's process the
// target log(shape) - v/2 with noise variance v = log(1 + 1/shape).
#pragma once

#include <vector>

#include "solver/block_source.h"
#include "solver/latent_processes.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

struct DirichletTarget {
  double value, variance;
};
DirichletTarget dirichlet_target(double alpha, bool own);

/// Row statistics of each class, which serve every alpha: 8 K D^2 bytes.
class ClassSums {
 public:
  /// Targets are one-hot codes. One pass over the rows of all processes.
  ClassSums(const BlockSource& rows, Context& context);
  int64_t classes() const noexcept { return std::ssize(of_class_); }
  int64_t features() const noexcept { return of_class_[0].features(); }
  double weight() const noexcept;
  /// Statistics of class k's regression: one output, rows weighed by 1 over their noise variance.
  RowStatistics of_process(int64_t k, double alpha, Context& context) const;

 private:
  std::vector<RowStatistics> of_class_;
};

/// Prior: theta ~ N(0, I / (n lambda)), n the rows' weight; flat for intercepts, if `center`.
/// O(K D^3). Errors: OUT_OF_MEMORY, NOT_POSITIVE_DEFINITE.
LatentProcesses dirichlet_processes(const ClassSums& sums, double alpha, double lambda, bool center,
                                    Context& context);

}  // namespace mercer::solver
