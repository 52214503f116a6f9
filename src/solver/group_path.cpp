// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With A = Phi~ (m x r), A'A = V'SV (primal) or AA' = V'SV (dual), T = A V' or V', and c = V A'y or
// V y, the residual is y - T diag(1/(s + n lambda)) c or T diag(n lambda/(s + n lambda)) c. I - H
// is the same with T' for c, minus the intercepts' share. Leaving out a row with all its targets
// multiplies its residuals by (I - H)_ii^{-1}.
#include "solver/group_path.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "solver/centering.h"
#include "solver/evidence.h"
#include "solver/ridge.h"
#include "solver/small_system.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;

constexpr const char* kGroupRidge = "ridge of coupled outputs";
constexpr int64_t kBlockNumbers = int64_t{1} << 18;  // products side by side

MatrixView<const double> column(std::span<const double> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1};
}
MatrixView<double> column(std::span<double> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1};
}

int64_t products_of(int64_t q) { return q * (q + 3) / 2; }

/// T_a T_b (b <= a) and T_a c for the targets of a group; its residuals are weighted sums of them.
void append_products(MatrixView<const double> T, std::span<const double> c, double*& to) {
  for (int64_t a = 0; a < T.rows; ++a) {
    const double* const x = T.row(a);
    for (int64_t b = 0; b <= a; ++b)
      for (int64_t j = 0; j < T.cols; ++j) *to++ = x[j] * T(b, j);
    for (int64_t j = 0; j < T.cols; ++j) *to++ = x[j] * c[j];
  }
}

/// The end of the group that begins at a.
size_t end_of(std::span<const Target> targets, size_t a) {
  size_t end = a;
  while (end < targets.size() && targets[end].row == targets[a].row) ++end;
  return end;
}

}  // namespace

GroupPath::GroupPath(const BlockSource& rows, const RidgeProblem& problem, const Coupling& coupling,
                     bool dual, Context& context, const RowsDone& done)
    : coupling_(coupling), dual_(dual) {
  dual_ ? decompose_targets(rows, problem, context, done)
        : decompose_sums(rows, problem, context, done);
  for (double& s : s_) s = std::max(s, 0.0);
}

void GroupPath::decompose_sums(const BlockSource& rows, const RidgeProblem& problem,
                               Context& context, const RowsDone& done) {
  GroupSums sums = group_sums(rows, problem, coupling_, context, done);
  means_ = std::move(sums.means);
  n_ = sums.n;
  squares_ = sums.squares;
  degrees_ = sums.degrees;
  V_ = std::move(sums.H);
  s_.resize(V_.rows());
  own_.resize(s_.size());
  linalg::symmetric_eigen(V_.view(), s_, context);
  linalg::multiply(1.0, Transpose::no, V_.view(), Transpose::no,
                   column(std::span<const double>(sums.s)), 0.0, column(std::span(own_)));
}

void GroupPath::decompose_targets(const BlockSource& rows, const RidgeProblem& problem,
                                  Context& context, const RowsDone& done) {
  const Matrix<double> Z(rows.rows(), rows.features(), context, kGroupRidge);
  const Matrix<double> Y(rows.rows(), rows.outputs(), context, kGroupRidge);
  std::vector<double> weights;
  for_each_wide(rows, context, [&](const WideBlock& block) {
    for (int64_t i = 0; i < block.Z.rows; ++i) {
      std::copy_n(block.Z.row(i), Z.cols(), Z.view().row(block.first + i));
      std::copy_n(block.Y.row(i), Y.cols(), Y.view().row(block.first + i));
      weights.push_back(block.weight(i));
    }
    if (done) done(block.Z.rows);
  });
  n_ = observed(rows, context).weight;
  means_ = output_means(Z.view(), Y.view(), weights, problem.center, context);
  const std::vector<Target> targets = targets_of(Y.view(), weights);
  const int64_t m = std::ssize(targets);
  first_.assign(rows.rows(), 0);
  std::vector<double> y;
  for (const Target& target : targets) {
    degrees_ += weights.empty() ? 1 : weights[target.row];
    if (y.empty() || targets[y.size() - 1].row != target.row) first_[target.row] = std::ssize(y);
    y.push_back(centred(coupling_, means_, Y.view(), weights, target));
  }
  for (const double share : means_.share) degrees_ -= share > 0 ? 1 : 0;
  Phi_ = Matrix<double>(m, coupling_.coefficients(rows.features()), context, kGroupRidge);
  expand(coupling_, means_, Z.view(), weights, targets, context, Phi_.view());
  V_ = Matrix<double>(m, m, context, kGroupRidge);
  V_.fill(0);
  linalg::rank_update_rows(1.0, Phi_.view(), V_.view());
  s_.resize(y.size());
  own_.resize(y.size());
  linalg::symmetric_eigen(V_.view(), s_, context);
  linalg::multiply(1.0, Transpose::no, V_.view(), Transpose::no, column(std::span<const double>(y)),
                   0.0, column(std::span(own_)));
}

double GroupPath::part(std::size_t j, double lambda) const {
  const double shift = checked_shift(lambda, n_), sum = s_[j] + shift;
  const double null = kEpsilon * static_cast<double>(s_.size()) * s_.back();
  if (dual_) return sum > null ? shift / sum : 1.0;
  return sum > null ? 1 / sum : 0.0;
}

Weights GroupPath::solve(double lambda, Context& context) const {
  const double shift = checked_shift(lambda, n_);
  const double null = kEpsilon * static_cast<double>(s_.size()) * s_.back();
  std::vector<double> filtered(own_.size()), u(own_.size());
  for (size_t j = 0; j < own_.size(); ++j)
    filtered[j] = s_[j] + shift > null ? own_[j] / (s_[j] + shift) : 0.0;
  linalg::multiply(1.0, Transpose::yes, V_.view(), Transpose::no,
                   column(std::span<const double>(filtered)), 0.0, column(std::span(u)));
  if (!dual_) return weights_of(coupling_, means_, u, context);
  std::vector<double> theta(Phi_.cols());
  linalg::multiply(1.0, Transpose::yes, Phi_.view(), Transpose::no,
                   column(std::span<const double>(u)), 0.0, column(std::span(theta)));
  return weights_of(coupling_, means_, theta, context);
}

double GroupPath::effective_dimension(double lambda) const {
  double trace = 0;
  for (const double share : means_.share) trace += share > 0 ? 1.0 : 0.0;
  for (size_t j = 0; j < s_.size(); ++j)
    trace += dual_ ? 1 - part(j, lambda) : s_[j] * part(j, lambda);
  return trace / static_cast<double>(outputs());
}

double GroupPath::evidence(double lambda) const {
  const double shift = checked_shift(lambda, n_);
  const double null = kEpsilon * static_cast<double>(s_.size()) * s_.back();
  double outside = dual_ ? 0 : squares_;
  for (size_t j = 0; j < s_.size() && !dual_; ++j)
    if (s_[j] > null) outside -= own_[j] / s_[j] * own_[j];
  JointEvidence sums(std::max(outside, 0.0), shift, degrees_ - static_cast<double>(s_.size()));
  for (size_t j = 0; j < s_.size(); ++j) {
    const double s = s_[j] > null ? s_[j] : 0;
    // A null direction is in `outside`.
    const double share = dual_ ? 1 : s > 0 ? 1 / s : 0;
    sums.add(s, 1, share * own_[j] * own_[j] / (s + shift));
  }
  return sums.of(degrees_);
}

Matrix<double> GroupPath::turned(const WideBlock& block, std::span<const Target> targets,
                                 Context& context) const {
  const int64_t k = V_.rows();
  Matrix<double> T(std::ssize(targets), k, context, kGroupRidge);
  if (!dual_) {
    const Matrix<double> Phi(T.rows(), V_.cols(), context, kGroupRidge);
    expand(coupling_, means_, block.Z, block.weights, targets, context, Phi.view());
    linalg::multiply(1.0, Transpose::no, Phi.view(), Transpose::yes, V_.view(), 0.0, T.view());
    return T;
  }
  int64_t of_row = 0;
  for (int64_t a = 0; a < T.rows(); ++a) {
    const int64_t row = targets[a].row;
    of_row = a > 0 && targets[a - 1].row == row ? of_row + 1 : 0;
    const int64_t at = first_[block.first + row] + of_row;
    for (int64_t j = 0; j < k; ++j) T(a, j) = V_(j, at);
  }
  return T;
}

void GroupPath::leave_out_group(const WideBlock& block, std::span<const Target> group,
                                MatrixView<const double> sums, MatrixView<double> residuals) const {
  const int64_t q = std::ssize(group), p = outputs(), row = group[0].row;
  std::vector<double> M(q * q), e(q);
  const double weight = block.weight(row), sign = dual_ ? 1 : -1;
  for (int64_t l = 0; l < sums.cols; ++l) {
    int64_t at = 0;
    for (int64_t a = 0; a < q; ++a) {
      const Target target = group[a];
      for (int64_t b = 0; b <= a; ++b)
        M[a * q + b] = (a == b && !dual_ ? 1 : 0) + sign * sums(at++, l);
      M[a * q + a] -= weight * means_.share[target.output];
      const double y = dual_ ? 0 : centred(coupling_, means_, block.Y, block.weights, target);
      e[a] = y + sign * sums(at++, l);
    }
    const bool known = solve_small(q, kInterpolates, M, e);
    for (int64_t a = 0; a < q; ++a) {
      const auto k = static_cast<size_t>(group[static_cast<size_t>(a)].output);
      residuals(row, l * p + static_cast<int64_t>(k)) =
          known ? coupling_.scale()[k] * e[a] / std::sqrt(weight) : kInfinity;
    }
  }
}

Matrix<double> GroupPath::leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                                        Context& context) const {
  const int64_t k = V_.rows(), L = std::ssize(lambdas), p = outputs();
  const Matrix<double> parts(k, L, context, kGroupRidge);
  for (int64_t j = 0; j < k; ++j)
    for (int64_t l = 0; l < L; ++l) parts(j, l) = part(static_cast<size_t>(j), lambdas[l]);
  Matrix<double> residuals(block.Z.rows, checked_multiply(L, p, kGroupRidge), context, kGroupRidge);
  residuals.fill(0);
  const std::vector<Target> targets = targets_of(block.Y, block.weights);
  // The number of rows whose products fill a bounded block.
  const int64_t size = std::clamp<int64_t>(kBlockNumbers / (products_of(p) * k), 1, block.Z.rows);
  const Matrix<double> products(size * products_of(p), k, context, kGroupRidge);
  const Matrix<double> sums(size * products_of(p), L, context, kGroupRidge);
  for (size_t begin = 0; begin < targets.size();) {
    size_t end = begin;
    for (int64_t rows = 0; rows < size && end < targets.size(); ++rows) end = end_of(targets, end);
    const auto some = std::span(targets).subspan(begin, end - begin);
    const Matrix<double> T = turned(block, some, context);
    double* to = products.data();
    for (size_t a = 0; a < some.size(); a = end_of(some, a))
      append_products(
          T.view().block_rows(static_cast<int64_t>(a), static_cast<int64_t>(end_of(some, a))), own_,
          to);
    const int64_t used = (to - products.data()) / k;
    linalg::multiply(1.0, Transpose::no, products.view().block_rows(0, used), Transpose::no,
                     parts.view(), 0.0, sums.view().block_rows(0, used));
    int64_t at = 0;
    for (size_t a = 0; a < some.size(); a = end_of(some, a)) {
      const auto group = some.subspan(a, end_of(some, a) - a);
      const int64_t count = products_of(std::ssize(group));
      leave_out_group(block, group, sums.view().block_rows(at, at + count), residuals.view());
      at += count;
    }
    context.checkpoint();
    begin = end;
  }
  return residuals;
}

}  // namespace mercer::solver
