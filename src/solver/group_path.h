// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge of coupled outputs for any roots and missing targets, by rows of coefficients.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "solver/coupled_path.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

// Coupled outputs as one regression on r = D q coefficients: the observed target k of row i has the
// row (z_i - mean_k) (x) B_k, with mean_k over the rows that have target k. Private to solver.

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

// The CoupledPath for any roots and missing targets, by rows of coefficients: one
// eigendecomposition of H (r x r), or of the Gram matrix of the m targets if m < r. Private to
// solver.

class GroupPath final : public CoupledPath {
 public:
  GroupPath(const BlockSource& rows, const RidgeProblem& problem, const Coupling& coupling,
            bool dual, Context& context, const RowsDone& done);
  int64_t outputs() const noexcept override { return coupling_.outputs(); }
  /// Sets n of n lambda, if these rows are only part of the fitted rows.
  void count(double n) noexcept { n_ = n; }
  Weights solve(double lambda, Context& context) const override;
  double effective_dimension(double lambda) const override;
  double evidence(double lambda) const override;
  Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                               Context& context) const override;

 private:
  void decompose_sums(const BlockSource& rows, const RidgeProblem& problem, Context& context,
                      const RowsDone& done);
  void decompose_targets(const BlockSource& rows, const RidgeProblem& problem, Context& context,
                         const RowsDone& done);
  /// The targets' rows of Phi~V' (dual: of V').
  Matrix<double> turned(const WideBlock& block, std::span<const Target> targets,
                        Context& context) const;
  /// The factor of eigenvector j in the fit (dual: in the residual).
  double part(std::size_t j, double lambda) const;
  void leave_out_group(const WideBlock& block, std::span<const Target> group,
                       MatrixView<const double> sums, MatrixView<double> residuals) const;

  const Coupling& coupling_;
  bool dual_;
  OutputMeans means_;
  double n_ = 0;
  double squares_ = 0, degrees_ = 0;  // as GroupSums'
  Matrix<double> V_;                  // row j: eigenvector j
  std::vector<double> s_, own_;       // eigenvalues; V s, or V y~
  Matrix<double> Phi_;                // dual
  std::vector<int64_t> first_;        // dual: the first target of row i
};

// Many small linear systems. Private to solver.

/// e := M^{-1} e for a symmetric M (lower triangle, q x q, by rows), which becomes its Cholesky
/// factor; false if a pivot is not above `least`.
inline bool solve_small(int64_t q, double least, std::vector<double>& M, std::vector<double>& e) {
  const auto at = [&](int64_t i, int64_t j) -> double& { return M[i * q + j]; };
  for (int64_t j = 0; j < q; ++j) {
    if (!(at(j, j) > least)) return false;
    const double root = std::sqrt(at(j, j));
    for (int64_t i = j; i < q; ++i) at(i, j) /= root;
    for (int64_t i = j + 1; i < q; ++i)
      for (int64_t k = j + 1; k <= i; ++k) at(i, k) -= at(i, j) * at(k, j);
  }
  for (int64_t i = 0; i < q; ++i) {
    double& x = e[i];
    for (int64_t k = 0; k < i; ++k) x -= at(i, k) * e[k];
    x /= at(i, i);
  }
  for (int64_t i = q - 1; i >= 0; --i) {
    double& x = e[i];
    for (int64_t k = i + 1; k < q; ++k) x -= at(k, i) * e[k];
    x /= at(i, i);
  }
  return true;
}

}  // namespace mercer::solver
