// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/posterior.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "solver/block_statistics.h"
#include "solver/coupled_targets.h"
#include "solver/dual_system.h"
#include "solver/iterative_system.h"
#include "solver/primal_system.h"

namespace mercer::solver {
namespace {

using linalg::Transpose;

constexpr const char* kPosterior = "a posterior covariance";
constexpr int64_t kFewestRows = 64, kMostRows = 512;  // at once
constexpr int64_t kErrorRows = 64;                    // by which an error is told
constexpr int64_t kPosteriorNumbers = int64_t{1} << 20;
// Where less is left of the degrees of freedom, residuals are rounding: the noise is then that of
// the largest marginal likelihood at this lambda, which counts the weights' squares as well.
constexpr double kLeastDegrees = 1e-2;
constexpr double kEpsilon = 2.3e-16;
constexpr double kLeastShift = 100 * kEpsilon;   // of the trace: below, rounding is all there is
constexpr double kOfKernel = -1, kOfDraws = -2;  // the first of numbers()
constexpr double kLeastUnexplained = 1e-6;       // of targets' squares: digits left of a difference

void require_penalty(double lambda) {
  require(lambda > 0, MERCER_UNSUPPORTED, "a posterior at lambda = %g, expected lambda > 0",
          lambda);
}

/// |y - Z w|^2 = y'y - 2 w'Z'y + w'Z'Z w of each output, from sums about the means; none where it
/// is a difference of numbers that are nearly the same, and of complex features.
std::vector<double> residual_squares(const RowStatistics& sums, MatrixView<const double> w) {
  std::vector<double> squares(sums.sum_squared_outputs().begin(), sums.sum_squared_outputs().end());
  const MatrixView<const double> G = sums.gram(), C = sums.cross();
  for (int64_t k = 0; k < w.cols && sums.multiplicity() == 1; ++k) {
    double& rest = squares[static_cast<std::size_t>(k)];
    const double least = kLeastUnexplained * rest;
    for (int64_t i = 0; i < G.rows; ++i) {
      double product = 0.5 * G(i, i) * w(i, k) - C(i, k);
      for (int64_t j = 0; j < i; ++j) product += G(i, j) * w(j, k);
      rest += 2 * w(i, k) * product;
    }
    if (!(rest >= least && least > 0)) return {};
  }
  return sums.multiplicity() == 1 ? squares : std::vector<double>{};
}

/// U with U U' = A to rounding, as LAPACK's dpstrf ends it, of at most `most` columns, by Cholesky
/// with pivots; no columns if it has more. A: lower triangle.
Matrix<double> low_root(MatrixView<const double> A, int64_t most, Context& context) {
  const int64_t r = A.rows;
  std::vector<double> left(static_cast<std::size_t>(r));
  for (int64_t i = 0; i < r; ++i) left[static_cast<std::size_t>(i)] = A(i, i);
  const double least = static_cast<double>(r) * kEpsilon * *std::ranges::max_element(left);
  const Matrix<double> columns(most, r, context, kPosterior);  // U'
  int64_t k = 0;
  for (;; ++k) {
    const int64_t pivot = std::ranges::max_element(left) - left.begin();
    const double rest = left[static_cast<std::size_t>(pivot)];
    if (!(rest > least)) break;
    if (k == most) return {};
    double* const u = columns.view().row(k);
    for (int64_t i = 0; i < r; ++i) u[i] = i < pivot ? A(pivot, i) : A(i, pivot);
    for (int64_t j = 0; j < k; ++j) {
      const double* const before = columns.view().row(j);
      const double factor = before[pivot];
      for (int64_t i = 0; i < r; ++i) u[i] -= factor * before[i];
    }
    const double scale = 1 / std::sqrt(rest);
    for (int64_t i = 0; i < r; ++i) {
      double& own = left[static_cast<std::size_t>(i)];
      u[i] = own > 0 ? u[i] * scale : 0;  // earlier pivots are done
      own -= u[i] * u[i];
    }
    left[static_cast<std::size_t>(pivot)] = 0;
  }
  Matrix<double> U(r, k, context, kPosterior);
  for (int64_t i = 0; i < r; ++i)
    for (int64_t j = 0; j < k; ++j) U(i, j) = columns(j, i);
  return U;
}

RowStatistics reduced_sums(const BlockSource& rows, Context& context) {
  RowStatistics sums(rows.features(), rows.outputs(), context);
  add_blocks(rows, sums, context);
  return take_reduced(rows, std::move(sums));
}

}  // namespace

void Posterior::factor(MatrixView<double> A, double centered) {
  double trace = centered;
  for (int64_t j = 0; j < A.rows; ++j) {
    trace += A(j, j);
    A(j, j) += shift_;
  }
  require(shift_ > kLeastShift * trace && linalg::cholesky(A) == 0, MERCER_NOT_POSITIVE_DEFINITE,
          "n lambda = %g is lost in the rounding of the features' sums, %g, expected a larger "
          "lambda for a posterior",
          shift_, trace);
}

Posterior::Posterior(const BlockSource& rows, const RidgeProblem& problem, double lambda,
                     const Weights& weights, double noise, Context& context,
                     std::optional<RowStatistics> sums, bool likeliest)
    : share_(static_cast<std::size_t>(rows.outputs()), 0.0), scale_(share_.size(), 1.0) {
  require_penalty(lambda);
  const bool of_kernel = rows.kernel_columns().has_value();
  require(!of_kernel || !problem.is_coupled(rows), MERCER_UNSUPPORTED,
          "a posterior of outputs that are joined or miss targets with the kernel itself (map "
          "exact), expected independent outputs and all targets, or a map of features");
  double n = 0, copies = 1;  // of each eigenvalue of L L'
  Residuals of;
  if (of_kernel) {
    n = take_kernel(rows, problem.center, context);
  } else if (problem.is_coupled(rows)) {
    n = take_coupled(rows, problem, context);
  } else {
    RowStatistics statistics = sums ? *std::move(sums) : reduced_sums(rows, context);
    n = statistics.weight();
    copies = static_cast<double>(statistics.multiplicity());
    take_sums(statistics, problem.center, context);
    if (!(noise > 0)) of.squares = residual_squares(statistics, weights.w.view());
  }
  shift_ = n * lambda;
  if (!of_kernel) take_root(rows, context);
  factor(L_.view(), of_kernel ? n * mean_prior_ : 0);
  const double trace = exact_inverse_trace(L_.view(), context);
  dimension_ = (static_cast<double>(L_.rows()) - shift_ * trace) / copies;
  if (is_joined()) dimension_ /= static_cast<double>(outputs());
  dimension_ += problem.center ? 1 : 0;
  if (noise > 0) {
    for (const double scale : scale_) noise_.push_back(noise / (scale * scale));
    if (!of_kernel) return;
  }
  take_residuals(rows, weights, context, of);
  if (noise_.empty()) set_noise(of, problem.coupling != nullptr, likeliest);
  if (!of_kernel) return;
  double log_determinant = 0, log_roots = 0;
  for (int64_t j = 0; j < L_.rows(); ++j) log_determinant += 2 * std::log(L_(j, j));
  for (const double root : column_roots_) log_roots += root > 0 ? std::log(root) : 0;
  set_evidence(of, n - (problem.center ? 1 : 0), log_determinant, log_roots);
}

Posterior::Posterior(const BlockSource& rows, const RidgeProblem& problem, double lambda,
                     const Weights& weights, double noise, Context& context, SampledSums sums,
                     bool likeliest)
    : means_(rows.outputs(), rows.features(), context, kPosterior),
      share_(static_cast<std::size_t>(rows.outputs()), problem.center ? 1 / sums.weight : 0.0),
      scale_(share_.size(), 1.0),
      sampled_(std::move(sums.inverse)),
      shift_(sums.weight * lambda),
      dimension_(sums.dimension + (problem.center ? 1 : 0)) {
  for (int64_t k = 0; k < outputs(); ++k) std::ranges::copy(sums.mean, means_.view().row(k));
  Residuals of{std::move(sums.squares), std::vector<double>(share_.size(), 0.0),
               std::vector<double>(share_.size(), 0.0)};
  set_norms(weights, of);
  double log_roots = 0;
  count_rows(rows, context, of, &log_roots);
  if (noise > 0) {
    noise_.assign(share_.size(), noise);
  } else {
    set_noise(of, false, likeliest);
  }
  const Estimate logarithm = sampled_->log_determinant();
  set_evidence(of, sums.weight - (problem.center ? 1 : 0), logarithm.value, log_roots);
  log_evidence_error_ = static_cast<double>(outputs()) * logarithm.error / 2;
  set_variance_error(rows, context);
}

/// Targets of positive weight; the first pass where features were never formed.
void Posterior::count_rows(const BlockSource& rows, Context& context, Residuals& of,
                           double* log_roots) const {
  double sums[2] = {};  // of rows, and of logarithms
  rows.for_each_target(context, [&](MatrixView<const double> Y, std::span<const double> each) {
    sums[0] += static_cast<double>(Y.rows - std::ranges::count(each, 0.0));
    for (const double weight : each) sums[1] += weight > 0 ? std::log(weight) / 2 : 0;
  });
  reduce(rows, sums);
  for (double& total : of.observed) total += sums[0];
  if (log_roots != nullptr) *log_roots = sums[1];
}

void Posterior::set_variance_error(const BlockSource& rows, Context& context) {
  const std::vector<int64_t> chosen = spread_rows(rows.rows(), kErrorRows);
  const auto some = rows.subset(chosen);
  double sums[2] = {};  // of squared errors, and of rows
  for_each_wide(*some, context, [&](const WideBlock& block) {
    const Matrix<double> V = centered(block.Z, 1, context);
    const auto count = static_cast<double>(V.cols());
    sums[0] += count * std::pow(sampled_->relative_error(V.view()), 2);
    sums[1] += count;
  });
  reduce(rows, sums);
  variance_error_ = std::sqrt(sums[0] / sums[1]);
}

void Posterior::require_factor(const char* what) const {
  require(
      sampled_ == nullptr, MERCER_UNSUPPORTED,
      "%s of model gp with solver = cg, whose variances are estimates, expected solver = direct",
      what);
}

Posterior::Posterior(MixedRows of, double lambda, const Weights& weights, double noise,
                     Context& context)
    : means_(of.sums.outputs(), of.sums.features(), context, kPosterior),
      share_(static_cast<std::size_t>(of.sums.outputs()), of.share),
      scale_(share_.size(), 1.0),
      shift_(of.sums.weight() * lambda) {
  require_penalty(lambda);
  for (int64_t k = 0; k < outputs(); ++k) std::ranges::copy(of.means, means_.view().row(k));
  center_in_place(of.sums, false);
  L_ = copy_of(of.sums.gram(), context, kPosterior);
  factor(L_.view());
  dimension_ = static_cast<double>(L_.rows()) - shift_ * exact_inverse_trace(L_.view(), context) +
               (of.share > 0 ? 1 : 0);
  if (noise > 0) {
    noise_.assign(share_.size(), noise);
    return;
  }
  Residuals residuals{std::move(of.squares), std::vector<double>(share_.size(), of.observed),
                      std::vector<double>(share_.size())};
  set_norms(weights, residuals);
  set_noise(residuals, false, false);
}

void Posterior::set_norms(const Weights& weights, Residuals& of) const {
  for (int64_t c = 0; c < weights.w.rows(); ++c)
    for (int64_t k = 0; k < outputs(); ++k) of.norm[k] += weights.w(c, k) * weights.w(c, k);
}

/// Columns of rows that are left out stay 0, as of weight 0.
double Posterior::take_kernel(const BlockSource& rows, bool center, Context& context) {
  const DualSystem dual = make_dual_system(rows, center, context);
  const int64_t D = rows.features();
  column_roots_.assign(static_cast<std::size_t>(D), 0.0);
  L_ = Matrix<double>(D, D, context, kPosterior);
  L_.fill(0);
  for (int64_t i = 0; i < dual.rows(); ++i) {
    const int64_t row = dual.columns()[i];
    column_roots_[row] = std::sqrt(dual.weight_of(i));
    for (int64_t j = 0; j <= i; ++j) {
      const auto [low, high] = std::minmax(row, dual.columns()[j]);
      L_(high, low) = dual.gram()(i, j);
    }
  }
  means_ = Matrix<double>(rows.outputs(), D, context, kPosterior);
  means_.fill(0);
  for (int64_t k = 0; k < means_.rows(); ++k)
    std::ranges::copy(dual.column_means(), means_.view().row(k));
  mean_prior_ = dual.mean();
  std::ranges::fill(share_, center ? 1 / dual.weight() : 0.0);
  return dual.weight();
}

double Posterior::take_coupled(const BlockSource& rows, const RidgeProblem& problem,
                               Context& context) {
  const Coupling apart = Coupling::independent(rows.outputs(), context);
  const Coupling& coupling = problem.coupling == nullptr ? apart : *problem.coupling;
  CoupledSums groups = coupled_sums(rows, problem, coupling, context, {});
  roots_ = copy_of(coupling.roots(), context, kPosterior);
  scale_ = coupling.scale();
  means_ = std::move(groups.means.features);
  share_ = std::move(groups.means.share);
  L_ = std::move(groups.H);
  return groups.n;
}

void Posterior::take_sums(RowStatistics& sums, bool center, Context& context) {
  const Means means = center_in_place(sums, center);
  means_ = Matrix<double>(std::ssize(share_), sums.features(), context, kPosterior);
  for (int64_t k = 0; k < means_.rows(); ++k)
    std::ranges::copy(means.row.features, means_.view().row(k));
  std::ranges::fill(share_, center ? 1 / sums.weight() : 0.0);
  L_ = copy_of(sums.gram(), context, kPosterior);
}

void Posterior::take_root(const BlockSource& rows, Context& context) {
  double count = static_cast<double>(rows.rows() * each());
  reduce(rows, {&count, 1});
  const int64_t most = L_.rows() / 2;
  if (count > static_cast<double>(most)) return;
  root_ = low_root(L_.view(), most, context);
  if (root_.cols() > 0) put_root();
}

void Posterior::put_root() {
  L_.fill(0);
  linalg::rank_update_rows(1, root_.view(), L_.view());
}

void Posterior::add_residuals(const BlockSource& rows, const Weights& weights, Context& context,
                              Residuals& of) const {
  const int64_t p = outputs();
  const auto columns = rows.kernel_columns();
  of.squares.assign(of.observed.size(), 0.0);
  for_each_wide(rows, context, [&](const WideBlock& block) {
    const Matrix<double> f(block.Z.rows, p, context, kPosterior);
    linalg::multiply(1.0, Transpose::no, block.Z, Transpose::no, weights.w.view(), 0.0, f.view());
    for (int64_t i = 0; i < f.rows(); ++i)
      for (int64_t k = 0; k < p; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (std::isnan(block.Y(i, k)) || block.weight(i) == 0) continue;
        if (columns) of.norm[at] += f(i, k) * weights.w((*columns)[block.first + i], k);
        const double e = (block.Y(i, k) - f(i, k) - weights.intercept[at]) / scale_[at];
        of.squares[at] += block.weight(i) * e * e;
        of.observed[at] += 1;
      }
  });
  reduce(rows, of.squares);
  reduce(rows, of.observed);
}

void Posterior::take_residuals(const BlockSource& rows, const Weights& weights, Context& context,
                               Residuals& of) const {
  of.observed.resize(share_.size());
  of.norm.resize(share_.size());
  if (!rows.kernel_columns()) set_norms(weights, of);
  if (of.squares.empty()) return add_residuals(rows, weights, context, of);
  count_rows(rows, context, of);
}

void Posterior::set_noise(const Residuals& of, bool coupled, bool likeliest) {
  double all = 0, left = 0;
  for (int64_t k = 0; k < outputs(); ++k) {
    double rest = of.squares[k], own = of.observed[k] - dimension_;
    if (likeliest || own < kLeastDegrees * of.observed[k]) {
      rest += shift_ * of.norm[k] / (scale_[k] * scale_[k]);
      own = std::max(of.observed[k] - 1, 1.0);
    }
    all += rest;
    left += own;
    noise_.push_back(rest / own);
  }
  for (double& noise : noise_)
    if (coupled) noise = all / left;
}

// log N(y; 0, s^2 K / (n lambda) + s^2 / w) of each output, rows of weights w. Its quadratic form is
// the residuals' squares and n lambda times f's, over s^2 (ridge_system.h has the determinant).
void Posterior::set_evidence(const Residuals& of, double degrees, double log_determinant,
                             double log_roots) {
  const double determinant =
      (degrees - static_cast<double>(order())) * std::log(shift_) + log_determinant;
  double sum = 0;
  for (int64_t k = 0; k < outputs(); ++k)
    sum += log_roots - ((of.squares[k] + shift_ * of.norm[k]) / noise(k) + determinant +
                        degrees * std::log(2 * std::numbers::pi * noise(k) / shift_)) /
                           2;
  log_evidence_ = std::isfinite(sum) ? sum : kNaN;
}

Matrix<double> Posterior::centered(MatrixView<const double> Z, double share,
                                   Context& context) const {
  const int64_t p = outputs(), D = means_.cols();
  const int64_t q = is_joined() ? roots_.cols() / p : 1;
  Matrix<double> V(D * q, Z.rows * each(), context, kPosterior);
  for (int64_t i = 0; i < Z.rows && is_of_kernel(); ++i) {
    const double mean = mean_about(Z.row(i), 2 * share);
    for (int64_t c = 0; c < D; ++c)
      V(c, i) = column_roots_[c] * (Z(i, c) - share * means_(0, c) - mean);
  }
  if (is_of_kernel()) return V;
  for (int64_t c = 0; c < D; ++c)
    for (int64_t b = 0; b < q; ++b)
      for (int64_t a = 0; a < V.cols(); ++a) {
        const int64_t k = a % each();
        V(c * q + b, a) = root(c, k * q + b) * (Z(a / each(), c) - share * means_(k, c));
      }
  return V;
}

template <class Body>
void Posterior::for_each_solved(MatrixView<const double> Z, double share, Context& context,
                                const Body& body) const {
  const int64_t size = std::clamp(kPosteriorNumbers / (order() * each()), kFewestRows, kMostRows);
  for (int64_t first = 0; first < Z.rows; first += size) {
    const int64_t count = std::min(size, Z.rows - first);
    const Matrix<double> V = centered(Z.block_rows(first, first + count), share, context);
    if (!sampled_) linalg::triangular_solve(L_.view(), V.view());
    body(first, count, V);
    context.checkpoint();
  }
}

std::vector<double> Posterior::forms(const Matrix<double>& V) const {
  std::vector<double> squares(static_cast<std::size_t>(V.cols()), 0.0);
  if (sampled_) {
    sampled_->quadratic_forms(V.view(), squares);
    return squares;
  }
  for (int64_t j = 0; j < V.rows(); ++j)
    for (int64_t a = 0; a < V.cols(); ++a) squares[a] += V(j, a) * V(j, a);
  return squares;
}

double Posterior::noise(int64_t k) const {
  const auto at = static_cast<std::size_t>(k);
  return noise_[at] * scale_[at] * scale_[at];
}

double Posterior::covariance_of(int64_t k, int64_t l, double product, double share) const {
  return std::sqrt(noise(k)) * std::sqrt(noise(l)) * (product + (k == l ? share * share_[k] : 0.0));
}

void Posterior::variance(MatrixView<const double> Z, Context& context, MatrixView<double> out,
                         std::span<const double> prior) const {
  variance_about(1, Z, context, out, prior);
}

void Posterior::slope_variance(MatrixView<const double> Z, Context& context, MatrixView<double> out,
                               std::span<const double> prior) const {
  variance_about(0, Z, context, out, prior);
}

void Posterior::variance_about(double share, MatrixView<const double> Z, Context& context,
                               MatrixView<double> out, std::span<const double> prior) const {
  for_each_solved(Z, share, context, [&](int64_t first, int64_t count, const Matrix<double>& V) {
    std::vector<double> squares = forms(V);
    for (int64_t i = 0; i < count && is_of_kernel(); ++i)
      squares[i] = own_rest(Z.row(first + i), prior[first + i], squares[i], share);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < outputs(); ++k)
        out(first + i, k) = covariance_of(k, k, squares[i * each() + k % each()], share);
  });
}

void Posterior::covariance(MatrixView<const double> Z, Context& context, MatrixView<double> out,
                           std::span<const double> prior) const {
  const int64_t p = outputs();
  for_each_solved(Z, 1, context, [&](int64_t first, int64_t count, const Matrix<double>& V) {
    const std::vector<double> squares = forms(V);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < p; ++k)
        for (int64_t l = 0; l < p; ++l) {
          double product = k == l ? squares[i * each() + k % each()] : 0;
          if (is_joined() && k != l)
            for (int64_t j = 0; j < V.rows(); ++j)
              product += V(j, i * each() + k % each()) * V(j, i * each() + l % each());
          if (is_of_kernel() && k == l)
            product = own_rest(Z.row(first + i), prior[first + i], product);
          out(first + i, k * p + l) = covariance_of(k, l, product);
        }
  });
}

void Posterior::joint_covariance(MatrixView<const double> Z, Context& context,
                                 MatrixView<double> out, MatrixView<const double> prior) const {
  const int64_t p = outputs(), n = Z.rows;
  const Matrix<double> products = joint_products(Z, context, prior);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t k = 0; k < p; ++k)
        for (int64_t l = 0; l < p; ++l) {
          const bool related = is_joined() || k == l;
          out(i, (j * p + k) * p + l) = covariance_of(
              k, l, related ? products(i * each() + k % each(), j * each() + l % each()) : 0.0);
        }
}

Matrix<double> Posterior::joint_products(MatrixView<const double> Z, Context& context,
                                         MatrixView<const double> prior) const {
  require_factor("covariances between rows");
  const Matrix<double> V = centered(Z, 1, context);
  linalg::triangular_solve(L_.view(), V.view());
  Matrix<double> products(V.cols(), V.cols(), context, kPosterior);
  linalg::multiply(1.0, Transpose::yes, V.view(), Transpose::no, V.view(), 0.0, products.view());
  if (!is_of_kernel()) return products;
  std::vector<double> mean;
  for (int64_t i = 0; i < Z.rows; ++i) mean.push_back(mean_about(Z.row(i)));
  for (int64_t i = 0; i < Z.rows; ++i)
    for (int64_t j = 0; j < Z.rows; ++j)
      products(i, j) = i == j ? own_rest(Z.row(i), prior(i, i), products(i, i))
                              : (prior(i, j) - mean[i] - mean[j] - products(i, j)) / shift_;
  return products;
}

double Posterior::mean_about(const double* k, double share) const {
  double sum = 0;
  for (std::size_t c = 0; c < column_roots_.size() && share_[0] > 0; ++c)
    sum += column_roots_[c] * column_roots_[c] * k[c];
  return share_[0] * sum - share * mean_prior_ / 2;
}

double Posterior::own_rest(const double* k, double prior, double product, double share) const {
  const double rest = (prior - 2 * share * mean_about(k) - product) / shift_;
  return rest < 0 ? 0 : rest;  // by rounding; NaN stays
}

void Posterior::draw_at(MatrixView<const double> Z, MatrixView<const double> prior, uint64_t seed,
                        int64_t count, Context& context, MatrixView<double> out) const {
  const int64_t p = outputs(), n = Z.rows;
  const Matrix<double> C = joint_products(Z, context, prior);
  std::vector<bool> known;
  for (int64_t i = 0; i < n; ++i) {
    known.push_back(std::isfinite(C(i, i)));
    for (int64_t j = 0; j <= i; ++j) C(i, j) = known[i] && known[j] ? C(i, j) + share_[0] : 0;
    // What the difference has lost, in a variance that may be 0.
    const double lost = kEpsilon * static_cast<double>(L_.rows()) * prior(i, i) / shift_;
    C(i, i) = known[i] ? C(i, i) + lost : 1;
  }
  jittered_cholesky(C.view(), context);
  for (int64_t i = 0; i < n; ++i) std::fill(C.view().row(i) + i + 1, C.view().row(i) + n, 0.0);
  const Matrix<double> e(n, count * p, context, kPosterior);
  std::vector<double> normals(static_cast<std::size_t>(n * p));
  for (int64_t s = 0; s < count; ++s) {
    random::fill_normal({seed, random::Tag::gaussian, static_cast<uint64_t>(s)}, 0, normals);
    for (int64_t j = 0; j < n * p; ++j) e(j / p, s * p + j % p) = normals[j];
  }
  linalg::multiply(1.0, Transpose::no, C.view(), Transpose::no, e.view(), 0.0, out);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t a = 0; a < count * p; ++a)
      out(i, a) = known[i] ? std::sqrt(noise(a % p)) * out(i, a) : kNaN;
}

// r x (count own): L^{-T} e for the normal e of each draw; of each own output, or of all that are
// joined. intercepts: sqrt(share_k) e_k of each draw and output.
Matrix<double> Posterior::drawn_coefficients(uint64_t seed, int64_t count,
                                             std::vector<double>& intercepts,
                                             Context& context) const {
  require_factor("draws");
  const int64_t p = outputs(), r = L_.rows(), own = is_joined() ? 1 : p;
  Matrix<double> e(r, count * own, context, kPosterior);
  std::vector<double> normals(r * own + p);
  for (int64_t s = 0; s < count; ++s) {
    random::fill_normal({seed, random::Tag::gaussian, static_cast<uint64_t>(s)}, 0, normals);
    for (int64_t j = 0; j < r * own; ++j) e(j / own, s * own + j % own) = normals[j];
    for (int64_t k = 0; k < p; ++k)
      intercepts.push_back(std::sqrt(share_[k]) * normals[r * own + k]);
  }
  linalg::triangular_solve(L_.view(), e.view(), Transpose::yes);
  return e;
}

// f_k = s_k (Phi~_k(x)'L^{-T} e + sqrt(share_k) e_k).
Weights Posterior::draw(uint64_t seed, int64_t count, Context& context) const {
  const int64_t p = outputs(), D = means_.cols(), q = is_joined() ? roots_.cols() / p : 1;
  Weights drawn{Matrix<double>(D, count * p, context, kPosterior), {}};
  const Matrix<double> e = drawn_coefficients(seed, count, drawn.intercept, context);
  for (int64_t a = 0; a < count * p; ++a) {
    const int64_t k = a % p, column = is_joined() ? a / p : a;
    const double deviation = std::sqrt(noise(k));
    double& intercept = drawn.intercept[a];
    for (int64_t c = 0; c < D; ++c) {
      double w = 0;
      for (int64_t b = 0; b < q; ++b) w += root(c, k * q + b) * e(c * q + b, column);
      drawn.w(c, a) = deviation * w;
      intercept -= means_(k, c) * w;
    }
    intercept *= deviation;
  }
  return drawn;
}

double Posterior::share_of_prior(MatrixView<const double> Z, Context& context) const {
  const Matrix<double> V = centered(Z, 1, context);
  double prior = 0;
  for (int64_t j = 0; j < V.rows(); ++j)
    for (int64_t a = 0; a < V.cols(); ++a) prior += V(j, a) * V(j, a) / shift_;
  if (!sampled_) linalg::triangular_solve(L_.view(), V.view());
  const std::vector<double> all = forms(V);
  return prior > 0 ? std::accumulate(all.begin(), all.end(), 0.0) / prior : 1.0;
}

std::vector<double> Posterior::numbers() const {
  std::vector<double> all = {is_of_kernel() ? kOfKernel
                             : sampled_     ? kOfDraws
                                            : static_cast<double>(roots_.rows()),
                             static_cast<double>(is_joined() ? roots_.cols() : 0), shift_};
  const auto put = [&](const double* from, int64_t count) {
    all.insert(all.end(), from, from + count);
  };
  put(means_.data(), means_.rows() * means_.cols());
  for (const auto& list : {share_, noise_, scale_}) put(list.data(), std::ssize(list));
  put(roots_.data(), roots_.rows() * roots_.cols());
  if (is_of_kernel()) put(&mean_prior_, 1);
  put(column_roots_.data(), std::ssize(column_roots_));
  put(root_.data(), root_.rows() * root_.cols());
  for (int64_t j = 0; j < L_.rows() && root_.cols() == 0; ++j) put(L_.view().row(j), j + 1);
  if (sampled_) sampled_->put_numbers(all);
  return all;
}

namespace {

constexpr const char* kBad = "a posterior of other features and outputs than the model's";

/// What the numbers of a posterior are, by their count.
struct Kept {
  bool of_kernel, of_draws, whole;  // whole: the factor itself, not a root of the sums
  int64_t rows, cols;               // of the roots of joined outputs
  int64_t size, root_columns;       // of the factor, and of the root
};

Kept kept_of(std::span<const double> numbers, int64_t features, int64_t outputs) {
  require(numbers.size() >= 3 &&
              std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }),
          MERCER_INVALID_ARGUMENT, kBad);
  const double rows = numbers[0], cols = numbers[1];
  const auto p = static_cast<double>(outputs), D = static_cast<double>(features);
  const bool of_kernel = rows == kOfKernel && cols == 0, of_draws = rows == kOfDraws && cols == 0;
  const bool apart = of_kernel || of_draws || (rows == 0 && cols == 0);
  require(
      apart || ((rows == 1 || rows == D) && cols >= p && cols <= p * p && std::fmod(cols, p) == 0),
      MERCER_INVALID_ARGUMENT, kBad);
  const double r = apart ? D : D * (cols / p);
  const double left =
      static_cast<double>(numbers.size()) - (3 + p * D + 3 * p + (of_kernel ? 1 + D : rows * cols));
  require(left > 0, MERCER_INVALID_ARGUMENT, kBad);
  const double k = left / r;  // columns of a root, unless the factor is whole
  const bool whole = left == r * (r + 1) / 2;
  require(whole || of_draws || (!of_kernel && k >= 1 && k == std::floor(k) && k <= r / 2),
          MERCER_INVALID_ARGUMENT, kBad);
  require(numbers[2] > 0, MERCER_INVALID_ARGUMENT, kBad);
  return {of_kernel,
          of_draws,
          whole,
          static_cast<int64_t>(rows),
          static_cast<int64_t>(cols),
          static_cast<int64_t>(r),
          static_cast<int64_t>(k)};
}

}  // namespace

Posterior::Posterior(std::span<const double> numbers, int64_t features, int64_t outputs,
                     Context& context) {
  const Kept kept = kept_of(numbers, features, outputs);
  shift_ = numbers[2];
  auto from = numbers.begin() + 3;
  const auto take = [&](auto to, int64_t count) {
    std::copy_n(from, count, to);
    from += count;
  };
  means_ = Matrix<double>(outputs, features, context, kPosterior);
  take(means_.data(), outputs * features);
  for (auto* list : {&share_, &noise_, &scale_}) {
    list->resize(static_cast<std::size_t>(outputs));
    take(list->begin(), outputs);
  }
  if (kept.of_draws) {
    sampled_ = std::make_shared<const SampledInverse>(
        numbers.last(static_cast<std::size_t>(numbers.end() - from)), features, context);
    return;
  }
  if (kept.of_kernel) {
    take(&mean_prior_, 1);
    column_roots_.resize(static_cast<std::size_t>(features));
    take(column_roots_.begin(), features);
  } else {
    roots_ = Matrix<double>(kept.rows, kept.cols, context, kPosterior);
    take(roots_.data(), roots_.rows() * roots_.cols());
  }
  L_ = Matrix<double>(kept.size, kept.size, context, kPosterior);
  if (!kept.whole) {
    root_ = Matrix<double>(kept.size, kept.root_columns, context, kPosterior);
    take(root_.data(), kept.size * root_.cols());
    put_root();
    factor(L_.view());
    return;
  }
  for (int64_t j = 0; j < kept.size; ++j) take(L_.view().row(j), j + 1);
  for (int64_t j = 0; j < kept.size; ++j) require(L_(j, j) > 0, MERCER_INVALID_ARGUMENT, kBad);
}

}  // namespace mercer::solver
