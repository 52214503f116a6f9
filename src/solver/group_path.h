// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The CoupledPath for any roots and missing targets, by rows of coefficients (group_sums.h): one
// eigendecomposition of H (r x r), or of the Gram matrix of the m targets if m < r. Private to
// solver.
#pragma once

#include "solver/group_sums.h"

namespace mercer::solver {

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
  Matrix<double> V_;             // row j: eigenvector j
  std::vector<double> s_, own_;  // eigenvalues; V s, or V y~
  Matrix<double> Phi_;           // dual
  std::vector<int64_t> first_;   // dual: the first target of row i
};

}  // namespace mercer::solver
