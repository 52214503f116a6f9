// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Low-discrepancy points of Sobol and Halton.
#include "random/points.h"

#include <bitset>

#include "random/cells.h"
#include "random/stream.h"
#include "support/refusal.h"

namespace points_test {
using namespace mercer;
using namespace mercer::random;
using namespace mercer::test;

/// The order of x modulo a polynomial over GF(2) of degree s, by trial.
uint32_t order_of_x(uint32_t polynomial, int s) {
  uint32_t power = 1, order = 0;
  do {
    power <<= 1;
    if (power >> s & 1) power ^= polynomial;
    ++order;
  } while (power != 1 && order < uint32_t{1} << s);
  return order;
}

using Row = std::bitset<kSobolDimensions>;

/// First bits of the direction numbers v_1, v_2, ... of a dimension. Their recurrence is that of
/// v_k without its shifted term, which has no first bit.
Row first_bits(int64_t dimension) {
  const SobolNumbers numbers = joe_kuo(dimension);
  const size_t s = numbers.initial.size();
  Row bits;
  for (size_t k = 0; k < bits.size(); ++k) {
    if (s == 0) bits[k] = k == 0;
    if (k < s) bits[k] = numbers.initial[k] >> k & 1;
    if (s == 0 || k < s) continue;
    bool bit = bits[k - s];
    for (size_t i = 1; i < s; ++i) bit ^= (numbers.polynomial >> (s - i) & 1) && bits[k - i];
    bits[k] = bit;
  }
  return bits;
}

/// The first leading minor (counted from 1) of the matrix of first bits that vanishes over GF(2);
/// 0 if none does. Elimination without pivoting meets its zero there.
size_t first_singular_minor() {
  std::vector<Row> rows;
  for (size_t j = 0; j < kSobolDimensions; ++j) {
    Row row = first_bits(static_cast<int64_t>(j));
    for (size_t k = 0; k < j; ++k) {
      if (row[k]) row ^= rows[k];
    }
    if (!row[j]) return j + 1;
    rows.push_back(row);
  }
  return 0;
}

std::vector<uint64_t> cells(Scramble scramble, int64_t dimension, uint64_t first, size_t count,
                            uint64_t cells_in_all) {
  std::vector<double> u(count);
  SobolPoints(dimension + 1, 77, scramble).fill(dimension, first, u);
  return cells_of(u, cells_in_all);
}

TEST_CASE("sobol: the first points of three dimensions, by hand") {
  // Dimension 0 mirrors binary digits. Dimension 1, x + 1 and m_1 = 1: m_k = 2 m_{k-1} ^ m_{k-1},
  // so v = 1/2, 3/4, 5/8. Dimension 2, x^2 + x + 1 and m = 1, 3: m_3 = 2 m_2 ^ 4 m_1 ^ m_1 = 3,
  // v = 1/2, 3/4, 3/8. Point j is the exclusive or of the v_k of its bits.
  constexpr uint64_t kEighths[3][8] = {
      {0, 4, 2, 6, 1, 5, 3, 7}, {0, 4, 6, 2, 5, 1, 3, 7}, {0, 4, 6, 2, 3, 7, 5, 1}};
  int wrong = 0;
  for (int64_t k = 0; k < 3; ++k) {
    const SobolDimension sequence(k);
    for (uint64_t j = 0; j < 8; ++j) {
      wrong += sequence.digits(j) != kEighths[k][j] << (kSobolBits - 3);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("sobol: polynomials are primitive and distinct, initial numbers odd and small") {
  std::set<uint32_t> seen;
  int64_t wrong = 0;
  for (int64_t j = 1; j < kSobolDimensions; ++j) {
    const SobolNumbers numbers = joe_kuo(j);
    const int s = std::bit_width(numbers.polynomial) - 1;
    wrong += numbers.initial.size() != static_cast<size_t>(s);
    wrong += order_of_x(numbers.polynomial, s) != (uint32_t{1} << s) - 1;
    for (size_t i = 0; i < numbers.initial.size(); ++i) {
      wrong += numbers.initial[i] % 2 == 0 || numbers.initial[i] >> (i + 1) != 0;
    }
    seen.insert(numbers.polynomial);
  }
  CHECK(wrong == 0);
  CHECK(seen.size() == kSobolDimensions - 1);
}

TEST_CASE("sobol: the table is the published one") {
  // FNV-1a over 64-bit words, of the copy of new-joe-kuo-6 that SciPy 1.10.1 carries: for each
  // dimension from 1 on, the polynomial with its outer coefficients, then the initial numbers.
  uint64_t hash = 14695981039346656037u;
  const auto add = [&hash](uint64_t word) { hash = (hash ^ word) * 1099511628211u; };
  for (int64_t j = 1; j < kSobolDimensions; ++j) {
    const SobolNumbers numbers = joe_kuo(j);
    add(numbers.polynomial);
    for (const uint16_t m : numbers.initial) add(m);
  }
  CHECK(hash == 0xfecd0483edd539a4);
}

TEST_CASE("sobol: Sobol's property A holds in every dimension") {
  // Among the first 2^d points there is one in each of the 2^d halves-boxes iff the d x d matrix of
  // first bits is regular over GF(2) (Sobol' 1976); Joe and Kuo's numbers have it up to 1,111.
  CHECK(first_singular_minor() == 0);
}

TEST_CASE("sobol: 2^m consecutive points fill 2^m intervals of every dimension") {
  test::check_cells([](Scramble scramble) {
    size_t wrong = 0;
    for (const int64_t dimension : {0, 1, 2, 3, 17, 300, 1023}) {
      for (int m = 0; m <= 10; ++m) {
        const uint64_t count = uint64_t{1} << m;
        for (const uint64_t run : {uint64_t{0}, uint64_t{1}, uint64_t{6}, uint64_t{1} << 17}) {
          wrong += wrong_cells(cells(scramble, dimension, run * count, count, count));
        }
      }
    }
    return wrong;
  });
}

TEST_CASE("sobol: the first two dimensions are a (0,2)-sequence in base 2") {
  test::check_cells([](Scramble scramble) {
    size_t wrong = 0;
    for (int m = 0; m <= 9; ++m) {
      const uint64_t count = uint64_t{1} << m;
      for (int a = 0; a <= m; ++a) {
        for (const uint64_t first : {uint64_t{0}, 5 * count}) {
          std::vector<uint64_t> boxes = cells(scramble, 0, first, count, uint64_t{1} << a);
          const auto other = cells(scramble, 1, first, count, uint64_t{1} << (m - a));
          for (size_t i = 0; i < boxes.size(); ++i) boxes[i] = boxes[i] << (m - a) | other[i];
          wrong += wrong_cells(boxes);
        }
      }
    }
    return wrong;
  });
}

TEST_CASE("sobol: scrambling is nested: it keeps how many digits two points share") {
  constexpr size_t kPoints = 256;
  const SobolDimension sequence(5);
  const auto bits = cells(Scramble::owen, 5, 0, kPoints, uint64_t{1} << kSobolBits);
  const auto shifted = cells(Scramble::digital_shift, 5, 0, kPoints, uint64_t{1} << kSobolBits);
  int64_t wrong = 0, changed = 0;
  for (size_t i = 0; i < kPoints; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const uint64_t plain = sequence.digits(i) ^ sequence.digits(j);
      wrong += std::bit_width(bits[i] ^ bits[j]) != std::bit_width(plain);
      wrong += (shifted[i] ^ shifted[j]) != plain;
      changed += (bits[i] ^ bits[j]) != plain;
    }
  }
  CHECK(wrong == 0);
  CHECK(changed == kPoints * (kPoints - 1) / 2);  // else all later bits agree
}

TEST_CASE("sobol: too many dimensions are refused") {
  CHECK_NOTHROW(SobolPoints(kSobolDimensions, 0, Scramble::owen));
  CHECK_REFUSED(MERCER_UNSUPPORTED, SobolPoints(kSobolDimensions + 1, 0, Scramble::owen),
                "inputs = 1025", "at most 1024", "Sobol'");
}

constexpr uint32_t kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};

/// The interval of length 1 / count that each point lies in. Sums of products 1e-16 below an
/// interval's end would be miscounted: none of the fixed seed's is.
std::vector<uint64_t> halton_cells(Scramble scramble, int64_t dimension, uint64_t first,
                                   uint64_t points, uint64_t count) {
  std::vector<double> u(points);
  HaltonPoints(dimension + 1, 5, scramble).fill(dimension, first, u);
  return cells_of(u, count);
}

uint64_t power(uint64_t base, int exponent) {
  uint64_t result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

TEST_CASE("halton: p^m consecutive points fill p^m intervals in base p") {
  test::check_cells([](Scramble scramble) {
    size_t wrong = 0;
    for (size_t k = 0; k < std::size(kPrimes); ++k) {
      for (int m = 0; power(kPrimes[k], m) <= 2000; ++m) {
        const uint64_t count = power(kPrimes[k], m);
        for (const uint64_t run : {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{1} << 17}) {
          wrong += wrong_cells(
              halton_cells(scramble, static_cast<int64_t>(k), run * count, count, count));
        }
      }
    }
    return wrong;
  });
}

TEST_CASE("halton: 2^a 3^b consecutive points fill the boxes 2^-a x 3^-b") {
  test::check_cells([](Scramble scramble) {
    size_t wrong = 0;
    for (int a = 0; a <= 5; ++a) {
      for (int b = 0; b <= 4; ++b) {
        const uint64_t two = power(2, a), three = power(3, b), count = two * three;
        std::vector<uint64_t> boxes = halton_cells(scramble, 0, 1000, count, two);
        const auto other = halton_cells(scramble, 1, 1000, count, three);
        for (size_t i = 0; i < boxes.size(); ++i) boxes[i] = boxes[i] * three + other[i];
        wrong += wrong_cells(boxes);
      }
    }
    return wrong;
  });
}

TEST_CASE("halton: the last base is 65,521, more dimensions are refused") {
  const HaltonPoints points(kHaltonDimensions, 5, Scramble::owen);
  std::vector<double> u(65521);
  points.fill(kHaltonDimensions - 1, 0, u);
  std::vector<uint64_t> numbers;
  for (const double x : u) numbers.push_back(static_cast<uint64_t>(x * 65521));
  CHECK(wrong_cells(numbers) == 0);
  CHECK_REFUSED(MERCER_UNSUPPORTED, HaltonPoints(kHaltonDimensions + 1, 0, Scramble::owen),
                "inputs = 6543", "at most 6542", "Halton");
}

}  // namespace points_test
