// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Classes by Gaussian process regression (Milios, Camoriano, Michiardi, Rosasco, Filippone 2018,
// equations 4 to 6): a label is a draw of a gamma variable of each class, shape alpha + 1 of its own
// and alpha of others; the normal distributions of their logarithms' moments are the targets,
// log(shape) - v/2 with the noise v = log(1 + 1/shape), of a process for each class.
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

/// Sums of the features of each class's rows, from which those of every alpha follow: 8 K D^2 bytes.
class ClassSums {
 public:
  /// Targets are one-hot codes. One pass; rows of all processes.
  ClassSums(const BlockSource& rows, Context& context);
  int64_t classes() const noexcept { return std::ssize(of_class_); }
  int64_t features() const noexcept { return of_class_[0].features(); }
  double weight() const noexcept;
  void merge(const ClassSums& other);
  /// Rows weighed by 1 over the noise of class k's targets, which are the one output.
  RowStatistics of_process(int64_t k, double alpha, Context& context) const;

 private:
  std::vector<RowStatistics> of_class_;
};

class DirichletPosterior {
 public:
  /// theta ~ N(0, I / (n lambda)), n the rows' weight, and flat priors of intercepts where there are
  /// any. O(K D^3). Errors: OUT_OF_MEMORY, NOT_POSITIVE_DEFINITE.
  DirichletPosterior(const ClassSums& sums, double alpha, double lambda, bool center,
                     Context& context);
  /// From numbers(); INVALID_ARGUMENT unless they are of so many features and classes.
  DirichletPosterior(std::span<const double> numbers, int64_t features, int64_t classes);

  int64_t classes() const noexcept { return std::ssize(of_class_); }
  int64_t features() const noexcept { return features_; }
  /// Of f at rows of Z (n x D): n x K each. O(n K D^2).
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
