// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Halton points: prime bases, one point per interval and box after scrambling.
#include "random/halton.h"

#include "random/cells.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::random;
using namespace mercer::test;

namespace {

constexpr uint32_t kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};

/// The interval of length 1 / count that each point lies in. Sums of products 1e-16 below an
/// interval's end would be miscounted: none of the fixed seed's is.
std::vector<uint64_t> cells(Scramble scramble, int64_t dimension, uint64_t first, uint64_t points,
                            uint64_t count) {
  std::vector<double> u(points);
  HaltonPoints(dimension + 1, 5, scramble).fill(dimension, first, u);
  return cells_of(u, count);
}

uint64_t power(uint64_t base, int exponent) {
  uint64_t result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

}  // namespace

TEST_CASE("halton: p^m consecutive points fill p^m intervals in base p", "[random]") {
  test::check_cells([](Scramble scramble) {
    size_t wrong = 0;
    for (size_t k = 0; k < std::size(kPrimes); ++k) {
      for (int m = 0; power(kPrimes[k], m) <= 2000; ++m) {
        const uint64_t count = power(kPrimes[k], m);
        for (const uint64_t run : {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{1} << 17}) {
          wrong += wrong_cells(cells(scramble, static_cast<int64_t>(k), run * count, count, count));
        }
      }
    }
    return wrong;
  });
}

TEST_CASE("halton: 2^a 3^b consecutive points fill the boxes 2^-a x 3^-b", "[random]") {
  test::check_cells([](Scramble scramble) {
    size_t wrong = 0;
    for (int a = 0; a <= 5; ++a) {
      for (int b = 0; b <= 4; ++b) {
        const uint64_t two = power(2, a), three = power(3, b), count = two * three;
        std::vector<uint64_t> boxes = cells(scramble, 0, 1000, count, two);
        const auto other = cells(scramble, 1, 1000, count, three);
        for (size_t i = 0; i < boxes.size(); ++i) boxes[i] = boxes[i] * three + other[i];
        wrong += wrong_cells(boxes);
      }
    }
    return wrong;
  });
}

TEST_CASE("halton: the last base is 65,521, more dimensions are refused", "[random]") {
  const HaltonPoints points(kHaltonDimensions, 5, Scramble::owen);
  std::vector<double> u(65521);
  points.fill(kHaltonDimensions - 1, 0, u);
  std::vector<uint64_t> numbers;
  for (const double x : u) numbers.push_back(static_cast<uint64_t>(x * 65521));
  CHECK(wrong_cells(numbers) == 0);
  CHECK_REFUSED(MERCER_UNSUPPORTED, HaltonPoints(kHaltonDimensions + 1, 0, Scramble::owen),
                "inputs = 6543", "at most 6542", "Halton");
}
