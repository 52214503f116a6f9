// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The series of any kernel that is a function of a norm. Its first terms are summed; of the rest,
// with g(m) = (1 - k(m t))/(4 m^2 - 1), the sum over m > M is by the midpoint rule
//   int_{M+1/2}^inf g(m) dm + g'(M + 1/2)/24,
// in error by O(M^-5), whose integral, with m = (M + 1/2)/v, is over v in (0, 1): for near points k
// bends at a small v and for heavy tails nowhere, so (0, 1) is halved towards 0 and every part gets
// a rule of its own.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "moment/code_share.h"

namespace mercer::moment {
namespace {

constexpr int kTerms = 64;
constexpr int kHalvings = 34;  // the rest is below 2^-34/260
constexpr double kScale = 8 / (std::numbers::pi * std::numbers::pi);
constexpr double kFarShare = kScale / 2;
constexpr double kMostLog = 345;  // of t, so that t^2 does not overflow

// Gauss-Legendre, five points on (0, 1).
struct Node {
  double at, weight;
};
constexpr Node kRule[] = {{0.04691007703066800, 0.11846344252809454},
                          {0.23076534494715845, 0.23931433524968324},
                          {0.5, 0.28444444444444444},
                          {0.76923465505284155, 0.23931433524968324},
                          {0.95308992296933200, 0.11846344252809454}};

double term(const Profile& k, double t, double m) { return (1 - k(m * t)) / (4 * m * m - 1); }

double rest(const Profile& k, double t) {
  constexpr double kFirst = kTerms + 0.5;
  double sum = 0, width = 0.5;
  for (int h = 0; h < kHalvings; ++h, width /= 2) {
    for (const Node& node : kRule) {
      const double v = width * (1 + node.at);
      sum +=
          width * node.weight * kFirst * (1 - k(t * (kFirst / v))) / (4 * kFirst * kFirst - v * v);
    }
  }
  return sum + (term(k, t, kTerms + 1) - term(k, t, kTerms)) / 24;
}

}  // namespace

double profile_code_share(const Profile& k, double t) {
  double sum = rest(k, t);
  for (int m = kTerms; m >= 1; --m) sum += term(k, t, m);
  return kScale * sum;
}

// Solved for the logarithm of t, in which the share rises evenly: steps that double find an
// interval that holds the root, then false position with the weight of the end that stays halved
// (Illinois).
double profile_from_code_share(const Profile& k, double share) {
  if (!(share > 0)) return std::isnan(share) ? share : 1;
  if (share >= kFarShare) return 0;
  const auto miss = [&](double u) { return profile_code_share(k, std::exp(u)) - share; };
  double low = 0, at_low = miss(0), high = low, at_high = at_low;
  for (double step = 1; at_low > 0 && low > -kMostLog; step *= 2) {
    high = low, at_high = at_low;
    low = std::max(low - step, -kMostLog), at_low = miss(low);
  }
  for (double step = 1; at_high < 0 && high < kMostLog; step *= 2) {
    low = high, at_low = at_high;
    high = std::min(high + step, kMostLog), at_high = miss(high);
  }
  if (at_low >= 0) return k(std::exp(low));
  if (at_high <= 0) return k(std::exp(high));
  double kept_low = at_low, kept_high = at_high;
  int side = 0;
  for (int step = 0; step < 100 && high - low > 1e-12; ++step) {
    const double u = (low * kept_high - high * kept_low) / (kept_high - kept_low);
    const double at = miss(u);
    if (std::fabs(at) <= 1e-13) return k(std::exp(u));
    if (at < 0) {
      low = u, kept_low = at;
      if (side == -1) kept_high /= 2;
      side = -1;
    } else {
      high = u, kept_high = at;
      if (side == 1) kept_low /= 2;
      side = 1;
    }
  }
  return k(std::exp((low + high) / 2));
}

}  // namespace mercer::moment
