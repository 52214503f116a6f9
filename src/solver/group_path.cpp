// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/group_path.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/parallel.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "solver/block_statistics.h"
#include "solver/ridge.h"

namespace mercer::solver {
namespace {

constexpr const char* kCoupledSums = "sums of coupled outputs";

double weight_at(std::span<const double> weights, int64_t i) {
  return weights.empty() ? 1.0 : weights[i];
}

/// Statistics for each output, of the rows that have its target.
std::vector<RowStatistics> separate_sums(const BlockSource& rows, Context& context,
                                         const RowsDone& done) {
  std::vector<RowStatistics> sums;
  for (int64_t k = 0; k < rows.outputs(); ++k) sums.emplace_back(rows.features(), 1, context);
  std::vector<double> weights, y;
  rows.for_each(context, [&](const FeatureBlock& block) {
    const int64_t n = block.rows();
    for (int64_t k = 0; k < rows.outputs(); ++k) {
      weights.clear();
      y.clear();
      for (int64_t i = 0; i < n; ++i) {
        const bool known = !std::isnan(block.Y(i, k));
        weights.push_back(known ? weight_at(block.weights, i) : 0.0);
        y.push_back(known ? block.Y(i, k) : 0.0);
      }
      const MatrixView<const double> target(y.data(), n, 1);
      block.visit([&](auto Z) { sums[k].add(Z, target, context, weights); });
    }
    if (done) done(n);
  });
  return sums;
}

/// H += the part of output k with Gram matrix gram.
void add_gram(const Coupling& coupling, int64_t k, double factor, MatrixView<const double> gram,
              Context& context, MatrixView<double> H) {
  const int64_t D = gram.rows, q = coupling.width();
  parallel_for(context, D, [&](int64_t c, int) noexcept {
    for (int64_t b = 0; b < q; ++b) {
      const double own = factor * coupling.root(c, k, b);
      double* const to = H.row(c * q + b);
      for (int64_t e = 0; e <= c; ++e)
        for (int64_t a = 0; a < q; ++a) to[e * q + a] += own * coupling.root(e, k, a) * gram(c, e);
    }
  });
}

void keep_means(const Means& means, double weight, bool center, int64_t k, int64_t output,
                OutputMeans& to) {
  std::ranges::copy(means.row.features, to.features.view().row(k));
  to.outputs[k] = means.row.outputs[output];
  to.share[k] = center && weight > 0 ? 1 / weight : 0;
}

OutputMeans no_means(int64_t p, int64_t D, Context& context) {
  OutputMeans means{Matrix<double>(p, D, context, kCoupledSums), std::vector<double>(p, 0.0),
                    std::vector<double>(p, 0.0)};
  means.features.fill(0);
  return means;
}

}  // namespace

Observed observed(const BlockSource& rows, Context& context) {
  Observed found;
  double targets = 0;
  rows.for_each_target(context, [&](MatrixView<const double> Y, std::span<const double> weights) {
    for (int64_t i = 0; i < Y.rows; ++i) {
      const auto known =
          std::count_if(Y.row(i), Y.row(i) + Y.cols, [](double y) { return !std::isnan(y); });
      if (known == 0 || weight_at(weights, i) == 0) continue;
      found.weight += weight_at(weights, i);
      targets += static_cast<double>(known);
    }
  });
  reduce(rows, {&found.weight, 1});
  reduce(rows, {&targets, 1});
  found.targets = static_cast<int64_t>(targets);
  return found;
}

GroupSums group_sums(const BlockSource& rows, const RidgeProblem& problem, const Coupling& coupling,
                     Context& context, const RowsDone& done) {
  const int64_t p = rows.outputs(), D = rows.features(), q = coupling.width(), r = D * q;
  std::vector<RowStatistics> sums;
  if (rows.is_complete()) {
    sums.emplace_back(D, p, context);
    add_blocks(rows, sums[0], context, done);
  } else {
    sums = separate_sums(rows, context, done);
  }
  GroupSums result{Matrix<double>(r, r, context, kCoupledSums), std::vector<double>(r, 0.0),
                   no_means(p, D, context), observed(rows, context).weight};
  result.H.fill(0);
  for (std::size_t part = 0; part < sums.size(); ++part) {
    RowStatistics own = take_reduced(rows, std::move(sums[part]));
    own.release_scratch();
    if (own.weight() == 0) continue;
    const Means means = center_in_place(own, problem.center);
    const int64_t first = sums.size() == 1 ? 0 : static_cast<int64_t>(part);
    for (int64_t k = first; k < (sums.size() == 1 ? p : first + 1); ++k) {
      keep_means(means, own.weight(), problem.center, k, k - first, result.means);
      const double unit = coupling.scale()[k];
      result.squares += own.sum_squared_outputs()[k - first] / unit / unit;
      result.degrees += own.weight() - (problem.center ? 1 : 0);
      add_gram(coupling, k, 1.0, own.gram(), context, result.H.view());
      for (int64_t c = 0; c < D; ++c)
        for (int64_t b = 0; b < q; ++b)
          result.s[c * q + b] += coupling.root(c, k, b) * own.cross()(c, k - first) / unit;
    }
    context.checkpoint();
  }
  return result;
}

OutputMeans output_means(MatrixView<const double> Z, MatrixView<const double> Y,
                         std::span<const double> weights, bool center, Context& context) {
  OutputMeans means = no_means(Y.cols, Z.cols, context);
  for (int64_t k = 0; center && k < Y.cols; ++k) {
    double* const mean = means.features.view().row(k);
    double weight = 0, sum = 0;
    for (int64_t i = 0; i < Y.rows; ++i) {
      if (std::isnan(Y(i, k))) continue;
      const double w = weight_at(weights, i);
      weight += w;
      sum += w * Y(i, k);
      for (int64_t c = 0; c < Z.cols; ++c) mean[c] += w * Z(i, c);
    }
    if (weight == 0) continue;
    for (int64_t c = 0; c < Z.cols; ++c) mean[c] /= weight;
    means.outputs[k] = sum / weight;
    means.share[k] = 1 / weight;
  }
  return means;
}

std::vector<Target> targets_of(MatrixView<const double> Y, std::span<const double> weights) {
  std::vector<Target> targets;
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t k = 0; weight_at(weights, i) > 0 && k < Y.cols; ++k)
      if (!std::isnan(Y(i, k))) targets.push_back({i, k});
  return targets;
}

void expand(const Coupling& coupling, const OutputMeans& means, MatrixView<const double> Z,
            std::span<const double> weights, std::span<const Target> targets, Context& context,
            MatrixView<double> out) {
  const int64_t q = coupling.width();
  parallel_for(context, std::ssize(targets), [&](int64_t a, int) noexcept {
    const auto [i, k] = targets[a];
    const double root = std::sqrt(weight_at(weights, i));
    const double *z = Z.row(i), *mean = means.features.view().row(k);
    double* to = out.row(a);
    for (int64_t c = 0; c < Z.cols; ++c)
      for (int64_t b = 0; b < q; ++b) *to++ = root * (z[c] - mean[c]) * coupling.root(c, k, b);
  });
}

double centred(const Coupling& coupling, const OutputMeans& means, MatrixView<const double> Y,
               std::span<const double> weights, Target target) {
  const auto k = static_cast<std::size_t>(target.output);
  return std::sqrt(weight_at(weights, target.row)) *
         (Y(target.row, target.output) - means.outputs[k]) / coupling.scale()[k];
}

Weights weights_of(const Coupling& coupling, const OutputMeans& means,
                   std::span<const double> theta, Context& context) {
  const int64_t p = coupling.outputs(), D = means.features.cols(), q = coupling.width();
  Weights weights{Matrix<double>(D, p, context, kCoupledSums), means.outputs};
  coupling.spread({theta.data(), D, q}, weights.w.view());
  for (int64_t c = 0; c < D; ++c)
    for (int64_t k = 0; k < p; ++k) {
      weights.w(c, k) *= coupling.scale()[k];
      weights.intercept[k] -= means.features(k, c) * weights.w(c, k);
    }
  return weights;
}

// With A = Phi~ (m x r), A'A = V'SV (primal) or AA' = V'SV (dual), T = A V' or V', and c = V A'y or
// V y, the residual is y - T diag(1/(s + n lambda)) c or T diag(n lambda/(s + n lambda)) c. I - H
// is the same with T' for c, minus the intercepts' share. Leaving out a row with all its targets
// multiplies its residuals by (I - H)_ii^{-1}.

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
