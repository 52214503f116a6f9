// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The spherical-radial rule: its moments block by block, its mean against an integral over the
// radius, and what its last, incomplete block is.
#include "columns_of.h"
#include "support/catch.h"
#include "support/statistic.h"

namespace quadrature_test {
using namespace mercer;
using namespace mercer::projection;
using mercer::test::columns_of;

ProjectionArguments plain_arguments(int64_t d, int64_t F, uint64_t seed) {
  return {random::normal_law(), {}, Unit::plain, d, F, seed};
}

double inner(const Matrix<double>& W, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t k = 0; k < W.cols(); ++k) sum += W(i, k) * W(j, k);
  return sum;
}

// With z ~ N(0, I_3), f(z) = cos(r z_1): the mean over rho^2 ~ chi^2(5) given rho^2 >= 3 of (1 - w)
// + w sin(rho r)/(rho r), w = 3/rho^2; the mean of cosines over a sphere in R^3 is that sine.
double exact_mean(double r) {
  const auto density = [](double s) { return std::pow(s, 1.5) * std::exp(-s / 2); };
  double mass = 0, sum = 0;
  const int64_t steps = 200000;
  for (int64_t i = 0; i < steps; ++i) {  // midpoints of [3, 103]
    const double s = 3 + 100 * (static_cast<double>(i) + 0.5) / static_cast<double>(steps);
    const double w = 3 / s, t = std::sqrt(s) * r;
    mass += density(s);
    sum += density(s) * (1 - w + w * std::sin(t) / t);
  }
  return sum / mass;
}

// What far points get above k: the mean share of the origin, 1 - d/rho^2, rho^2 ~ chi^2(d + 2)
// given that it is d at least.
double far_bias(int64_t d) {
  const double n = static_cast<double>(d);
  double mass = 0, sum = 0;
  for (double s = n + 0.005; s < n + 400; s += 0.01) {
    const double density = std::exp(n / 2 * std::log(s / n) - (s - n) / 2);
    mass += density;
    sum += density * (1 - n / s);
  }
  return sum / mass;
}

TEST_CASE("quadrature: a block is a simplex and the origin, and has the moments of the law") {
  for (const int64_t d : {1, 2, 3, 16, 40}) {
    const int64_t width = d + 2, F = 3 * width;
    const ProjectionArguments arguments = plain_arguments(d, F, 5);
    const Matrix<double> W = columns_of(*kQuadrature.make(arguments));
    double worst = 0, total = 0, least = 1;
    for (int64_t b = 0; b < F; b += width) {
      const double squared = inner(W, b, b);
      const auto n = static_cast<double>(d);
      for (int64_t j = b; j < b + width; ++j) {
        const double share = kQuadrature.share(arguments, j);
        total += share;
        least = std::min(least, share);
        const bool origin = j == b + d + 1;
        worst = std::max(worst, std::fabs(inner(W, j, j) / squared - (origin ? 0 : 1)));
        for (int64_t i = b; i < j && !origin; ++i)
          worst = std::max(worst, std::fabs(inner(W, i, j) / squared + 1 / n));
      }
      CHECK(squared >= n * (1 - 1e-12));
    }
    for (int64_t k = 0; k < d; ++k) {
      for (int64_t l = 0; l <= k; ++l) {
        double mean = 0, moment = 0;
        for (int64_t j = 0; j < F; ++j) {
          const double share = kQuadrature.share(arguments, j);
          mean += share * W(j, k);
          moment += share * W(j, k) * W(j, l);
        }
        worst = std::max({worst, std::fabs(mean), std::fabs(moment - (k == l ? 1 : 0))});
      }
    }
    CAPTURE(d);
    CHECK(worst <= 1e-12);
    CHECK(total == Approx(1).epsilon(1e-13));
    CHECK(least >= 0);
  }
}

TEST_CASE("quadrature: its mean is the integral over the radius") {
  constexpr int64_t d = 3, F = 5, kSeeds = 20000;
  const double radii[] = {0.5, 1.5, 4};
  double sums[3] = {}, squares[3] = {};
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const ProjectionArguments arguments = plain_arguments(d, F, seed);
    const Matrix<double> W = columns_of(*kQuadrature.make(arguments));
    for (size_t i = 0; i < 3; ++i) {
      double estimate = 0;
      for (int64_t j = 0; j < F; ++j)
        estimate += kQuadrature.share(arguments, j) * std::cos(radii[i] * W(j, 0));
      sums[i] += estimate;
      squares[i] += estimate * estimate;
    }
  }
  for (size_t i = 0; i < 3; ++i) {
    const double mean = sums[i] / kSeeds;
    const double deviation = std::sqrt((squares[i] / kSeeds - mean * mean) / kSeeds);
    CAPTURE(radii[i], mean, exact_mean(radii[i]));
    CHECK(std::fabs(mean - exact_mean(radii[i])) <=
          test::z_threshold(test::kFailure, 3) * deviation);
  }
}

// The figures that the documentation states; k itself is exp(-800) at this distance.
TEST_CASE("quadrature: far points are off by the stated bias") {
  struct Stated {
    int64_t d;
    double bias;
  };
  const double z = test::z_threshold(test::kFailure, 2 * 3);
  for (const auto& [d, stated] : {Stated{4, 0.40}, Stated{16, 0.24}, Stated{64, 0.13}}) {
    CAPTURE(d);
    CHECK(std::fabs(far_bias(d) - stated) <= 0.005);
    const int64_t width = d + 2, blocks = d == 64 ? 200 : 3000;
    const ProjectionArguments arguments = plain_arguments(d, blocks * width, 7);
    const Matrix<double> W = columns_of(*kQuadrature.make(arguments));
    std::vector<double> origins, estimates;
    for (int64_t b = 0; b < blocks; ++b) {
      double estimate = 0;
      for (int64_t j = b * width; j < (b + 1) * width; ++j)
        estimate += kQuadrature.share(arguments, j) * std::cos(40 * W(j, 0));
      const auto count = static_cast<double>(blocks);
      origins.push_back(count * kQuadrature.share(arguments, (b + 1) * width - 1));
      estimates.push_back(count * estimate);
    }
    CHECK(std::fabs(test::studentised_z_score(origins, far_bias(d))) <= z);
    CHECK(std::fabs(test::studentised_z_score(estimates, far_bias(d))) <= z);
  }
}

TEST_CASE("quadrature: an incomplete block has norms of the law and equal weights") {
  constexpr int64_t d = 6, F = 13;  // one block of 8, and 5 vertices of the next
  const ProjectionArguments arguments = plain_arguments(d, F, 4);
  const Matrix<double> W = columns_of(*kQuadrature.make(arguments));
  const random::Law& law = *arguments.law;
  for (int64_t j = 8; j < F; ++j) {
    CHECK(kQuadrature.share(arguments, j) == 1.0 / F);
    const double norm = law.radius({4, random::Tag::radius, static_cast<uint64_t>(j)}, d);
    CHECK(std::sqrt(inner(W, j, j)) == Approx(norm).epsilon(1e-13));
  }
  // Directions are those of the block, whether or not it is whole.
  const Matrix<double> longer = columns_of(*kQuadrature.make(plain_arguments(d, 16, 4)));
  for (int64_t j = 8; j < F; ++j)
    CHECK(W(j, 2) / std::sqrt(inner(W, j, j)) ==
          Approx(longer(j, 2) / std::sqrt(inner(longer, j, j))).epsilon(1e-12));
}

}  // namespace quadrature_test
