// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The estimate is sum_n w_n k_n S_n, w_n = a_n/(D mu(n)), where S_n is the sketch of (x'y)^n by k_n
// columns, V_n(k) its variance. Of k_n columns b_n are shared out and the others drawn, R in all, with
// the chances q_n = (D mu(n) - b_n)/R, so that k_n has the mean D mu(n), and the variance is (ours)
//   R [sum_n q_n (w_n s^n)^2 - (sum_n q_n w_n s^n)^2] + sum_n w_n^2 E k_n^2 V_n(k_n).
#include "feature/random_degrees.h"

#include <algorithm>
#include <utility>

#include "base/log_gamma.h"
#include "random/child_seed.h"
#include "random/distributions.h"

namespace mercer::feature {
namespace {

constexpr uint64_t kDegreeSeed = 2;
constexpr int64_t kDrawnDegrees = 1024;  // at a time
constexpr int64_t kMostDrawnColumns = int64_t{1} << 16;
// Probabilities below this share of the largest are rounding.
constexpr double kNoShare = 1e-18;

/// E f(k), k binomial: outward from the most probable k.
template <class Function>
double binomial_mean(int64_t D, double mu, const Function& f) {
  if (mu >= 1) return f(D);
  const auto n = static_cast<double>(D);
  const int64_t mode = std::min(D, static_cast<int64_t>((n + 1) * mu));
  const auto m = static_cast<double>(mode);
  const double odds = mu / (1 - mu);
  const double most = std::exp(log_gamma(n + 1) - log_gamma(m + 1) - log_gamma(n - m + 1) +
                               m * std::log(mu) + (n - m) * std::log1p(-mu));
  double sum = most * f(mode), p = most;
  for (int64_t k = mode + 1; k <= D && p > kNoShare * most; ++k) {
    p *= odds * static_cast<double>(D - k + 1) / static_cast<double>(k);
    sum += p * f(k);
  }
  p = most;
  for (int64_t k = mode - 1; k >= 0 && p > kNoShare * most; --k) {
    p *= static_cast<double>(k + 1) / (odds * static_cast<double>(D - k));
    sum += p * f(k);
  }
  return sum;
}

}  // namespace

RandomDegrees::RandomDegrees(std::vector<SeriesTerm> terms, int64_t D)
    : terms_(std::move(terms)), D_(D) {
  double sum = 0;
  for (const SeriesTerm& term : terms_) sum += std::ldexp(1.0, -static_cast<int>(term.degree + 1));
  drawn_ = D;
  const auto rest = static_cast<double>(std::max<int64_t>(D - kMostDrawnColumns, 0));
  for (const SeriesTerm& term : terms_) {
    mu_.push_back(std::ldexp(1.0, -static_cast<int>(term.degree + 1)) / sum);
    shared_.push_back(static_cast<int64_t>(rest * mu_.back()));
    drawn_ -= shared_.back();
  }
  for (size_t i = 0; i < terms_.size(); ++i)
    chances_.push_back((static_cast<double>(D) * mu_[i] - static_cast<double>(shared_[i])) /
                       static_cast<double>(drawn_));
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

double RandomDegrees::variance(double s, bool independent,
                               const std::function<double(size_t, int64_t)>& of) const {
  const auto D = static_cast<double>(D_), R = static_cast<double>(drawn_);
  double squares = 0, sum = 0, sketches = 0;
  for (size_t i = 0; i < terms_.size(); ++i) {
    const double w = terms_[i].coefficient / (D * mu_[i]);
    const double value = w * std::pow(s, static_cast<double>(terms_[i].degree));
    squares += chances_[i] * value * value;
    sum += chances_[i] * value;
    const auto one = [&](int64_t k) {
      const auto columns = static_cast<double>(shared_[i] + k);
      return columns == 0 ? 0 : columns * columns * of(i, shared_[i] + k);
    };
    sketches +=
        w * w * (independent ? D * mu_[i] * of(i, 1) : binomial_mean(drawn_, chances_[i], one));
  }
  return std::max(squares - sum * sum, 0.0) * R + sketches;
}

}  // namespace mercer::feature
