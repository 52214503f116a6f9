// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Coupled outputs as one regression, whose rows are the observed targets: their sums, and their
// Gram matrix from features or from a kernel's own values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "solver/coupled_system.h"

namespace mercer::solver {

// Coupled outputs as one regression on r = D q coefficients: the observed target k of row i has the
// row (z_i - mean_k) (x) B_k, with mean_k over the rows that have target k.

/// Means for each output over the rows that have its target; zeros without centring.
struct OutputMeans {
  Matrix<double> features;      // p x D
  std::vector<double> outputs;  // p
  std::vector<double> share;    // 1 / weight of these rows: the leverage that b adds
  double intercepts() const {
    return static_cast<double>(std::ranges::count_if(share, [](double s) { return s > 0; }));
  }
};

/// Sums over observed targets: the lower triangle of Phi~'W Phi~ (r x r), and Phi~'W y~.
struct CoupledSums {
  Matrix<double> H;
  std::vector<double> s;
  OutputMeans means;
  double n = 0;                     // the weight of rows that have a target
  double squares = 0, degrees = 0;  // y~'W y~; the weight of targets, less one for each intercept
};
/// From D x D sums: one for all outputs if no target is missing, else one for each output.
CoupledSums coupled_sums(const BlockSource& rows, const RidgeProblem& problem,
                         const Coupling& coupling, Context& context, const RowsDone& done);

/// Rows that have a target.
struct TargetCount {
  double weight = 0;
  int64_t targets = 0;
};
TargetCount observed(const BlockSource& rows, Context& context);

/// DIMENSION_MISMATCH unless the problem's coupling is of the rows' outputs.
void require_outputs(const BlockSource& rows, const RidgeProblem& problem);

/// An observed target: its row in a block, its output.
struct Target {
  int64_t row, output;
};
/// Those of rows of weight > 0, row after row.
std::vector<Target> targets_of(MatrixView<const double> Y, std::span<const double> weights);

/// Row a of out: the row of coefficients of targets[a], times sqrt(weight).
void expand(const Coupling& coupling, const OutputMeans& means, MatrixView<const double> Z,
            std::span<const double> weights, std::span<const Target> targets, Context& context,
            MatrixView<double> out);
/// The target minus its mean, in the output's unit, times sqrt(weight).
double centered(const Coupling& coupling, const OutputMeans& means, MatrixView<const double> Y,
                std::span<const double> weights, Target target);
/// C and b from theta (r numbers).
Weights weights_of(const Coupling& coupling, const OutputMeans& means,
                   std::span<const double> theta, Context& context);

/// The targets' own side: their Gram matrix K = AA', A = Phi~ (m x r), and weights from u, theta =
/// A'u. Of a kernel's own values K is made of these, centred by output as rows of A would be.
struct TargetGram {
  Matrix<double> K;             // lower triangle
  Matrix<double> intercepts;    // a unit null vector of K for each
  double rounding = kInfinity;  // of eigenvalues of a kernel's K
  std::vector<double> y;        // y~
  std::vector<int64_t> first;   // the first target of row i
  OutputMeans means;            // of a kernel without features
  double n = 0, degrees = 0;    // as CoupledSums'
  std::function<Weights(std::span<const double> u, Context& context)> weights;
};
/// The coupling is referred to.
TargetGram target_gram(const BlockSource& rows, const RidgeProblem& problem,
                       const Coupling& coupling, Context& context, const RowsDone& done);

inline MatrixView<const double> column(std::span<const double> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1};
}
inline MatrixView<double> column(std::span<double> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1};
}

}  // namespace mercer::solver
