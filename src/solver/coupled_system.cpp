// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge of coupled outputs: the coupling; the system for any roots and missing targets, by rows of
// coefficients; and the shorter way for a shared root and complete targets.
#include "solver/coupled_system.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "solver/block_statistics.h"
#include "solver/coupled_targets.h"
#include "solver/dual_system.h"
#include "solver/primal_system.h"

namespace mercer::solver {
namespace {

using linalg::kPlain, linalg::kTransposed;

constexpr const char* kRoots = "roots of coupled outputs";
constexpr const char* kCoupledRidge = "ridge of coupled outputs";
constexpr int64_t kBlockNumbers = int64_t{1} << 18;  // products side by side

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

// With A = Phi~ (m x r), A'A = V'SV (primal) or AA' = V'SV (dual), T = A V' or V', and c = V A'y or
// V y, the residual is y - T diag(1/(s + n lambda)) c or T diag(n lambda/(s + n lambda)) c. I - H
// is the same with T' for c, minus the intercepts' share, in the dual form without it: the first
// eigenvectors are the intercepts' and leave nothing in a residual. Leaving out a row with all its
// targets multiplies its residuals by (I - H)_ii^{-1}.

/// For any roots and missing targets: one eigendecomposition of H (r x r), or of the Gram matrix of
/// the m targets if m < r.
class GroupSystem final : public RidgeSystem {
 public:
  GroupSystem(const BlockSource& rows, const RidgeProblem& problem, const Coupling& coupling,
              bool dual, Context& context, const RowsDone& done);
  int64_t outputs() const noexcept { return coupling_.outputs(); }
  /// Sets n of n lambda, if these rows are only part of the fitted rows.
  void count(double n) noexcept { n_ = n; }
  Solution solution(double lambda, Want want, Context& context) const override {
    return {weights(lambda, context), want == Want::dimension ? effective_dimension(lambda) : kNaN};
  }
  double effective_dimension(double lambda) const override;
  std::vector<double> evidence(double lambda, double noise) const override;
  Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                               Context& context) const override;
  bool leaves_out_by_place() const noexcept override { return dual_; }

 private:
  Weights weights(double lambda, Context& context) const;
  void decompose_sums(const BlockSource& rows, const RidgeProblem& problem, Context& context,
                      const RowsDone& done);
  void decompose_targets(TargetGram gram, Context& context);
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
  double squares_ = 0, degrees_ = 0;  // as CoupledSums'
  Matrix<double> V_;                  // row j: eigenvector j
  std::vector<double> s_, own_;       // eigenvalues; V s, or V y~
  std::size_t intercepts_ = 0;        // dual: of eigenvectors, the first
  std::vector<int64_t> first_;        // dual: as TargetGram's, and weights
  std::function<Weights(std::span<const double> u, Context& context)> weights_of_targets_;
};

GroupSystem::GroupSystem(const BlockSource& rows, const RidgeProblem& problem,
                         const Coupling& coupling, bool dual, Context& context,
                         const RowsDone& done)
    : coupling_(coupling), dual_(dual) {
  dual_ ? decompose_targets(target_gram(rows, problem, coupling, context, done), context)
        : decompose_sums(rows, problem, context, done);
  for (double& s : s_) s = std::max(s, 0.0);
}

void GroupSystem::decompose_sums(const BlockSource& rows, const RidgeProblem& problem,
                                 Context& context, const RowsDone& done) {
  CoupledSums sums = coupled_sums(rows, problem, coupling_, context, done);
  means_ = std::move(sums.means);
  n_ = sums.n;
  squares_ = sums.squares;
  degrees_ = sums.degrees;
  V_ = std::move(sums.H);
  s_.resize(V_.rows());
  own_.resize(s_.size());
  linalg::symmetric_eigen(V_.view(), s_, context);
  linalg::multiply(1.0, kPlain, V_.view(), kPlain, column(std::span<const double>(sums.s)), 0.0,
                   column(std::span(own_)));
}

void GroupSystem::decompose_targets(TargetGram gram, Context& context) {
  means_ = std::move(gram.means);
  n_ = gram.n;
  degrees_ = gram.degrees;
  first_ = std::move(gram.first);
  weights_of_targets_ = std::move(gram.weights);
  V_ = std::move(gram.K);
  s_.resize(gram.y.size());
  own_.resize(gram.y.size());
  intercepts_ = static_cast<size_t>(gram.intercepts.rows());
  centered_eigen(V_.view(), gram.intercepts.view(), s_, gram.rounding, context);
  linalg::multiply(1.0, kPlain, V_.view(), kPlain, column(std::span<const double>(gram.y)), 0.0,
                   column(std::span(own_)));
}

double GroupSystem::part(std::size_t j, double lambda) const {
  const double shift = checked_shift(lambda, n_), sum = s_[j] + shift;
  const double null = kEpsilon * static_cast<double>(s_.size()) * s_.back();
  if (dual_) return j < intercepts_ ? 0.0 : sum > null ? shift / sum : 1.0;
  return sum > null ? 1 / sum : 0.0;
}

Weights GroupSystem::weights(double lambda, Context& context) const {
  const double shift = checked_shift(lambda, n_);
  const double null = kEpsilon * static_cast<double>(s_.size()) * s_.back();
  std::vector<double> filtered(own_.size()), u(own_.size());
  for (size_t j = 0; j < own_.size(); ++j)
    filtered[j] = s_[j] + shift > null ? own_[j] / (s_[j] + shift) : 0.0;
  linalg::multiply(1.0, kTransposed, V_.view(), kPlain, column(std::span<const double>(filtered)),
                   0.0, column(std::span(u)));
  return dual_ ? weights_of_targets_(u, context) : weights_of(coupling_, means_, u, context);
}

double GroupSystem::effective_dimension(double lambda) const {
  double trace = dual_ ? 0 : means_.intercepts();
  for (size_t j = 0; j < s_.size(); ++j)
    trace += dual_ ? 1 - part(j, lambda) : s_[j] * part(j, lambda);
  return trace / static_cast<double>(outputs());
}

std::vector<double> GroupSystem::evidence(double lambda, double /*noise*/) const {
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
  return {sums.of(degrees_)};
}

Matrix<double> GroupSystem::turned(const WideBlock& block, std::span<const Target> targets,
                                   Context& context) const {
  const int64_t k = V_.rows();
  Matrix<double> T(std::ssize(targets), k, context, kCoupledRidge);
  if (!dual_) {
    const Matrix<double> Phi(T.rows(), V_.cols(), context, kCoupledRidge);
    expand(coupling_, means_, block.Z, block.weights, targets, context, Phi.view());
    linalg::multiply(1.0, kPlain, Phi.view(), kTransposed, V_.view(), 0.0, T.view());
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

void GroupSystem::leave_out_group(const WideBlock& block, std::span<const Target> group,
                                  MatrixView<const double> sums,
                                  MatrixView<double> residuals) const {
  const int64_t q = std::ssize(group), p = outputs(), row = group[0].row;
  std::vector<double> M(q * q), e(q);
  const double weight = block.weight(row), sign = dual_ ? 1 : -1;
  for (int64_t l = 0; l < sums.cols; ++l) {
    int64_t at = 0;
    for (int64_t a = 0; a < q; ++a) {
      const Target target = group[a];
      for (int64_t b = 0; b <= a; ++b)
        M[a * q + b] = (a == b && !dual_ ? 1 : 0) + sign * sums(at++, l);
      if (!dual_) M[a * q + a] -= weight * means_.share[target.output];
      const double y = dual_ ? 0 : centered(coupling_, means_, block.Y, block.weights, target);
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

Matrix<double> GroupSystem::leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                                          Context& context) const {
  const int64_t k = V_.rows(), L = std::ssize(lambdas), p = outputs();
  const Matrix<double> parts(k, L, context, kCoupledRidge);
  for (int64_t j = 0; j < k; ++j)
    for (int64_t l = 0; l < L; ++l) parts(j, l) = part(static_cast<size_t>(j), lambdas[l]);
  Matrix<double> residuals(block.Z.rows, checked_multiply(L, p, kCoupledRidge), context,
                           kCoupledRidge);
  residuals.fill(0);
  const std::vector<Target> targets = targets_of(block.Y, block.weights);
  // The number of rows whose products fill a bounded block.
  const int64_t size = std::clamp<int64_t>(kBlockNumbers / (products_of(p) * k), 1, block.Z.rows);
  const Matrix<double> products(size * products_of(p), k, context, kCoupledRidge);
  const Matrix<double> sums(size * products_of(p), L, context, kCoupledRidge);
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
    linalg::multiply(1.0, kPlain, products.view().block_rows(0, used), kPlain, parts.view(), 0.0,
                     sums.view().block_rows(0, used));
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

/// The size of the eigenproblem, and whether it is that of the targets.
struct Side {
  int64_t size;
  bool dual;
};
Side side_of(const BlockSource& rows, const Coupling& coupling, Context& context) {
  const int64_t r = coupling.coefficients(rows.features());
  const int64_t m = rows.is_complete()
                        ? checked_multiply(rows.rows(), rows.outputs(), kCoupledRidge)
                        : observed(rows, context).targets;
  const bool dual = rows.kernel_columns() || (m < r && rows.reduction() == nullptr);
  return {dual ? m : r, dual};
}

void require_square(int64_t size, Context& context) {
  context.require_room(
      checked_multiply(checked_multiply(16, size, kCoupledRidge), size, kCoupledRidge),
      kCoupledRidge);
}

/// Independent outputs, each fitted to the rows that have its target; 0 where none has.
class SeparateSystem final : public RidgeSystem {
 public:
  SeparateSystem(const BlockSource& rows, bool center, Context& context, const RowsDone& done)
      : features_(rows.features()), one_(Coupling::independent(1, context)) {
    const int64_t p = rows.outputs();
    const double n = observed(rows, context).weight;
    for (int64_t k = 0; k < p; ++k) {
      const auto own = one_output(rows, k);
      systems_.push_back(nullptr);
      if (observed(*own, context).targets == 0) continue;
      systems_[k] = std::make_unique<GroupSystem>(*own, RidgeProblem{center, &one_}, one_,
                                                  side_of(*own, one_, context).dual, context,
                                                  k + 1 < p ? RowsDone() : done);
      systems_[k]->count(n);
    }
  }
  Solution solution(double lambda, Want want, Context& context) const override {
    Solution all{{Matrix<double>(features_, outputs(), context, kCoupledRidge),
                  std::vector<double>(systems_.size(), 0.0)},
                 want == Want::dimension ? effective_dimension(lambda) : kNaN};
    all.weights.w.fill(0);
    for (int64_t k = 0; k < outputs(); ++k) {
      if (systems_[k] == nullptr) continue;
      const Weights own = systems_[k]->solve(lambda, context);
      for (int64_t c = 0; c < features_; ++c) all.weights.w(c, k) = own.w(c, 0);
      all.weights.intercept[k] = own.intercept[0];
    }
    return all;
  }
  double effective_dimension(double lambda) const override {
    double sum = 0;
    for (const auto& system : systems_) sum += system ? system->effective_dimension(lambda) : 0;
    return sum / static_cast<double>(outputs());
  }
  std::vector<double> evidence(double lambda, double noise) const override {
    std::vector<double> each;
    for (const auto& system : systems_)
      each.push_back(system ? system->evidence(lambda, noise)[0] : 0);
    return each;
  }
  Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                               Context& context) const override {
    const int64_t p = outputs(), L = std::ssize(lambdas);
    Matrix<double> all(block.Z.rows, checked_multiply(L, p, kCoupledRidge), context, kCoupledRidge);
    all.fill(0);
    for (int64_t k = 0; k < p; ++k) {
      if (systems_[k] == nullptr) continue;
      WideBlock own = block;
      own.Y = block.Y.block_cols(k, k + 1);
      const Matrix<double> e = systems_[k]->leave_one_out(lambdas, own, context);
      for (int64_t i = 0; i < e.rows(); ++i)
        for (int64_t l = 0; l < L; ++l) all(i, l * p + k) = e(i, l);
    }
    return all;
  }

 private:
  int64_t outputs() const noexcept { return std::ssize(systems_); }
  bool leaves_out_by_place() const noexcept override {
    return std::ranges::all_of(
        systems_, [](const auto& one) { return one == nullptr || one->leaves_out_by_place(); });
  }
  int64_t features_;
  Coupling one_;
  std::vector<std::unique_ptr<GroupSystem>> systems_;
};

/// A factor of H + n lambda I for each lambda.
class GroupFactors final : public RidgeSystem {
 public:
  GroupFactors(CoupledSums sums, const Coupling& coupling)
      : sums_(std::move(sums)), coupling_(coupling) {}
  Solution solution(double lambda, Want want, Context& context) const override {
    const double shift = checked_shift(lambda, sums_.n);
    const int64_t r = sums_.H.rows();
    const Matrix<double> A(r, r, context, kCoupledRidge);
    for (int64_t j = 0; j < r; ++j) {
      std::copy_n(sums_.H.view().row(j), j + 1, A.view().row(j));
      A(j, j) += shift;
    }
    std::vector<double> theta = sums_.s;
    const MatrixView<double> solved(theta.data(), r, 1);
    double taken = 0;   // by the penalty: r - Tr H
    if (lambda == 0) {  // of least norm, also where columns depend on each other
      taken = static_cast<double>(r - solve_pseudo_inverse(A.view(), solved, context));
    } else {
      jittered_cholesky(A.view(), context);
      linalg::cholesky_solve(A.view(), solved);
      if (want == Want::dimension) taken = shift * inverse_trace(A.view(), context);
    }
    const double all = static_cast<double>(r) - taken + sums_.means.intercepts();
    return {weights_of(coupling_, sums_.means, theta, context),
            want == Want::dimension ? all / static_cast<double>(coupling_.outputs()) : kNaN};
  }

 private:
  CoupledSums sums_;
  const Coupling& coupling_;
};

/// The same on the side of the targets, fewer than coefficients: of K + n lambda I.
class TargetFactors final : public RidgeSystem {
 public:
  TargetFactors(TargetGram gram, int64_t outputs) : gram_(std::move(gram)), outputs_(outputs) {}
  Solution solution(double lambda, Want want, Context& context) const override {
    const double shift = checked_shift(lambda, gram_.n);
    const Matrix<double> A = copy_of(gram_.K.view(), context, kCoupledRidge);
    std::vector<double> u = gram_.y;
    double left = 0;  // of the targets, by the penalty
    if (lambda == 0) {
      left = static_cast<double>(A.rows() -
                                 solve_pseudo_inverse(A.view(), column(std::span(u)), context));
    } else {
      for (int64_t a = 0; a < A.rows(); ++a) A(a, a) += shift;
      jittered_cholesky(A.view(), context);
      linalg::cholesky_solve(A.view(), column(std::span(u)));
      if (want == Want::dimension) left = shift * inverse_trace(A.view(), context);
    }
    const double dimension = static_cast<double>(A.rows()) - left + gram_.means.intercepts();
    return {gram_.weights(u, context),
            want == Want::dimension ? dimension / static_cast<double>(outputs_) : kNaN};
  }

 private:
  TargetGram gram_;
  int64_t outputs_;
};

// One root B for all features, every target observed. With Gamma = B B' = Q diag(g) Q' the problem
// is a Stein equation, Z'Z C Gamma + n lambda C = Z'Y Gamma; in the basis Q column j of C is the
// ridge solution of the target Y q_j at lambda / g_j, and 0 if g_j = 0. Q also rotates
// leave-one-out residuals back. Brault, Heinonen, d'Alche-Buc 2016, section 5.3.

template <class System>
class RotatedSystem final : public RidgeSystem {
 public:
  RotatedSystem(System system, const RidgeProblem& problem, Context& context)
      : system_(std::move(system)),
        coupling_(*problem.coupling),
        center_(problem.center),
        to_(outputs(), outputs(), context, kCoupledRidge),
        back_(outputs(), outputs(), context, kCoupledRidge) {
    const auto Q = coupling_.Q();
    for (int64_t k = 0; k < outputs(); ++k)
      for (int64_t j = 0; j < outputs(); ++j) {
        const double scale = coupling_.scale()[k];
        to_(k, j) = Q(k, j) / scale;
        back_(j, k) = Q(k, j) * scale;
      }
  }

  Solution solution(double lambda, Want want, Context& context) const override {
    const std::vector<double> lambdas = coupling_.lambdas(lambda);
    const Weights rotated = system_.solve(Combination{to_.view(), lambdas}, context);
    Weights result{Matrix<double>(rotated.w.rows(), outputs(), context, kCoupledRidge),
                   std::vector<double>(outputs(), 0.0)};
    linalg::multiply(1.0, kPlain, rotated.w.view(), kPlain, back_.view(), 0.0, result.w.view());
    for (int64_t j = 0; j < outputs(); ++j)
      for (int64_t k = 0; k < outputs(); ++k)
        result.intercept[k] += rotated.intercept[j] * back_(j, k);
    return {std::move(result), want == Want::dimension ? effective_dimension(lambda) : kNaN};
  }

  double effective_dimension(double lambda) const override {
    double sum = 0;
    for (const double own : coupling_.lambdas(lambda))
      sum += std::isinf(own) ? (center_ ? 1.0 : 0.0) : system_.effective_dimension(own);
    return sum / static_cast<double>(outputs());
  }

  std::vector<double> evidence(double lambda, double /*noise*/) const override {
    const std::vector<double> lambdas = coupling_.lambdas(lambda);
    return {system_.evidence(Combination{to_.view(), lambdas}, lambda)};
  }

  Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                               Context& context) const override {
    const int64_t p = outputs(), columns = checked_multiply(std::ssize(lambdas), p, kCoupledRidge);
    const Matrix<double> M(p, columns, context, kCoupledRidge);
    std::vector<double> each;
    for (const double lambda : lambdas)
      for (const double own : coupling_.lambdas(lambda)) each.push_back(own);
    for (int64_t k = 0; k < p; ++k)
      for (int64_t j = 0; j < columns; ++j) M(k, j) = to_(k, j % p);
    const Matrix<double> rotated =
        system_.leave_one_out(Combination{M.view(), each}, block, context);
    Matrix<double> residuals(rotated.rows(), columns, context, kCoupledRidge);
    for (int64_t at = 0; at < columns; at += p)
      linalg::multiply(1.0, kPlain, rotated.view().block_cols(at, at + p), kPlain, back_.view(),
                       0.0, residuals.view().block_cols(at, at + p));
    return residuals;
  }

 private:
  int64_t outputs() const noexcept { return coupling_.outputs(); }
  bool leaves_out_by_place() const noexcept override { return std::is_same_v<System, DualSystem>; }

  System system_;
  const Coupling& coupling_;
  bool center_;
  Matrix<double> to_, back_;  // S^{-1} Q, and Q'S, its inverse
};

/// The problem's coupling is referred to.
std::unique_ptr<RidgeSystem> make_rotated_system(const BlockSource& rows,
                                                 const RidgeProblem& problem, Context& context,
                                                 const RowsDone& done) {
  if (is_dual(rows)) {
    DualSystem system = make_dual_system(rows, problem.center, context, done);
    system.decompose(context);
    return std::make_unique<RotatedSystem<DualSystem>>(std::move(system), problem, context);
  }
  context.require_room(PrimalSystem::least_bytes(rows.features(), rows.outputs()), kCoupledRidge);
  RowStatistics statistics(rows.features(), rows.outputs(), context);
  add_blocks(rows, statistics, context, done);
  return std::make_unique<RotatedSystem<PrimalSystem>>(
      PrimalSystem(take_reduced(rows, std::move(statistics)), problem.center, context), problem,
      context);
}

bool is_rotated(const BlockSource& rows, const RidgeProblem& problem) {
  return problem.coupling != nullptr && problem.coupling->shared() && rows.is_complete() &&
         !rows.has_features_by_output();
}

}  // namespace

Coupling::Coupling(int64_t outputs, Matrix<double> roots, std::vector<double> scale,
                   Context& context)
    : outputs_(outputs), roots_(std::move(roots)), scale_(std::move(scale)) {
  require(outputs >= 1 && roots_.rows() >= 1 && roots_.cols() >= outputs &&
              roots_.cols() % outputs == 0 && std::ssize(scale_) == outputs,
          MERCER_INVALID_ARGUMENT, "roots of %ld outputs are %ld x %ld, with %zu units", outputs,
          roots_.rows(), roots_.cols(), scale_.size());
  const double* const numbers = roots_.data();
  const int64_t count = roots_.rows() * roots_.cols();
  require(std::all_of(numbers, numbers + count, [](double x) { return std::isfinite(x); }) &&
              std::any_of(numbers, numbers + count, [](double x) { return x != 0; }),
          MERCER_INVALID_ARGUMENT, "roots of outputs are 0 or not finite, expected a rank of 1");
  if (!shared()) return;
  const MatrixView<const double> B(roots_.data(), outputs, width());
  const Matrix<double> V(outputs, outputs, context, kRoots);
  linalg::multiply(1.0, kPlain, B, kTransposed, B, 0.0, V.view());
  g_.resize(outputs);
  linalg::symmetric_eigen(V.view(), g_, context);
  // Eigenvalues below this are rounding errors of directions that B does not reach.
  const double least = kEpsilon * static_cast<double>(outputs) * g_.back();
  for (double& g : g_) g = g > least ? g : 0;
  Q_ = Matrix<double>(outputs, outputs, context, kRoots);
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t j = 0; j < outputs; ++j) Q_(k, j) = V(j, k);
}

Coupling Coupling::independent(int64_t outputs, Context& context, std::vector<double> units) {
  Matrix<double> unit(1, checked_multiply(outputs, outputs, kRoots), context, kRoots);
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t l = 0; l < outputs; ++l) unit(0, k * outputs + l) = k == l ? 1 : 0;
  if (units.empty()) units.assign(outputs, 1.0);
  return {outputs, std::move(unit), std::move(units), context};
}

void Coupling::spread(MatrixView<const double> theta, MatrixView<double> C) const noexcept {
  for (int64_t c = 0; c < C.rows; ++c)
    for (int64_t k = 0; k < C.cols; ++k) {
      double sum = 0;
      for (int64_t b = 0; b < theta.cols; ++b) sum += root(c, k, b) * theta(c, b);
      C(c, k) = sum;
    }
}

void Coupling::gather(MatrixView<const double> C, MatrixView<double> theta) const noexcept {
  for (int64_t c = 0; c < C.rows; ++c)
    for (int64_t b = 0; b < theta.cols; ++b) {
      double sum = 0;
      for (int64_t k = 0; k < C.cols; ++k) sum += root(c, k, b) * C(c, k);
      theta(c, b) = sum;
    }
}

std::vector<double> Coupling::lambdas(double lambda) const {
  std::vector<double> result;
  for (const double g : g_) result.push_back(g > 0 ? lambda / g : kInfinity);
  return result;
}

std::unique_ptr<RidgeSystem> make_coupled_system(const BlockSource& rows,
                                                 const RidgeProblem& problem, Context& context,
                                                 const RowsDone& done) {
  require_outputs(rows, problem);
  if (is_rotated(rows, problem)) return make_rotated_system(rows, problem, context, done);
  if (problem.coupling == nullptr || (!rows.is_complete() && observed(rows, context).targets == 0))
    return std::make_unique<SeparateSystem>(rows, problem.center, context, done);
  const Side side = side_of(rows, *problem.coupling, context);
  require_square(side.size, context);
  return std::make_unique<GroupSystem>(rows, problem, *problem.coupling, side.dual, context, done);
}

std::unique_ptr<RidgeSystem> make_coupled_factors(const BlockSource& rows,
                                                  const RidgeProblem& problem, Context& context,
                                                  const RowsDone& done) {
  const bool plain = problem.coupling == nullptr || is_rotated(rows, problem);
  if (plain) return make_coupled_system(rows, problem, context, done);
  require_outputs(rows, problem);
  if (side_of(rows, *problem.coupling, context).dual) {
    require_square(side_of(rows, *problem.coupling, context).size, context);
    return std::make_unique<TargetFactors>(
        target_gram(rows, problem, *problem.coupling, context, done), rows.outputs());
  }
  return std::make_unique<GroupFactors>(
      coupled_sums(rows, problem, *problem.coupling, context, done), *problem.coupling);
}

int64_t coupled_rows(const BlockSource& rows, const RidgeProblem& problem) {
  const int64_t q =
      problem.coupling == nullptr || is_rotated(rows, problem) ? 1 : problem.coupling->width();
  return q * q * eigen_rows(std::min(rows.rows(), rows.features()));
}

}  // namespace mercer::solver
