// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A step is ridge regression (conjugate-computation variational inference, Khan and Lin 2017): with
// f_i ~ N(m_i, v_i) under q, p_i = E sigma(f_i) and beta_i = E sigma'(f_i), a natural gradient step
// of rate 1 is to the posterior of rows of weight beta_i and target m_i + (y_i - p_i)/beta_i. What
// rows say is their statistics, of which a step of rate r takes the share r and keeps 1 - r; r is
// halved until the ELBO, which is concave in the mean and the root of q's covariance, does not
// fall. Batches (Hoffman, Blei, Wang, Paisley 2013) take n/batch times the statistics of theirs.
#include "solver/variational_process.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "random/distributions.h"
#include "solver/block_statistics.h"
#include "solver/inverse_trace.h"
#include "solver/logistic_normal.h"

namespace mercer::solver {
namespace {

constexpr double kLeastSlope = 1e-10;  // targets stay finite
constexpr double kLeastLeft = 1e-10;   // share of a variance's inverse that is not the row's own
constexpr double kLeastRate = 1.0 / 64;
constexpr int64_t kMostSteps = 100;
constexpr double kForgetting = 0.7;     // rate t^-0.7
constexpr uint64_t kFirstEpoch = 1024;  // of streams, behind those of other samples

}  // namespace

void VariationalProcess::Sites::scale(double factor) {
  sums.scale(factor);
  for (Site& site : watched) site.precision *= factor, site.pull *= factor;
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
                                                  Context& context,
                                                  const std::vector<int64_t>* own) const {
  Pass found{{RowStatistics(rows.features(), 1, context), std::vector<Site>(watched_.size())}};
  RowStatistics& sites = found.sites.sums;
  double sums[2] = {};
  for_each_wide(rows, context, [&](const WideBlock& block) {
    const int64_t n = block.Z.rows;
    const Matrix<double> f(n, 1, context, "latent means"), v(n, 1, context, "latent variances");
    f.fill(0), v.fill(0);
    if (at != nullptr) at->moments(block.Z, f.view(), v.view());
    std::vector<double> weights(n);
    for (int64_t i = 0; i < n; ++i) {
      const double y = block.Y(i, k_) == 1 ? 1 : 0, weight = block.weight(i);
      const LogisticNormal e = logistic_normal(f(i, 0), v(i, 0));
      const double slope = std::max(e.slope, kLeastSlope);
      sums[0] += weight * (y * f(i, 0) - e.softplus);
      sums[1] += weight;
      weights[i] = weight * slope;
      f(i, 0) += (y - e.mean) / slope;
      const int64_t row = own == nullptr ? block.first + i : (*own)[block.first + i];
      const auto place = std::ranges::lower_bound(watched_, row);
      if (place != watched_.end() && *place == row)
        found.sites.watched[place - watched_.begin()] = {weights[i], weights[i] * f(i, 0)};
    }
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

double VariationalProcess::elbo_of(const Pass& pass, const LatentProcess& at, double precision,
                                   Context& context) const {
  const auto D = static_cast<double>(at.w.rows());
  double twice = precision * exact_inverse_trace(at.factor.view(), context) - D -
                 D * std::log(precision);  // KL(q || prior) of w
  for (int64_t j = 0; j < at.w.rows(); ++j)
    twice += precision * at.w(j, 0) * at.w(j, 0) + 2 * std::log(at.factor(j, j));
  const double entropy =
      at.share > 0 ? std::log(2 * std::numbers::pi * std::numbers::e * at.share) : 0;
  return pass.likelihood + (entropy - twice) / 2;
}

void VariationalProcess::ascend(double precision, double tolerance, Context& context) {
  if (!sites_) sites_ = pass(rows_, nullptr, context).sites;
  process_ = process_of(*sites_, precision, context);
  Pass here = pass(rows_, &*process_, context);
  elbos_ = {elbo_of(here, *process_, precision, context)};
  double rate = 1;
  for (int64_t step = 0; step < kMostSteps && rate >= kLeastRate; ++step) {
    Sites sites = sites_->clone(context);
    sites.mix(here.sites.clone(context), rate);
    LatentProcess next = process_of(sites, precision, context);
    Pass there = pass(rows_, &next, context);
    const double gain = elbo_of(there, next, precision, context) - elbo();
    const double least = tolerance * there.weight;
    if (gain < 0) {
      if (gain > -least) return;
      rate /= 2;
      continue;
    }
    sites_ = std::move(sites), process_ = std::move(next), here = std::move(there);
    elbos_.push_back(elbo() + gain);
    if (gain < least) return;
    rate = std::min(1.0, 2 * rate);
  }
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
  elbos_ = {elbo_of(pass(rows_, &*process_, context), *process_, precision, context)};
}

/// q without a row's own factor (Vehtari, Mononen, Tolvanen, Sivula, Winther 2016, section 3.3): the
/// factor that is in q. That of another step would differ by little, which is a lot where a row's
/// factor makes nearly all of its precision, as in classes that are far apart.
void VariationalProcess::left_out(
    const BlockSource& some, Context& context,
    const std::function<void(int64_t row, double mean, double variance)>& body) const {
  for_each_wide(some, context, [&](const WideBlock& block) {
    const int64_t n = block.Z.rows;
    const Matrix<double> f(n, 1, context, "latent means"), v(n, 1, context, "latent variances");
    process_->moments(block.Z, f.view(), v.view());
    for (int64_t i = 0; i < n; ++i) {
      const Site& own = sites_->watched[block.first + i];
      const double left = std::max(1 - own.precision * v(i, 0), kLeastLeft);
      body(block.first + i, (f(i, 0) - own.pull * v(i, 0)) / left, v(i, 0) / left);
    }
  });
}

}  // namespace mercer::solver
