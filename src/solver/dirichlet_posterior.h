// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Classification by Gaussian process regression (Milios, Camoriano, Michiardi, Rosasco, Filippone
// 2018, equations 4 to 6). A label stands for one gamma variable per class, of shape alpha + 1 for
// its own class and alpha for others. Matching log-normal moments gives each class's process the
// target log(shape) - v/2 with noise variance v = log(1 + 1/shape).
#pragma once

#include <span>
#include <vector>

#include "solver/block_source.h"
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

class DirichletPosterior {
 public:
  /// Prior: theta ~ N(0, I / (n lambda)), n the rows' weight; flat for intercepts, if `center`.
  /// O(K D^3). Errors: OUT_OF_MEMORY, NOT_POSITIVE_DEFINITE.
  DirichletPosterior(const ClassSums& sums, double alpha, double lambda, bool center,
                     Context& context);
  /// From numbers(); INVALID_ARGUMENT unless their count fits features and classes.
  DirichletPosterior(std::span<const double> numbers, int64_t features, int64_t classes);

  int64_t classes() const noexcept { return std::ssize(of_class_); }
  int64_t features() const noexcept { return features_; }
  /// Posterior mean and variance of f at rows of Z (n x D): n x K each. O(n K D^2).
  void moments(MatrixView<const double> Z, MatrixView<double> mean,
               MatrixView<double> variance) const;
  std::vector<double> numbers() const;

 private:
  struct Process {
    Matrix<double> factor;            // L, lower
    std::vector<double> mean;         // of the features
    Matrix<double> w;                 // D x 1
    double intercept = 0, share = 0;  // share: the intercept's variance
  };
  int64_t features_;
  std::vector<Process> of_class_;
};

}  // namespace mercer::solver
