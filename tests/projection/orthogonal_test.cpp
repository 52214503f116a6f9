// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Orthogonal blocks: directions, norms, whole blocks independent of F, range and threads; progress,
// cancellation and memory; what is refused.
// The spherical-radial rule: its moments block by block, its mean against an integral over the
// radius, and what its last, incomplete block is.
#include "columns_of.h"
#include "support/catch.h"
#include "support/statistic.h"

namespace orthogonal_test {
using namespace mercer;
using namespace mercer::test;
using namespace mercer::projection;
using mercer::test::columns_of;

constexpr double kTurn = 6.283185307179586;

double inner(const Matrix<double>& W, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t k = 0; k < W.cols(); ++k) sum += W(i, k) * W(j, k);
  return sum;
}

/// Worst cosine between two columns of one block.
double worst_cosine(const Matrix<double>& W) {
  const int64_t d = W.cols();
  double worst = 0;
  for (int64_t i = 0; i < W.rows(); ++i) {
    for (int64_t j = i / d * d; j < i; ++j) {
      const double cosine = std::abs(inner(W, i, j)) / std::sqrt(inner(W, i, i) * inner(W, j, j));
      if (!(cosine <= worst)) worst = cosine;
    }
  }
  return worst;
}

struct Calls {
  int64_t count = 0;
  int64_t stop_at = -1;
};

int32_t count_calls(void* user, int64_t, int64_t) {
  auto& calls = *static_cast<Calls*>(user);
  return ++calls.count == calls.stop_at ? 1 : 0;
}

TEST_CASE("orthogonal: columns of a block are orthogonal, norms those of the radial law") {
  // Haar blocks are orthogonal to 10 d eps (tests/random/orthogonal_test.cpp); scaling a column and
  // turning it into turns rounds each entry a few times more.
  for (const int64_t d : {1, 2, 3, 16, 70, 100}) {
    const auto kernel = gaussian();
    const Matrix<double> W =
        columns_of(*make_projection("orthogonal", arguments_of(kernel, d, 2 * d + d / 2 + 1, 11)));
    double wrong = 0;
    for (int64_t j = 0; j < W.rows(); ++j) {
      const random::Stream stream(11, random::Tag::radius, static_cast<uint64_t>(j));
      const double radius = kernel->spectral_law()->radius(stream, d);
      wrong = std::max(wrong, std::abs(kTurn * std::sqrt(inner(W, j, j)) / radius - 1));
    }
    INFO("d = " << d);
    CHECK(worst_cosine(W) < 20.0 * static_cast<double>(d) * 0x1p-52);
    CHECK(wrong < 20.0 * static_cast<double>(d) * 0x1p-52);
  }
}

TEST_CASE("simplex: all corners of a block are equally far apart, with the norms of orthogonal") {
  for (const int64_t d : {2, 3, 16, 70}) {
    const auto of = [&](const char* name) {
      return columns_of(*make_projection(name, arguments_of(gaussian(), d, 2 * d + 1, 11)));
    };
    const Matrix<double> W = of("simplex"), orthogonal = of("orthogonal");
    double wrong = 0;
    for (int64_t j = 0; j < W.rows(); ++j) {
      wrong = std::max(wrong, std::abs(inner(W, j, j) / inner(orthogonal, j, j) - 1));
      for (int64_t i = j / d * d; i < j; ++i)
        wrong =
            std::max(wrong, std::abs(inner(W, i, j) / std::sqrt(inner(W, i, i) * inner(W, j, j)) +
                                     1 / static_cast<double>(d - 1)));
    }
    INFO("d = " << d);
    CHECK(wrong < 40.0 * static_cast<double>(d) * 0x1p-52);
  }
  const auto one = [](const char* name) {
    return columns_of(*make_projection(name, arguments_of(gaussian(), 1, 5, 11)));
  };
  CHECK(same_rows(one("simplex"), one("orthogonal"), 0, 5));
}

TEST_CASE("orthogonal: different blocks are independent") {
  // The cosine of two independent directions in R^3 is uniform on (-1, 1): variance 1/3.
  constexpr int kBlocks = 3000;
  const Matrix<double> W =
      columns_of(*make_projection("orthogonal", arguments_of(gaussian(), 3, 6 * kBlocks, 2)));
  std::vector<double> cosines;
  for (int64_t j = 0; j < 6 * kBlocks; j += 6) {
    cosines.push_back(inner(W, j, j + 3) / std::sqrt(inner(W, j, j) * inner(W, j + 3, j + 3)));
  }
  CHECK(std::abs(mean_z_score(cosines, 0, 1.0 / 3)) < z_threshold(kFailure, 2));
  CHECK(ks_distance(cosines, [](double x) { return 0.5 * (1 + x); }) <
        ks_threshold(cosines.size(), kFailure, 2));
}

TEST_CASE("orthogonal: coordinates are divided by their lengthscales") {
  const Matrix<double> one =
      columns_of(*make_projection("orthogonal", arguments_of(gaussian(), 3, 7, 4)));
  const Matrix<double> ard =
      columns_of(*make_projection("orthogonal", arguments_of(gaussian({0.5, 2.0, 8.0}), 3, 7, 4)));
  int wrong = 0;
  for (int64_t j = 0; j < 7; ++j) {
    wrong += ard(j, 0) != 2 * one(j, 0);
    wrong += ard(j, 1) != one(j, 1) / 2;
    wrong += ard(j, 2) != one(j, 2) / 8;
  }
  CHECK(wrong == 0);
}

TEST_CASE("orthogonal: a column is the same in a larger map, a slice, and for any threads") {
  // 300 columns of d = 70 are five blocks across two groups of panels, the last one incomplete.
  for (const int64_t d : {1, 3, 70, 270}) {
    const auto of = [d](int64_t F) {
      return make_projection("orthogonal", arguments_of(gaussian(), d, F, 21));
    };
    const Matrix<double> W = columns_of(*of(300));
    INFO("d = " << d);
    CHECK(same_rows(columns_of(*of(1000)), W, 0, 300));
    Context seven;
    seven.threads = 7;
    CHECK(same_rows(columns_of<double>(*of(300), 0, 300, seven), W, 0, 300));
    const auto backwards = of(300);
    Context context;
    CHECK(same_rows(columns_of<double>(*backwards, 260, 300, context), W, 260, 300));
    CHECK(same_rows(columns_of<double>(*backwards, 0, 300, context), W, 0, 300));
    CHECK(!same_rows(
        columns_of(*make_projection("orthogonal", arguments_of(gaussian(), d, 300, 22))), W, 0, 1));
    // Single precision is the double rounded.
    const Matrix<float> single = columns_of<float>(*of(300));
    int64_t wrong = 0;
    for (int64_t i = 0; i < 300 * d; ++i)
      wrong += single.data()[i] != static_cast<float>(W.data()[i]);
    CHECK(wrong == 0);
  }
}

TEST_CASE("orthogonal: a block that spans two groups is drawn once") {
  // Panels are packed in groups of 256 columns of doubles; a drawing polls the context once per
  // panel of reflections at the least.
  const auto polls = [](int64_t F) {
    Calls calls;
    Context context;
    context.threads = 1;
    context.progress = count_calls;
    context.user = &calls;
    const auto projection = make_projection("orthogonal", arguments_of(gaussian(), 300, F, 1));
    projection->prepare({0, (F - 1) / projection->shape(0.0).columns + 1}, 0.0, context);
    return calls.count;
  };
  const int64_t one_group = polls(256), two_groups = polls(300);
  CHECK(one_group > 9);
  CHECK(two_groups < 2 * one_group);
}

ProjectionArguments plain_arguments(int64_t d, int64_t F, uint64_t seed) {
  return {random::normal_law(), {}, Unit::plain, d, F, seed};
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

}  // namespace orthogonal_test
