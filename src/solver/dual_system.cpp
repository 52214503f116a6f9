// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The dual ridge system and its selection criteria. With K = U diag(s) U' (centred) the residual is
// (I - H) y = U diag(n lambda / (s + n lambda)) U'y and H_ii = sum_j U_ij^2 s_j / (s_j + n lambda),
// plus 1/n for the intercept; GCV as in Golub, Heath, Wahba (1979). The intercept's direction, the
// roots of the weights, is a null vector of the centred K. It is kept apart from the others: 1 - H_ii
// as a difference from 1/n would be rounding where n lambda is small.
#include "solver/dual_system.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "base/views.h"
#include "linalg/blas.h"
#include "solver/block_statistics.h"
#include "solver/primal_system.h"
#include "solver/ridge_system.h"
#include "solver/row_weights.h"

namespace mercer::solver {
namespace {

using linalg::kPlain, linalg::kTransposed;

constexpr const char kLeaveOneOut[] = "leave-one-out";
constexpr const char kWithoutRows[] = "the evidence without some rows";
constexpr const char kAlpha[] = "the weights of the rows";
constexpr const char kSquare[] = "an n x n matrix of the dual form";
constexpr int64_t kCenteredColumns = 512;  // columns of Z that are centred at a time

/// K += Z Z' by strips of columns, between which the call may be stopped.
void add_products(MatrixView<const double> Z, MatrixView<double> K, Context& context) {
  constexpr int64_t kAtOnce = int64_t{1} << 32;  // products
  const int64_t width = std::max<int64_t>(32, kAtOnce / std::max<int64_t>(1, Z.rows * Z.rows));
  for (int64_t first = 0; first < Z.cols; first += width) {
    linalg::rank_update_rows(1.0, Z.block_cols(first, std::min(first + width, Z.cols)), K);
    context.checkpoint();
  }
}

/// Calls body(first column, columns of Z less their means) for strips of columns; Z is not copied
/// as a whole.
template <class Body>
void for_each_strip(MatrixView<const double> Z, std::span<const double> mean, Context& context,
                    const Body& body) {
  const int64_t width = std::min(kCenteredColumns, Z.cols);
  const int64_t words = checked_multiply(Z.rows, width, "dual ridge");
  const AlignedBuffer<double> storage(words, context, "a strip of the dual form");
  for (int64_t first = 0; first < Z.cols; first += width) {
    const int64_t last = std::min(first + width, Z.cols);
    const MatrixView<double> strip{storage.data(), Z.rows, last - first};
    copy_rows(Z.block_cols(first, last), strip);
    linalg::subtract_from_rows(mean.subspan(first), strip);
    body(first, MatrixView<const double>(strip));
    context.checkpoint();
  }
}

/// alpha := (K + shift I)^{-1} alpha. K is destroyed.
void solve_system(MatrixView<double> K, double shift, double null_level, MatrixView<double> alpha,
                  Context& context) {
  if (shift <= null_level) {
    solve_pseudo_inverse(K, alpha, context);
    return;
  }
  for (int64_t i = 0; i < K.rows; ++i) K(i, i) += shift;
  jittered_cholesky(K, context);
  linalg::cholesky_solve(K, alpha);
}

double trace(MatrixView<const double> K) {
  double sum = 0;
  for (int64_t i = 0; i < K.rows; ++i) sum += K(i, i);
  return sum;
}

// Of a kernel's values: more than rounding.
constexpr double kIndefinite = 1e-7, kAsymmetric = 1e-7;

/// The rows' features, or their kernel columns.
DualSystem dual_system_of(Matrix<double> Z, std::optional<std::vector<int64_t>> columns,
                          int64_t features, Matrix<double> Y, std::vector<double> weights,
                          bool center, Context& context) {
  if (!columns) return DualSystem(std::move(Z), std::move(Y), std::move(weights), center, context);
  return DualSystem(KernelMatrix{std::move(Z), std::move(*columns), features}, std::move(Y),
                    std::move(weights), center, context);
}

}  // namespace

DualSystem::DualSystem(Matrix<double> Z, Matrix<double> Y, std::vector<double> weights, bool center,
                       Context& context)
    : targets_(copy_of(Y.view(), context, "the targets")),
      Z_(std::move(Z)),
      Y_(std::move(Y)),
      weights_(std::move(weights)),
      n_(total_weight(weights_, Z_.rows())),
      center_(center),
      mean_Y_(Y_.cols(), 0.0),
      features_(Z_.cols()),
      K_(Z_.rows(), Z_.rows(), context, kSquare) {
  prepare_targets();
  if (center_) {
    mean_Z_ = linalg::column_means(Z_.view(), weights_);
    linalg::subtract_from_rows(mean_Z_, Z_.view());
  }
  scale_by_roots(weights_, Z_.view());
  K_.fill(0.0);
  add_products(Z_.view(), K_.view(), context);
}

DualSystem::DualSystem(KernelMatrix kernel, Matrix<double> Y, std::vector<double> weights,
                       bool center, Context& context)
    : targets_(copy_of(Y.view(), context, "the targets")),
      Y_(std::move(Y)),
      weights_(std::move(weights)),
      n_(total_weight(weights_, Y_.rows())),
      center_(center),
      mean_Y_(Y_.cols(), 0.0),
      columns_(std::move(kernel.columns)),
      features_(kernel.features),
      K_(std::move(kernel.K)) {
  require_kernel_matrix(K_.view());
  prepare_targets();
  if (center_) center_kernel();
  for (int64_t i = 0; i < rows() && !weights_.empty(); ++i)
    for (int64_t j = 0; j <= i; ++j) K_(i, j) *= std::sqrt(weight_of(i) * weight_of(j));
}

void DualSystem::prepare_targets() {
  if (center_) {
    mean_Y_ = linalg::column_means(Y_.view(), weights_);
    linalg::subtract_from_rows(mean_Y_, Y_.view());
  }
  scale_by_roots(weights_, Y_.view());
}

// (I - 1 w') K (I - w 1') for the rows' shares w of the weight, which sum to 1.
void DualSystem::center_kernel() {
  const std::vector<double> means = linalg::column_means(K_.view(), weights_);
  mean_Z_.assign(features_, 0.0);
  for (int64_t i = 0; i < rows(); ++i) {
    const double mean = means[i];
    mean_Z_[columns_[i]] = mean;
    mean_K_ += weight_of(i) / n_ * mean;
  }
  for (int64_t i = 0; i < rows(); ++i)
    for (int64_t j = 0; j <= i; ++j) K_(i, j) += mean_K_ - means[i] - means[j];
}

void DualSystem::put_columns(const Matrix<double>& alpha, MatrixView<double> w) const {
  std::fill_n(w.data, w.rows * w.cols, 0.0);
  for (int64_t o = 0; o < alpha.cols(); ++o) {
    double sum = 0;
    for (int64_t i = 0; i < rows(); ++i) sum += std::sqrt(weight_of(i)) * alpha(i, o);
    for (int64_t i = 0; i < rows(); ++i)
      w(columns_[i], o) =
          std::sqrt(weight_of(i)) * alpha(i, o) - (center_ ? weight_of(i) / n_ * sum : 0.0);
  }
}

Solution DualSystem::solution(double lambda, Want want, Context& context) const {
  const bool dimension = want == Want::dimension;
  if (by_eigenvectors_) {
    const Matrix<double> each(outputs(), outputs(), context, kSquare);
    each.fill(0);
    for (int64_t o = 0; o < outputs(); ++o) each(o, o) = 1;
    const std::vector<double> lambdas(outputs(), lambda);
    return {solve(Combination{each.view(), lambdas}, context),
            dimension ? effective_dimension(lambda) : kNaN};
  }
  for (const auto& [known, alpha] : solved_)
    if (known == lambda && !dimension) return {weights_of(alpha, mean_Y_, context)};
  const Matrix<double> K = copy_of(K_.view(), context, kSquare);  // a factor, or eigenvectors
  if (lambda == 0) {
    const Matrix<double> alpha = copy_of(Y_.view(), context, kAlpha);
    const int64_t rank = solve_pseudo_inverse(K.view(), alpha.view(), context);
    return {weights_of(alpha, mean_Y_, context), static_cast<double>(rank + (center_ ? 1 : 0))};
  }
  Weights weights =
      weights_of(kernel_ridge(K.view(), Y_.view(), lambda, n_, context), mean_Y_, context);
  if (!dimension) return {std::move(weights)};
  const double left = n_ * lambda * inverse_trace(K.view(), context);
  return {std::move(weights), static_cast<double>(rows()) - left + (center_ ? 1.0 : 0.0)};
}

// (I - H)(y - mean) = n lambda (K + n lambda I)^{-1} (y - mean), and so is I - H itself but for the
// intercept's share.
Solution DualSystem::solve_leaving_out(const BlockSource&, double lambda, Context& context,
                                       const LeftOutRow& body) {
  if (lambda == 0) {  // (I - K K^+)(y - mean)
    decompose(context);
    give(leave_one_out({&lambda, 1}, 0, rows(), context), 0, body);
    return solution(lambda, Want::dimension, context);
  }
  const Matrix<double> K = copy_of(K_.view(), context, kSquare);  // a factor, then the inverse
  const double apart = std::max(trace(K.view()), 0.0) / static_cast<double>(rows());
  linalg::rank_update(apart, intercept(context).view(), K.view());
  const Matrix<double> alpha = kernel_ridge(K.view(), Y_.view(), lambda, n_, context);
  const std::vector<double> inverse = linalg::cholesky_inverse_diagonal(K.view());
  const double shift = n_ * lambda, share = center_ ? shift / (apart + shift) : 0.0;
  const Matrix<double> residuals(rows(), outputs(), context, kLeaveOneOut);
  auto dimension = static_cast<double>(rows());
  for (int64_t i = 0; i < rows(); ++i) {
    const double rest = shift * inverse[i] - share * weight_of(i) / n_;
    dimension -= rest;
    for (int64_t o = 0; o < outputs(); ++o)
      residuals(i, o) = left_out(shift * alpha(i, o), rest, i);
  }
  give(residuals, 0, body);
  solved_.emplace_back(lambda, copy_of(alpha.view(), context, kAlpha));
  return {weights_of(alpha, mean_Y_, context), dimension};
}

void DualSystem::for_each_left_out(const BlockSource&, std::span<const double> lambdas,
                                   Context& context, const LeftOutRow& body,
                                   const RowsDone& done) const {
  const int64_t size = rows_left_out_at_once(lambdas, outputs());
  for (int64_t first = 0; first < rows(); first += size) {
    const int64_t last = std::min(first + size, rows());
    give(leave_one_out(lambdas, first, last, context), first, body);
    if (done) done(last - first);
    context.checkpoint();
  }
}

void DualSystem::give(const Matrix<double>& residuals, int64_t first,
                      const LeftOutRow& body) const {
  for (int64_t i = 0; i < residuals.rows(); ++i)
    body(first + i, targets_.view().row(first + i), weight_of(first + i), residuals.view().row(i));
}

Weights DualSystem::weights_of(const Matrix<double>& alpha, std::vector<double> mean_Y,
                               Context& context) const {
  Weights weights{Matrix<double>(features_, alpha.cols(), context, "weights"), std::move(mean_Y)};
  if (columns_.empty()) {
    linalg::multiply(1.0, kTransposed, Z_.view(), kPlain, alpha.view(), 0.0, weights.w.view());
  } else {
    put_columns(alpha, weights.w.view());
  }
  for (size_t j = 0; j < mean_Z_.size(); ++j) {
    const double* w = weights.w.view().row(static_cast<int64_t>(j));
    for (size_t o = 0; o < weights.intercept.size(); ++o) weights.intercept[o] -= mean_Z_[j] * w[o];
  }
  return weights;
}

void DualSystem::decompose(Context& context) {
  if (!s_.empty()) return;
  s_.resize(rows());
  U_ = copy_of(K_.view(), context, kSquare);
  // Of rows that are nearly equal the centred values are all rounding.
  const double rounding = columns_.empty()
                              ? kInfinity
                              : kEpsilon * static_cast<double>(rows()) * n_ * std::abs(mean_K_);
  centered_eigen(U_.view(), intercept(context).view(), s_, rounding, context);
  UY_ = Matrix<double>(rows(), Y_.cols(), context, "targets among eigenvectors");
  linalg::multiply(1.0, kPlain, U_.view(), kPlain, Y_.view(), 0.0, UY_.view());
}

Matrix<double> DualSystem::intercept(Context& context) const {
  Matrix<double> root(center_ ? 1 : 0, rows(), context, kSquare);
  for (int64_t i = 0; i < root.rows() * rows(); ++i) root(0, i) = std::sqrt(weight_of(i) / n_);
  return root;
}

/// Centred kernel values are differences and keep the rounding errors of plain ones.
double DualSystem::null_level() const {
  const double scale = s_.back() + (columns_.empty() ? 0.0 : n_ * std::abs(mean_K_));
  return std::max(kEpsilon * static_cast<double>(rows()) * scale,
                  columns_.empty() ? squared_rounding(n_, mean_Z_) : 0.0);
}

// v = Z'u/sqrt(s), so that v'Z'Y = sqrt(s) u'Y.
Directions DualSystem::directions(int64_t count, Context& context) const {
  const int64_t n = rows(), m = outputs();
  Matrix<double> alpha(n, count, context, "principal components");
  Weights targets{Matrix<double>(count, m, context, "principal components"), mean_Y_};
  for (int64_t j = 0; j < count; ++j) {
    const double root = std::sqrt(s_[n - 1 - j]);
    for (int64_t i = 0; i < n; ++i) alpha(i, j) = U_(n - 1 - j, i) / root;
    for (int64_t o = 0; o < m; ++o) targets.w(j, o) = root * UY_(n - 1 - j, o);
  }
  const std::vector<double> zero(count, 0.0);
  Directions result{weights_of(alpha, zero, context), std::move(targets)};
  // At least 1: a row of weight 0 has an entry 0.
  for (int64_t i = 0; i < std::ssize(columns_); ++i) {
    result.counts.resize(features_, 1.0);
    const double count = weight_of(i);
    result.counts[columns_[i]] = count > 0 ? count : 1;
  }
  return result;
}

double DualSystem::residual_part(int64_t j, double lambda) const {
  if (center_ && j == 0) return 0;
  const double shift = n_ * lambda;
  const double sum = s_[j] + shift;
  const double null = lambda == 0 ? null_level() : 0;  // rounding, not rows
  return sum > null && !std::isinf(sum) ? shift / sum : 1.0;
}

std::vector<double> DualSystem::gcv(double lambda) const {
  double left = n_ - static_cast<double>(rows());
  for (int64_t j = 0; j < rows(); ++j) left += residual_part(j, lambda);
  std::vector<double> result(UY_.cols(), 0.0);
  for (int64_t j = 0; j < rows(); ++j) {
    for (size_t o = 0; o < result.size(); ++o) {
      const double r = UY_(j, static_cast<int64_t>(o)) * residual_part(j, lambda);
      result[o] += r * r;
    }
  }
  const bool interpolates = left <= kInterpolates * n_;
  for (double& value : result) {
    value = interpolates ? kInfinity : value / left * (n_ / left);
  }
  return result;
}

EvidenceSums DualSystem::evidence_sums(double shift, double others) const {
  const std::vector<double> none(outputs(), 0.0);
  EvidenceSums sums(none, shift, others);
  for (int64_t j = 0; j < rows(); ++j)
    sums.add(s_[j], UY_.view().row(j), shift, 1 / (s_[j] + shift));
  return sums;
}

std::vector<double> DualSystem::evidence(double lambda, double noise) const {
  const double shift = checked_shift(lambda, n_), degrees = n_ - (center_ ? 1.0 : 0.0);
  return evidence_sums(shift, degrees - static_cast<double>(rows())).of(degrees, shift, noise);
}

// P, the inverse of K + n lambda I among centred vectors, is the precision of targets under a flat
// prior on their intercept. Without rows F it is a Schur complement: y'Py falls by
// (Py)_F' P_FF^{-1} (Py)_F, and the determinant is multiplied by |P_FF|; the squared length of the
// vector of ones, which is no part of it, falls from n to the number of rows that are left.
std::vector<std::vector<double>> DualSystem::evidence_without(std::span<const double> lambdas,
                                                              std::span<const int64_t> left_out,
                                                              Context& context) const {
  std::vector<int64_t> out;
  double left = n_;
  for (const int64_t i : left_out)
    if (weight_of(i) > 0) out.push_back(i), left -= weight_of(i);
  const int64_t n = rows(), count = std::ssize(out);
  const Matrix<double> U(n, count, context, kWithoutRows);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < count; ++i) U(j, i) = center_ && j == 0 ? 0 : U_(j, out[i]);
  const double degrees = left - (center_ ? 1.0 : 0.0);
  std::vector<std::vector<double>> found;
  for (const double lambda : lambdas) {
    const double shift = checked_shift(lambda, n_);
    EvidenceSums sums = evidence_sums(shift, degrees - static_cast<double>(n - count));
    if (center_) sums.leave_out(std::log(n_ / left), std::vector<double>(outputs(), 0.0));
    found.push_back(leave_out(U, shift, sums, context) ? sums.of(degrees, shift, 0)
                                                       : std::vector<double>(outputs(), kInfinity));
  }
  return found;
}

/// False where rounding leaves no factor. U: n x F.
bool DualSystem::leave_out(const Matrix<double>& U, double shift, EvidenceSums& sums,
                           Context& context) const {
  const int64_t n = rows(), count = U.cols(), m = outputs();
  const Matrix<double> scaled(n, count + m, context, kWithoutRows),
      products(count + m, count + m, context, kWithoutRows),  // P_FF above, (Py)_F' below
      y(count, m, context, kWithoutRows);
  for (int64_t j = 0; j < n; ++j) {
    const double root = 1 / std::sqrt(s_[j] + shift);
    for (int64_t i = 0; i < count; ++i) scaled(j, i) = root * U(j, i);
    for (int64_t o = 0; o < m; ++o) scaled(j, count + o) = root * UY_(j, o);
  }
  products.fill(0);
  linalg::rank_update(1.0, scaled.view(), products.view());
  for (int64_t i = 0; i < count; ++i)
    for (int64_t o = 0; o < m; ++o) y(i, o) = products(count + o, i);
  const MatrixView<double> P{products.data(), count, count, count + m};
  if (linalg::cholesky(P) != 0) return false;
  linalg::triangular_solve(P, y.view());
  double determinant = 0;
  std::vector<double> quadratic(m, 0.0);
  for (int64_t i = 0; i < count; ++i) {
    determinant += 2 * std::log(P(i, i));
    for (int64_t o = 0; o < m; ++o) quadratic[o] += y(i, o) * y(i, o);
  }
  sums.leave_out(determinant, quadratic);
  return true;
}

double DualSystem::evidence(const Combination& of, double lambda) const {
  const double shift = checked_shift(lambda, n_), degrees = n_ - (center_ ? 1.0 : 0.0);
  const auto columns = static_cast<double>(of.M.cols);
  JointEvidence sums(0, shift, columns * (degrees - static_cast<double>(rows())));
  for (int64_t j = 0; j < rows(); ++j) {
    const std::vector<double> c =
        combined({UY_.view().row(j), static_cast<size_t>(outputs())}, of.M);
    for (int64_t k = 0; k < of.M.cols; ++k) {
      const double g = lambda / of.lambdas[k], own = c[k];
      sums.add(s_[j], g, own * own / (g * s_[j] + shift));
    }
  }
  return sums.of(columns * degrees);
}

double DualSystem::effective_dimension(double lambda) const {
  double trace = 0;
  for (int64_t j = 0; j < rows(); ++j) trace += 1 - residual_part(j, lambda);
  return trace;
}

Matrix<double> DualSystem::residual_parts(std::span<const double> lambdas, Context& context) const {
  Matrix<double> parts(rows(), std::ssize(lambdas), context, kLeaveOneOut);
  for (int64_t j = 0; j < parts.rows(); ++j)
    for (int64_t l = 0; l < parts.cols(); ++l) parts(j, l) = residual_part(j, lambdas[l]);
  return parts;
}

Matrix<double> DualSystem::leave_one_out(std::span<const double> lambdas, int64_t first,
                                         int64_t last, Context& context) const {
  const int64_t n = rows(), m = outputs();
  const int64_t columns = checked_multiply(std::ssize(lambdas), m, kLeaveOneOut);
  const Matrix<double> parts = residual_parts(lambdas, context);
  const Matrix<double> rotated(n, columns, context, kLeaveOneOut);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t k = 0; k < columns; ++k) rotated(j, k) = parts(j, k / m) * UY_(j, k % m);
  return left_out(parts, rotated, m, first, last, context);
}

Matrix<double> DualSystem::left_out(const Matrix<double>& parts, const Matrix<double>& rotated,
                                    int64_t each, int64_t first, int64_t last,
                                    Context& context) const {
  const int64_t n = rows(), count = last - first, columns = rotated.cols();
  const MatrixView<const double> U = U_.view().block_cols(first, last);
  const Matrix<double> squares(n, count, context, kLeaveOneOut);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < count; ++i) squares(j, i) = U(j, i) * U(j, i);
  const Matrix<double> left(count, parts.cols(), context, kLeaveOneOut);  // 1 - H_ii
  linalg::multiply(1.0, kTransposed, squares.view(), kPlain, parts.view(), 0.0, left.view());
  Matrix<double> result(count, columns, context, kLeaveOneOut);
  linalg::multiply(1.0, kTransposed, U, kPlain, rotated.view(), 0.0, result.view());
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < columns; ++k)
      result(i, k) = left_out(result(i, k), left(i, k / each), first + i);
  return result;
}

Matrix<double> DualSystem::leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                                         Context& context) const {
  return leave_one_out(lambdas, block.first, block.first + block.Z.rows, context);
}

Matrix<double> DualSystem::leave_one_out(const Combination& of, const WideBlock& block,
                                         Context& context) const {
  const Matrix<double> parts = residual_parts(of.lambdas, context);
  const Matrix<double> rotated(rows(), of.M.cols, context, kLeaveOneOut);
  linalg::multiply(1.0, kPlain, UY_.view(), kPlain, of.M, 0.0, rotated.view());
  for (int64_t j = 0; j < rows(); ++j)
    for (int64_t k = 0; k < of.M.cols; ++k) rotated(j, k) *= parts(j, k);
  return left_out(parts, rotated, 1, block.first, block.first + block.Z.rows, context);
}

Weights DualSystem::solve(const Combination& of, Context& context) const {
  const Matrix<double> rotated(rows(), of.M.cols, context, kSquare);
  Matrix<double> alpha(rows(), of.M.cols, context, kSquare);
  const double null = kEpsilon * static_cast<double>(rows()) * s_.back();  // rounding, not rows
  linalg::multiply(1.0, kPlain, UY_.view(), kPlain, of.M, 0.0, rotated.view());
  for (int64_t j = 0; j < rows(); ++j)
    for (int64_t k = 0; k < of.M.cols; ++k) {
      const double sum = s_[j] + n_ * of.lambdas[k];
      rotated(j, k) *= sum > null ? 1 / sum : 0.0;  // 0 for an infinite lambda
    }
  linalg::multiply(1.0, kTransposed, U_.view(), kPlain, rotated.view(), 0.0, alpha.view());
  return weights_of(alpha, combined(mean_Y_, of.M), context);
}

double DualSystem::left_out(double residual, double rest, int64_t row) const {
  const double root = std::sqrt(weight_of(row));
  if (root == 0) return 0;
  return rest > kInterpolates ? residual / (root * rest) : kInfinity;
}

DualSystem make_dual_system(const BlockSource& rows, bool center, Context& context,
                            const RowsDone& done) {
  const auto columns = rows.kernel_columns();
  const int64_t width = columns ? rows.rows() : rows.features();
  // Check memory for the factorisation before reading any row.
  context.require_room(dual_ridge_bytes(rows.rows(), width), "the dual form");
  Matrix<double> Z(rows.rows(), width, context, "the features of all rows");
  Matrix<double> Y(rows.rows(), rows.outputs(), context, "the targets of all rows");
  std::vector<double> weights;
  double sum = 0;
  for_each_wide(rows, context, [&](const WideBlock& block) {
    const bool weighs = !weights.empty() || !block.weights.empty();
    if (weighs) weights.resize(block.first, 1.0);
    for (int64_t i = 0; i < block.Z.rows; ++i) {
      if (weighs) weights.push_back(block.weight(i));
      double* const own = Z.view().row(block.first + i);
      for (int64_t j = 0; j < width; ++j) own[j] = block.Z(i, columns ? (*columns)[j] : j);
      std::copy_n(block.Y.row(i), block.Y.cols, Y.view().row(block.first + i));
      for (int64_t j = 0; j < width; ++j) sum += own[j] * own[j];
    }
    if (done) done(block.Z.rows);
  });
  require(std::isfinite(sum), MERCER_INVALID_ARGUMENT, kFeaturesNotFinite);
  return dual_system_of(std::move(Z), columns, rows.features(), std::move(Y), std::move(weights),
                        center, context);
}

// The dual form: alpha = (Z Z' + n lambda I)^{-1} Y, w = Z' alpha. Saunders, Gammerman, Vovk 1998.
// Centring subtracts means from strips of Z's columns before they are multiplied; subtracting from
// the product would cancel digits. alpha is then orthogonal to 1 up to rounding, which is removed.

Weights ridge_dual(MatrixView<const double> Z, MatrixView<const double> Y, bool center,
                   double lambda, Context& context) {
  const int64_t n = Z.rows;
  require(Y.rows == n, MERCER_DIMENSION_MISMATCH, "Y.n = %ld, expected %ld as in Z", Y.rows, n);
  require_rows(n, "ridge_dual");
  require_summable("Z", Z);
  require_summable("Y", Y);
  const double shift = checked_shift(lambda, static_cast<double>(n));
  const Matrix<double> K(n, n, context, "the dual form's n x n matrix");

  MeanRow mean{std::vector<double>(Z.cols, 0.0), std::vector<double>(Y.cols, 0.0)};
  const Matrix<double> alpha = copy_of(Y, context, kAlpha);
  if (center) {
    mean = {linalg::column_means(Z), linalg::column_means(Y)};
    linalg::subtract_from_rows(mean.outputs, alpha.view());
  }
  K.fill(0);
  // Progress in n^2 products: sums over all columns, then a factor or eigenvectors.
  Stage stage(context, Z.cols + cholesky_rows(n));
  for_each_strip(Z, mean.features, context, [&](int64_t, MatrixView<const double> strip) {
    add_products(strip, K.view(), context);
    stage.advance(strip.cols);
  });
  const double null_level = kEpsilon * static_cast<double>(n) * trace(K.view());
  stage.share(cholesky_rows(n));
  solve_system(K.view(), shift, null_level, alpha.view(), context);
  if (center) linalg::subtract_from_rows(linalg::column_means(alpha.view()), alpha.view());

  Weights weights{Matrix<double>(Z.cols, Y.cols, context, "weights"), {}};
  for_each_strip(Z, mean.features, context, [&](int64_t first, MatrixView<const double> strip) {
    linalg::multiply(1.0, kTransposed, strip, kPlain, alpha.view(), 0.0,
                     weights.w.view().block_rows(first, first + strip.cols));
  });
  weights.intercept = intercepts(mean, weights.w.view());
  return weights;
}

// alpha = (K + n lambda I)^{-1} Y by Cholesky. Saunders, Gammerman, Vovk 1998.

Matrix<double> kernel_ridge(MatrixView<double> K, MatrixView<const double> Y, double lambda,
                            double n, Context& context) {
  require(K.rows == K.cols && Y.rows == K.rows, MERCER_DIMENSION_MISMATCH,
          "K is %ld x %ld and Y has %ld rows, expected a square K with a row for each of Y's",
          K.rows, K.cols, Y.rows);
  require_rows(K.rows, "kernel_ridge");
  const double shift = checked_shift(lambda, n);
  for (int64_t i = 0; i < K.rows; ++i) K(i, i) += shift;
  jittered_cholesky(K, context);
  Matrix<double> alpha = copy_of(Y, context, kAlpha);
  linalg::cholesky_solve(K, alpha.view());
  return alpha;
}

int64_t solve_pseudo_inverse(MatrixView<double> K, MatrixView<double> alpha, Context& context) {
  const double null_level = kEpsilon * static_cast<double>(K.rows) * trace(K);
  std::vector<double> values(K.rows);
  linalg::symmetric_eigen(K, values, context);
  const Matrix<double> rotated(alpha.rows, alpha.cols, context, "targets among eigenvectors");
  linalg::multiply(1.0, kPlain, K, kPlain, alpha, 0.0, rotated.view());
  for (int64_t i = 0; i < K.rows; ++i) {
    const double s = values[i];
    for (int64_t j = 0; j < alpha.cols; ++j) rotated(i, j) = s > null_level ? rotated(i, j) / s : 0;
  }
  linalg::multiply(1.0, kTransposed, K, kPlain, rotated.view(), 0.0, alpha);
  return std::ranges::count_if(values, [=](double s) { return s > null_level; });
}

// The null vectors are given an eigenvalue far above the others', none of which exceeds the largest
// sum of a row's absolute values.
void centered_eigen(MatrixView<double> K, MatrixView<const double> null, std::span<double> values,
                    double rounding, Context& context) {
  std::vector<double> sums(K.rows, 0.0);
  for (int64_t i = 0; i < K.rows; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      sums[i] += std::abs(K(i, j));
      if (j < i) sums[j] += std::abs(K(i, j));
    }
  const double above = 2 * std::ranges::max(sums);
  linalg::rank_update(above > 0 ? above : 1, null, K);  // 1: of a K of zeros
  linalg::symmetric_eigen(K, values, context);
  std::ranges::rotate(values, values.end() - null.rows);
  std::rotate(K.row(0), K.row(K.rows - null.rows), K.row(K.rows));
  std::fill_n(values.begin(), above > 0 ? null.rows : K.rows, 0.0);
  copy_rows(null, K.block_rows(0, null.rows));
  const double least = std::ranges::min(values), most = values.back();
  const double error = kEpsilon * static_cast<double>(K.rows) * most + rounding;
  require(least >= -std::max(kIndefinite * most, error), MERCER_NOT_POSITIVE_DEFINITE,
          "the kernel matrix of the rows has the eigenvalue %g beside %g, expected none below 0",
          least, most);
  for (double& value : values) value = std::max(value, 0.0);
}

void require_kernel_matrix(MatrixView<const double> K) {
  constexpr double kLeast = 1e-300;  // whose reciprocal is a number yet
  double largest = 0;
  for (int64_t i = 0; i < K.rows; ++i) {
    largest = std::max(largest, K(i, i));
    require(!(K(i, i) < 0), MERCER_INVALID_ARGUMENT,
            "the value of the kernel with a row and itself is %g, expected a number >= 0", K(i, i));
    for (int64_t j = 0; j < i; ++j)
      if (!(std::fabs(K(i, j) - K(j, i)) <= kAsymmetric * std::max(K(i, i), K(j, j))))
        fail(MERCER_INVALID_ARGUMENT,
             "the kernel matrix of the rows is not symmetric: %.17g and %.17g in places that "
             "mirror each other, expected equal numbers",
             K(i, j), K(j, i));
  }
  require(largest == 0 || largest >= kLeast, MERCER_INVALID_ARGUMENT,
          "the value of the kernel with a row and itself is %g at most, expected numbers whose "
          "reciprocals are finite, such as 1e-300: a larger variance",
          largest);
}

}  // namespace mercer::solver
