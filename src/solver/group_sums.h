// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Coupled outputs as one regression on r = D q coefficients: the observed target k of row i has the
// row (z_i - mean_k) (x) B_k, with mean_k over the rows that have target k. Private to solver.
#pragma once

#include <span>
#include <vector>

#include "solver/coupled_path.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

/// Means for each output over the rows that have its target; zeros without centring.
struct OutputMeans {
  Matrix<double> features;      // p x D
  std::vector<double> outputs;  // p
  std::vector<double> share;    // 1 / weight of these rows: the leverage that b adds
};

struct Observed {
  double weight = 0;  // of the rows that have a target
  int64_t targets = 0;
};
Observed observed(const BlockSource& rows, Context& context);

/// Sums over observed targets: the lower triangle of Phi~'W Phi~ (r x r), and Phi~'W y~.
struct GroupSums {
  Matrix<double> H;
  std::vector<double> s;
  OutputMeans means;
  double n = 0;                     // the weight of rows that have a target
  double squares = 0, degrees = 0;  // y~'W y~; the weight of targets, less one for each intercept
};
/// From D x D sums: one for all outputs if no target is missing, else one for each output.
GroupSums group_sums(const BlockSource& rows, const RidgeProblem& problem, const Coupling& coupling,
                     Context& context, const RowsDone& done);

/// The means alone, of rows in memory: Z n x D, Y n x p.
OutputMeans output_means(MatrixView<const double> Z, MatrixView<const double> Y,
                         std::span<const double> weights, bool center, Context& context);

/// An observed target: its row in a block, its output.
struct Target {
  int64_t row, output;
};
std::vector<Target> targets_of(MatrixView<const double> Y, std::span<const double> weights);

/// Row a of out: the row of coefficients of targets[a], times sqrt(weight).
void expand(const Coupling& coupling, const OutputMeans& means, MatrixView<const double> Z,
            std::span<const double> weights, std::span<const Target> targets, Context& context,
            MatrixView<double> out);
/// The target minus its mean, in the output's unit, times sqrt(weight).
double centred(const Coupling& coupling, const OutputMeans& means, MatrixView<const double> Y,
               std::span<const double> weights, Target target);

/// C and b from theta (r numbers).
Weights weights_of(const Coupling& coupling, const OutputMeans& means,
                   std::span<const double> theta, Context& context);

}  // namespace mercer::solver
