// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/latent_processes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "linalg/blas.h"
#include "random/distributions.h"
#include "solver/block_statistics.h"
#include "solver/primal_system.h"

namespace mercer::solver {
namespace {

constexpr int64_t kSolvedRows = 256;  // per block of a triangular solve
constexpr const char* kPosteriors = "posteriors of classes";

/// The same rows with target `value` and weights times `factor`.
RowStatistics weighed(const RowStatistics& rows, double factor, double value, Context& context) {
  RowStatistics result = rows.clone(context);
  result.scale(factor);
  result.parts().origin_outputs[0] = value;  // all targets are 0 about it
  return result;
}

int64_t class_of(MatrixView<const double> Y, int64_t i) {
  return std::max_element(Y.row(i), Y.row(i) + Y.cols) - Y.row(i);
}

/// Gathers the rows of one class in a block.
void add_class(const WideBlock& block, int64_t k, RowStatistics& to, Context& context) {
  std::vector<int64_t> rows;
  std::vector<double> weights;
  for (int64_t i = 0; i < block.Z.rows; ++i) {
    if (class_of(block.Y, i) != k) continue;
    rows.push_back(i);
    weights.push_back(block.weight(i));
  }
  if (rows.empty()) return;
  const Matrix<double> Z(std::ssize(rows), block.Z.cols, context, "rows of a class");
  const Matrix<double> zeros(Z.rows(), 1);
  zeros.fill(0);
  for (int64_t i = 0; i < Z.rows(); ++i)
    std::copy_n(block.Z.row(rows[i]), Z.cols(), Z.view().row(i));
  to.add(Z.view(), zeros.view(), context, weights);
}

constexpr double kLeastSlope = 1e-10;  // targets stay finite
constexpr double kLeastLeft = 1e-10;   // share of a variance's inverse that is not the row's own
constexpr double kLeastRate = 1.0 / 64;
constexpr int64_t kMostSteps = 100;
constexpr double kForgetting = 0.7;     // rate t^-0.7
constexpr uint64_t kFirstEpoch = 1024;  // of streams, behind those of other samples

struct Term {
  double p, s;
};
constexpr Term kTerms[] = {
    {0.00324634327284, 1.36534080629535}, {0.05151747703380, 1.05952397101651},
    {0.19507796991918, 0.83079131376594}, {0.31556982353710, 0.65073216664900},
    {0.27414957615765, 0.50813542536654}, {0.13107688047736, 0.39631334516634},
    {0.02791241872792, 0.30890425226750}, {0.00144956799991, 0.23821264109339}};

}  // namespace

/// That of rows of noise variance 1 over their weight and one target, of weights' prior precision
/// and, if `center`, a flat prior of the intercept. Errors: as ridge_cholesky.
static LatentProcess latent_process(RowStatistics&& rows, bool center, double precision,
                                    Context& context) {
  const int64_t D = rows.features();
  const double weight = rows.weight();
  RidgeFactor factor(std::move(rows), center, precision / weight, context);
  Weights weights = factor.weights(context);
  LatentProcess process{Matrix<double>(D, D, context, kPosteriors),
                        factor.means().row.features,
                        std::move(weights.w),
                        weights.intercept[0],
                        center ? 1 / weight : 0,
                        precision};
  for (int64_t i = 0; i < D; ++i)
    std::copy_n(factor.factor().row(i), i + 1, process.factor.view().row(i));
  return process;
}

/// The precision is R L L'R' + precision (I - R R').
LatentProcess lifted(const LatentProcess& process, MatrixView<const double> R, Context& context) {
  const int64_t D = R.rows, r = R.cols;
  using enum linalg::Transpose;
  LatentProcess all{Matrix<double>(D, D, context, kPosteriors),
                    std::vector<double>(D, 0.0),
                    Matrix<double>(D, 1, context, kPosteriors),
                    process.intercept,
                    process.share,
                    process.precision};
  const Matrix<double> L(r, r, context, kPosteriors), RL(D, r, context, kPosteriors);
  L.fill(0);
  for (int64_t i = 0; i < r; ++i) std::copy_n(process.factor.view().row(i), i + 1, L.view().row(i));
  linalg::multiply(1.0, no, R, no, L.view(), 0.0, RL.view());
  all.factor.fill(0);
  for (int64_t j = 0; j < D; ++j) all.factor(j, j) = process.precision;
  linalg::rank_update_rows(-process.precision, R, all.factor.view());
  linalg::rank_update_rows(1, RL.view(), all.factor.view());
  jittered_cholesky(all.factor.view(), context);
  const MatrixView<const double> mean(process.mean.data(), r, 1);
  linalg::multiply(1.0, no, R, no, mean, 0.0, {all.mean.data(), D, 1});
  linalg::multiply(1.0, no, R, no, process.w.view(), 0.0, all.w.view());
  return all;
}

void LatentProcess::moments(MatrixView<const double> Z, MatrixView<double> f,
                            MatrixView<double> variance) const {
  const int64_t D = w.rows();
  for (int64_t first = 0; first < Z.rows; first += kSolvedRows) {
    const int64_t rows = std::min(kSolvedRows, Z.rows - first);
    const Matrix<double> V(D, rows);
    for (int64_t i = 0; i < rows; ++i) {
      double sum = intercept;
      const double* z = Z.row(first + i);
      for (int64_t j = 0; j < D; ++j) {
        sum += z[j] * w(j, 0);
        V(j, i) = z[j] - mean[j];
      }
      f(first + i, 0) = sum;
      variance(first + i, 0) = share;
    }
    linalg::triangular_solve(factor.view(), V.view());
    for (int64_t j = 0; j < D; ++j)
      for (int64_t i = 0; i < rows; ++i) variance(first + i, 0) += V(j, i) * V(j, i);
  }
}

void LatentProcess::pull_back(MatrixView<const double> Z, std::span<const double> by_mean,
                              std::span<const double> by_variance, MatrixView<double> G) const {
  const int64_t D = w.rows();
  for (int64_t first = 0; first < Z.rows; first += kSolvedRows) {
    const int64_t rows = std::min(kSolvedRows, Z.rows - first);
    const Matrix<double> V(D, rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < D; ++j) V(j, i) = Z(first + i, j) - mean[j];
    linalg::cholesky_solve(factor.view(), V.view());
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < D; ++j)
        G(first + i, j) += by_mean[first + i] * w(j, 0) + 2 * by_variance[first + i] * V(j, i);
  }
}

void LatentProcesses::moments(MatrixView<const double> Z, MatrixView<double> f,
                              MatrixView<double> variance) const {
  for (int64_t k = 0; k < count(); ++k)
    all_[k].moments(Z, f.block_cols(k, k + 1), variance.block_cols(k, k + 1));
}

double LatentProcesses::share_of_prior(MatrixView<const double> Z) const {
  const Matrix<double> f(Z.rows, 1), variance(Z.rows, 1);
  double left = 0, prior = 0;
  for (const LatentProcess& one : all_) {
    if (one.precision == 0) continue;
    one.moments(Z, f.view(), variance.view());
    for (int64_t i = 0; i < Z.rows; ++i) {
      left += variance(i, 0) - one.share;
      for (int64_t j = 0; j < Z.cols; ++j)
        prior += std::pow(Z(i, j) - one.mean[j], 2) / one.precision;
    }
  }
  return left / prior;
}

std::vector<double> LatentProcesses::numbers() const {
  std::vector<double> all;
  for (const LatentProcess& one : all_) {
    for (int64_t i = 0; i < features(); ++i)
      all.insert(all.end(), one.factor.view().row(i), one.factor.view().row(i) + i + 1);
    all.insert(all.end(), one.mean.begin(), one.mean.end());
    all.insert(all.end(), one.w.data(), one.w.data() + features());
    all.insert(all.end(), {one.intercept, one.share});
  }
  return all;
}

LatentProcesses::LatentProcesses(std::span<const double> numbers, int64_t features, int64_t count) {
  const double each = static_cast<double>(features) * (static_cast<double>(features) + 5) / 2 + 2;
  require(static_cast<double>(numbers.size()) == each * static_cast<double>(count) &&
              std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }),
          MERCER_INVALID_ARGUMENT,
          "posteriors of classes have %zu numbers, expected %.0f finite ones", numbers.size(),
          each * static_cast<double>(count));
  const double* from = numbers.data();
  const auto next = [&](int64_t many, double* to) {
    std::copy_n(from, many, to);
    from += many;
  };
  for (int64_t k = 0; k < count; ++k) {
    LatentProcess one{Matrix<double>(features, features), std::vector<double>(features),
                      Matrix<double>(features, 1)};
    for (int64_t i = 0; i < features; ++i) {
      next(i + 1, one.factor.view().row(i));
      require(one.factor(i, i) > 0, MERCER_INVALID_ARGUMENT,
              "posteriors of classes: a pivot of %g, expected one above 0", one.factor(i, i));
    }
    next(features, one.mean.data());
    next(features, one.w.data());
    next(1, &one.intercept);
    next(1, &one.share);
    all_.push_back(std::move(one));
  }
}

// The statistics of class k: all rows as if of another class, plus the rows of class k with the
// missing weight. Their noise is smaller, so that nothing is subtracted.

DirichletTarget dirichlet_target(double alpha, bool own) {
  const double shape = alpha + (own ? 1 : 0), variance = std::log1p(1 / shape);
  return {std::log(shape) - variance / 2, variance};
}

ClassSums::ClassSums(const BlockSource& rows, Context& context) {
  require(!rows.kernel_columns(), MERCER_UNSUPPORTED,
          "classes by Gaussian processes of the kernel itself (map exact), expected a map of "
          "features");
  for (int64_t k = 0; k < rows.outputs(); ++k) of_class_.emplace_back(rows.features(), 1, context);
  for_each_wide(rows, context, [&](const WideBlock& block) {
    for (int64_t k = 0; k < classes(); ++k) add_class(block, k, of_class_[k], context);
  });
  for (RowStatistics& one : of_class_) {
    one.release_scratch();
    one = take_reduced(rows, std::move(one));
    require_finite_features(one);
  }
}

double ClassSums::weight() const noexcept {
  double sum = 0;
  for (const RowStatistics& one : of_class_) sum += one.weight();
  return sum;
}

RowStatistics ClassSums::of_process(int64_t k, double alpha, Context& context) const {
  const DirichletTarget own = dirichlet_target(alpha, true), other = dirichlet_target(alpha, false);
  RowStatistics all(features(), 1, context);
  for (const RowStatistics& one : of_class_)
    if (one.weight() > 0) all.merge(weighed(one, 1 / other.variance, other.value, context));
  const RowStatistics& of_own = of_class_[k];
  const double more = 1 / own.variance - 1 / other.variance;
  const double value = (own.value / own.variance - other.value / other.variance) / more;
  if (of_own.weight() > 0) all.merge(weighed(of_own, more, value, context));
  return all;
}

LatentProcesses dirichlet_processes(const ClassSums& sums, double alpha, double lambda, bool center,
                                    Context& context) {
  std::vector<LatentProcess> all;
  for (int64_t k = 0; k < sums.classes(); ++k)
    all.push_back(latent_process(sums.of_process(k, alpha, context), center, lambda * sums.weight(),
                                 context));
  return LatentProcesses(std::move(all));
}

// A step is ridge regression (conjugate-computation variational inference, Khan and Lin 2017): with
// f_i ~ N(m_i, v_i) under q, p_i = E sigma(f_i) and beta_i = E sigma'(f_i), a natural gradient step
// of rate 1 is to the posterior of rows of weight beta_i and target m_i + (y_i - p_i)/beta_i. What
// rows say is their statistics, of which a step of rate r takes the share r and keeps 1 - r; r is
// halved until the ELBO, which is concave in the mean and the root of q's covariance, does not
// fall. Batches (Hoffman, Blei, Wang, Paisley 2013) take n/batch times the statistics of theirs.

void VariationalProcess::Sites::scale(double factor) {
  sums.scale(factor);
  for (RowSite& site : watched) site.precision *= factor, site.pull *= factor;
}

void VariationalProcess::Sites::mix(Sites&& other, double share) {
  if (share >= 1) {
    *this = std::move(other);
    return;
  }
  scale(1 - share);
  other.scale(share);
  sums.merge(other.sums);
  for (size_t i = 0; i < watched.size(); ++i) {
    watched[i].precision += other.watched[i].precision;
    watched[i].pull += other.watched[i].pull;
  }
}

VariationalProcess::VariationalProcess(const BlockSource& rows, int64_t k, bool center,
                                       std::vector<int64_t> watched)
    : rows_(rows), k_(k), center_(center), watched_(std::move(watched)) {}

VariationalProcess::Pass VariationalProcess::pass(const BlockSource& rows, const LatentProcess* at,
                                                  Context& context, const std::vector<int64_t>* own,
                                                  const MatrixView<double>* G) const {
  Pass found{{RowStatistics(rows.features(), 1, context), std::vector<RowSite>(watched_.size())}};
  RowStatistics& sites = found.sites.sums;
  double sums[2] = {};
  for_each_wide(rows, context, [&](const WideBlock& block) {
    const int64_t n = block.Z.rows;
    const Matrix<double> f(n, 1, context, "latent means"), v(n, 1, context, "latent variances");
    f.fill(0), v.fill(0);
    if (at != nullptr) at->moments(block.Z, f.view(), v.view());
    std::vector<double> weights(n), by_mean(n), by_variance(n);
    for (int64_t i = 0; i < n; ++i) {
      const double y = block.Y(i, k_) == 1 ? 1 : 0, weight = block.weight(i);
      const LogisticNormal e = logistic_normal(f(i, 0), v(i, 0));
      const double slope = std::max(e.slope, kLeastSlope);
      sums[0] += weight * (y * f(i, 0) - e.softplus);
      sums[1] += weight;
      weights[i] = weight * slope;
      by_mean[i] = weight * (y - e.mean), by_variance[i] = -weight * e.slope / 2;
      f(i, 0) += (y - e.mean) / slope;
      const int64_t row = own == nullptr ? block.first + i : (*own)[block.first + i];
      const auto place = std::ranges::lower_bound(watched_, row);
      if (place != watched_.end() && *place == row)
        found.sites.watched[place - watched_.begin()] = {weights[i], weights[i] * f(i, 0)};
    }
    if (G != nullptr && at != nullptr)
      at->pull_back(block.Z, by_mean, by_variance, G->block_rows(block.first, block.first + n));
    sites.add(block.Z, f.view(), context, weights);
  });
  sites.release_scratch();
  require_finite_features(sites);
  sites = take_reduced(rows, std::move(sites));
  reduce(rows, sums);
  found.likelihood = sums[0], found.weight = sums[1];
  return found;
}

LatentProcess VariationalProcess::process_of(const Sites& sites, double precision,
                                             Context& context) const {
  return latent_process(sites.sums.clone(context), center_, precision, context);
}

/// E w'w under q.
double VariationalProcess::squared_norm(const LatentProcess& at, Context& context) const {
  double sum = exact_inverse_trace(at.factor.view(), context);
  for (int64_t j = 0; j < at.w.rows(); ++j) sum += at.w(j, 0) * at.w(j, 0);
  return sum;
}

double VariationalProcess::slope(double precision, Context& context) const {
  return (static_cast<double>(process_->w.rows()) - precision * squared_norm(*process_, context)) /
         2;
}

double VariationalProcess::elbo_of(const Pass& pass, const LatentProcess& at, double precision,
                                   Context& context) const {
  const auto D = static_cast<double>(at.w.rows());
  double twice =
      precision * squared_norm(at, context) - D - D * std::log(precision);  // KL(q || prior) of w
  for (int64_t j = 0; j < at.w.rows(); ++j) twice += 2 * std::log(at.factor(j, j));
  const double entropy =
      at.share > 0 ? std::log(2 * std::numbers::pi * std::numbers::e * at.share) : 0;
  return pass.likelihood + (entropy - twice) / 2;
}

void VariationalProcess::ascend(double precision, double tolerance, Context& context) {
  if (!sites_) sites_ = pass(rows_, nullptr, context).sites;
  process_ = process_of(*sites_, precision, context);
  Pass here = pass(rows_, &*process_, context);
  elbo_ = elbo_of(here, *process_, precision, context);
  double rate = 1;
  for (int64_t step = 0; step < kMostSteps && rate >= kLeastRate; ++step) {
    Sites sites = sites_->clone(context);
    sites.mix(here.sites.clone(context), rate);
    LatentProcess next = process_of(sites, precision, context);
    Pass there = pass(rows_, &next, context);
    const double gain = elbo_of(there, next, precision, context) - elbo_;
    const double least = tolerance * there.weight;
    if (gain < 0) {
      if (gain > -least) return;
      rate /= 2;
      continue;
    }
    sites_ = std::move(sites), process_ = std::move(next), here = std::move(there);
    elbo_ += gain;
    if (gain < least) return;
    rate = std::min(1.0, 2 * rate);
  }
}

void VariationalProcess::begin(std::vector<RowSite> sites, Context& context) {
  sites_ = Sites{RowStatistics(rows_.features(), 1, context), std::move(sites)};
  for_each_wide(rows_, context, [&](const WideBlock& block) {
    const int64_t n = block.Z.rows;
    const Matrix<double> target(n, 1, context, "targets of sites");
    std::vector<double> weights(n);
    for (int64_t i = 0; i < n; ++i) {
      const RowSite& site = sites_->watched[block.first + i];
      weights[i] = site.precision;
      target(i, 0) = site.precision > 0 ? site.pull / site.precision : 0;
    }
    sites_->sums.add(block.Z, target.view(), context, weights);
  });
  sites_->sums.release_scratch();
  require_finite_features(sites_->sums);
}

void VariationalProcess::pull_back(Context& context, const MatrixView<double>& G) const {
  pass(rows_, &*process_, context, nullptr, &G);
}

void VariationalProcess::follow(double precision, const RowBatches& batches, Context& context) {
  const int64_t n = rows_.rows(), count = (n + batches.rows - 1) / batches.rows;
  std::vector<int64_t> order(n);
  int64_t steps = 0;
  for (int64_t epoch = 0; epoch < batches.epochs; ++epoch) {
    random::Cursor cursor(
        {batches.seed, random::Tag::sample, kFirstEpoch + static_cast<uint64_t>(epoch)});
    random::permutation(cursor, order);
    for (int64_t b = 0; b < count; ++b) {
      std::vector<int64_t> own(order.begin() + b * n / count, order.begin() + (b + 1) * n / count);
      std::ranges::sort(own);
      Pass part = pass(*rows_.subset(own), process_ ? &*process_ : nullptr, context, &own);
      part.sites.scale(static_cast<double>(n) / static_cast<double>(std::ssize(own)));
      if (sites_) {
        sites_->mix(std::move(part.sites), std::pow(1 + steps, -kForgetting));
      } else {
        sites_ = std::move(part.sites);
      }
      process_ = process_of(*sites_, precision, context);
      ++steps;
    }
  }
  elbo_ = elbo_of(pass(rows_, &*process_, context), *process_, precision, context);
}

/// q without a row's own factor (Vehtari, Mononen, Tolvanen, Sivula, Winther 2016, section 3.3):
/// the factor that is in q. That of another step would differ by little, which is a lot where a
/// row's factor makes nearly all of its precision, as in classes that are far apart.
void VariationalProcess::left_out(
    const BlockSource& some, Context& context,
    const std::function<void(int64_t row, double mean, double variance)>& body) const {
  for_each_wide(some, context, [&](const WideBlock& block) {
    const int64_t n = block.Z.rows;
    const Matrix<double> f(n, 1, context, "latent means"), v(n, 1, context, "latent variances");
    process_->moments(block.Z, f.view(), v.view());
    for (int64_t i = 0; i < n; ++i) {
      const RowSite& own = sites_->watched[block.first + i];
      const double left = std::max(1 - own.precision * v(i, 0), kLeastLeft);
      body(block.first + i, (f(i, 0) - own.pull * v(i, 0)) / left, v(i, 0) / left);
    }
  });
}

// sigma(f) is within 6e-8 of a mixture of normal distribution functions, sum p_j Phi(s_j f)
// (Monahan, Stefanski 1992, "Normal scale mixture approximations to F*(z) and computation of the
// logistic-normal integral", eight terms), whose expectation has a closed form for any variance v:
// with c_j = s_j / sqrt(1 + s_j^2 v),
//   E Phi(s_j f) = Phi(c_j m),   E log(1 + e^f) = sum p_j (m Phi(c_j m) + phi(c_j m)/c_j).

LogisticNormal logistic_normal(double mean, double variance) noexcept {
  LogisticNormal sum{0, 0, 0};
  for (const auto [p, s] : kTerms) {
    const double c = s / std::sqrt(1 + s * s * variance), x = c * mean;
    const double below = std::erfc(-x / std::numbers::sqrt2) / 2;
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    sum.softplus += p * (mean * below + density / c);
    sum.mean += p * below;
    sum.slope += p * c * density;
  }
  return sum;
}

}  // namespace mercer::solver
