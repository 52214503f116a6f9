// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What scrambling promises of both sequences, over seeds: every point uniform, pairs of points of
// the law of nested scrambling, coordinates and seeds independent, any split the same bytes.
#include "random/points.h"
#include "support/catch.h"
#include "support/statistic.h"

namespace scramble_test {
using namespace mercer::random;
using namespace mercer::test;

struct Sequence {
  const char* name;
  void (*fill)(uint64_t seed, Scramble, int64_t dimension, uint64_t first, std::span<double> out);
  uint32_t base[3];  // of dimensions 0, 1, 2
};

template <class Points>
void fill(uint64_t seed, Scramble scramble, int64_t dimension, uint64_t first,
          std::span<double> out) {
  Points(dimension + 1, seed, scramble).fill(dimension, first, out);
}

const Sequence kSequences[] = {{"sobol", fill<SobolPoints>, {2, 2, 2}},
                               {"halton", fill<HaltonPoints>, {2, 3, 5}}};
const Scramble kScrambles[] = {Scramble::owen, Scramble::digital_shift};

double coordinate(const Sequence& sequence, uint64_t seed, Scramble scramble, int64_t dimension,
                  uint64_t index) {
  double u = 0;
  sequence.fill(seed, scramble, dimension, index, std::span(&u, 1));
  return u;
}

/// Covariance of two nested scrambled coordinates that share their first r digits in base p: each
/// digit has variance (p^2 - 1)/12; shared digits count fully, the next two are different and
/// otherwise uniform, hence correlated by -1/(p - 1); the rest are independent.
double nested_covariance(double p, int r) {
  const double shared = (1 - std::pow(p, -2 * r)) / 12;
  const double next = (p * p - 1) / 12 * std::pow(p, -2 * (r + 1));
  return shared - next / (p - 1);
}

TEST_CASE("scramble: every point of every dimension is uniform, point 0 too") {
  constexpr uint64_t kSeeds = 20000;
  constexpr double kComparisons = 2 * 2 * 4 * 5;
  for (const Sequence& sequence : kSequences) {
    for (const Scramble scramble : kScrambles) {
      double worst = 0;
      for (const int64_t dimension : {0, 1, 2, 50}) {
        for (const uint64_t index :
             {uint64_t{0}, uint64_t{1}, uint64_t{6}, uint64_t{1000}, (uint64_t{1} << 28) - 1}) {
          std::vector<double> sample;
          for (uint64_t seed = 0; seed < kSeeds; ++seed) {
            sample.push_back(coordinate(sequence, seed, scramble, dimension, index));
          }
          const double distance = ks_distance(sample, [](double x) { return x; });
          if (!(distance <= worst)) worst = distance;
        }
      }
      INFO(sequence.name << ", scramble " << static_cast<int>(scramble));
      CHECK(worst < ks_threshold(kSeeds, kFailure, kComparisons));
    }
  }
}

TEST_CASE("scramble: pairs of points have the covariance of nested scrambling") {
  // In dimension 0 both sequences mirror digits; in bases 3 and 5 Halton points do.
  constexpr uint64_t kSeeds = 20000;
  constexpr double kComparisons = 4 * 4;
  const struct {
    const Sequence& sequence;
    int64_t dimension;
  } kCases[] = {{kSequences[0], 0}, {kSequences[1], 0}, {kSequences[1], 1}, {kSequences[1], 2}};
  for (const auto& [sequence, dimension] : kCases) {
    const double p = sequence.base[dimension];
    for (const int r : {0, 1, 2, 4}) {
      const uint64_t first = 1, second = first + static_cast<uint64_t>(std::pow(p, r));
      std::vector<double> products;
      for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        products.push_back((coordinate(sequence, seed, Scramble::owen, dimension, first) - 0.5) *
                           (coordinate(sequence, seed, Scramble::owen, dimension, second) - 0.5));
      }
      INFO(sequence.name << " in base " << p << ", " << r << " digits shared");
      CHECK(std::abs(studentised_z_score(products, nested_covariance(p, r))) <
            z_threshold(kFailure, kComparisons));
    }
  }
}

TEST_CASE("scramble: a digital shift keeps the difference of two points' digits") {
  // Points 0 and 1 of dimension 0 in base 2 differ in their first digit alone, and 1 and 3 in the
  // second; in base 3, points 0 and 1 in the first, by 1 modulo 3.
  double worst = 0;
  int third = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    for (const Sequence& sequence : kSequences) {
      const auto u = [&](uint64_t j) {
        return coordinate(sequence, seed, Scramble::digital_shift, 0, j);
      };
      worst = std::max(worst, std::abs(std::abs(u(1) - u(0)) - 0.5));
      worst = std::max(worst, std::abs(std::abs(u(3) - u(1)) - 0.25));
    }
    const double step = coordinate(kSequences[1], seed, Scramble::digital_shift, 1, 1) -
                        coordinate(kSequences[1], seed, Scramble::digital_shift, 1, 0);
    third += step > 0;
    worst = std::max(worst, std::min(std::abs(step - 1.0 / 3), std::abs(step + 2.0 / 3)));
  }
  CHECK(worst < 0x1p-50);
  CHECK(std::abs(third - 2000.0 / 3) < z_threshold() * std::sqrt(1000 * 2.0 / 9));
}

TEST_CASE("scramble: what follows the tabulated digits is a point's own") {
  // In base 2 both sequences tabulate 28 digits, which leaves 25 bits of a double, uniform to
  // 2^-25.
  for (const Sequence& sequence : kSequences) {
    std::vector<double> u(4000);
    sequence.fill(3, Scramble::owen, 0, 0, u);
    for (double& x : u) x = x * 0x1p28 - std::floor(x * 0x1p28);
    INFO(sequence.name);
    CHECK(ks_distance(u, [](double x) { return x; }) <
          ks_threshold(u.size(), kFailure, 2) + 0x1p-25);
  }
}

TEST_CASE("scramble: dimensions and seeds are independent") {
  constexpr uint64_t kSeeds = 20000;
  constexpr double kComparisons = 2 * 2 * 2;
  for (const Sequence& sequence : kSequences) {
    for (const Scramble scramble : kScrambles) {
      std::vector<double> across_dimensions, across_seeds;
      for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        const double u = coordinate(sequence, 2 * seed, scramble, 0, 3) - 0.5;
        across_dimensions.push_back(u * (coordinate(sequence, 2 * seed, scramble, 1, 3) - 0.5));
        across_seeds.push_back(u * (coordinate(sequence, 2 * seed + 1, scramble, 0, 3) - 0.5));
      }
      INFO(sequence.name << ", scramble " << static_cast<int>(scramble));
      const double z = z_threshold(kFailure, kComparisons);
      CHECK(std::abs(mean_z_score(across_dimensions, 0, 1.0 / 144)) < z);
      CHECK(std::abs(mean_z_score(across_seeds, 0, 1.0 / 144)) < z);
    }
  }
}

TEST_CASE("scramble: a point depends on its number alone, not on the range") {
  int64_t wrong = 0;
  for (const Sequence& sequence : kSequences) {
    for (const Scramble scramble : kScrambles) {
      for (const int64_t dimension : {0, 1, 30}) {
        std::vector<double> whole(300);
        sequence.fill(9, scramble, dimension, 40, whole);
        for (size_t i = 0; i < whole.size(); ++i) {
          wrong += coordinate(sequence, 9, scramble, dimension, 40 + i) != whole[i];
          wrong += !(whole[i] > 0 && whole[i] < 1);
        }
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("scramble: the number of a cell and the place in it stay inside (0, 1)") {
  CHECK(point_in_cell(0, 0x1p-54, uint64_t{1} << 51) == 0x1p-54);
  CHECK(point_in_cell((uint64_t{1} << 51) - 1, 1 - 0x1p-53, uint64_t{1} << 51) == 1 - 0x1p-53);
  CHECK(point_in_cell(1, 0.5, 2) == 0.75);
}

}  // namespace scramble_test
