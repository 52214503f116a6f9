// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The estimate is sum_n w_n k_n S_n, w_n = a_n/(D mu(n)), where S_n is the sketch of (x'y)^n by k_n
// columns, V_n(k) its variance. Of k_n columns b_n are shared out and the others drawn, R in all, with
// the chances q_n = (D mu(n) - b_n)/R, so that k_n has the mean D mu(n), and the variance is (ours)
//   R [sum_n q_n (w_n s^n)^2 - (sum_n q_n w_n s^n)^2] + sum_n w_n^2 E k_n^2 V_n(k_n).
#include "feature/random_degrees.h"

#include <algorithm>
#include <utility>

#include "moment/column_products.h"
#include "random/child_seed.h"
#include "random/distributions.h"

namespace mercer::feature {
namespace {

constexpr uint64_t kDegreeSeed = 2;
constexpr int64_t kDrawnDegrees = 1024;  // at a time
constexpr int64_t kMostDrawnColumns = int64_t{1} << 16;
// Probabilities below this share of the largest are rounding.
constexpr double kNoShare = 1e-18;

/// E f(k), k binomial: outward from the most probable k, whose probability cancels.
template <class Function>
double binomial_mean(int64_t D, double mu, const Function& f) {
  if (mu >= 1) return f(D);
  const int64_t mode = std::min(D, static_cast<int64_t>(static_cast<double>(D + 1) * mu));
  const double odds = mu / (1 - mu);
  double sum = f(mode), all = 1, p = 1;
  for (int64_t k = mode + 1; k <= D && p > kNoShare; ++k) {
    p *= odds * static_cast<double>(D - k + 1) / static_cast<double>(k);
    sum += p * f(k);
    all += p;
  }
  p = 1;
  for (int64_t k = mode - 1; k >= 0 && p > kNoShare; --k) {
    p *= static_cast<double>(k + 1) / (odds * static_cast<double>(D - k));
    sum += p * f(k);
    all += p;
  }
  return sum / all;
}

}  // namespace

RandomDegrees::RandomDegrees(std::vector<SeriesTerm> terms, int64_t D, int64_t block)
    : terms_(std::move(terms)), D_(D), block_(block) {
  double sum = 0;
  for (const SeriesTerm& term : terms_) sum += std::ldexp(1.0, -static_cast<int>(term.degree + 1));
  drawn_ = D;
  const auto rest = static_cast<double>(std::max<int64_t>(D - kMostDrawnColumns, 0));
  for (const SeriesTerm& term : terms_) {
    mu_.push_back(std::ldexp(1.0, -static_cast<int>(term.degree + 1)) / sum);
    shared_.push_back(static_cast<int64_t>(rest * mu_.back()));
    drawn_ -= shared_.back();
  }
  for (size_t i = 0; i < terms_.size(); ++i) {
    chances_.push_back((static_cast<double>(D) * mu_[i] - static_cast<double>(shared_[i])) /
                       static_cast<double>(drawn_));
    pairs_.push_back(block <= 1 ? 0 : binomial_mean(drawn_, chances_[i], [&](int64_t k) {
      return moment::pairs_in_blocks(block, shared_[i] + k);
    }));
  }
}

std::vector<int64_t> RandomDegrees::draw(uint64_t seed) const {
  const random::Stream stream(random::child_seed(seed, kDegreeSeed, 0), random::Tag::sample, 0);
  std::vector<int64_t> columns = shared_;
  std::vector<double> u(static_cast<size_t>(kDrawnDegrees));
  for (int64_t first = 0; first < drawn_; first += kDrawnDegrees) {
    const auto count = static_cast<size_t>(std::min(drawn_ - first, kDrawnDegrees));
    random::fill_uniform(stream, static_cast<uint64_t>(first), std::span(u).first(count));
    for (size_t j = 0; j < count; ++j) {
      size_t term = 0;
      double left = u[j];
      while (term + 1 < terms_.size() && left >= chances_[term]) left -= chances_[term++];
      ++columns[term];
    }
  }
  return columns;
}

/// E k^2 V(k), which is k v + c(k) C where columns are dependent within blocks: v = V(1), c(k) pairs
/// of one block, and C = 2 V(2) - v.
double RandomDegrees::mean_square(size_t term,
                                  const std::function<double(size_t, int64_t)>& of) const {
  if (block_ > 0) {
    const double v = of(term, 1), mean = static_cast<double>(D_) * mu_[term];
    return mean * v + (block_ == 1 ? 0 : pairs_[term] * (2 * of(term, 2) - v));
  }
  return binomial_mean(drawn_, chances_[term], [&](int64_t k) {
    const auto columns = static_cast<double>(shared_[term] + k);
    return columns == 0 ? 0 : columns * columns * of(term, shared_[term] + k);
  });
}

/// Those after are rounding: a column of degree n has E |z z'|^2 <= (3 N)^n.
size_t RandomDegrees::terms_that_count(double N) const {
  std::vector<double> bounds;
  for (size_t i = 0; i < terms_.size(); ++i) {
    const double w = terms_[i].coefficient / mu_[i];
    bounds.push_back(w * w * std::pow(3 * N, static_cast<double>(terms_[i].degree)));
  }
  const double largest = *std::ranges::max_element(bounds);
  size_t count = bounds.size();
  while (count > 1 && bounds[count - 1] <= kNoShare * largest) --count;
  return count;
}

double RandomDegrees::variance(double s, double N,
                               const std::function<double(size_t, int64_t)>& of) const {
  double squares = 0, sum = 0, sketches = 0;
  for (size_t i = 0; i < terms_that_count(N); ++i) {
    const double w = terms_[i].coefficient / (static_cast<double>(D_) * mu_[i]);
    const double value = w * std::pow(s, static_cast<double>(terms_[i].degree));
    squares += chances_[i] * value * value;
    sum += chances_[i] * value;
    sketches += w * w * mean_square(i, of);
  }
  return std::max(squares - sum * sum, 0.0) * static_cast<double>(drawn_) + sketches;
}

}  // namespace mercer::feature
