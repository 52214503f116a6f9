// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The portable elementary functions against long double libm, whose own error (below 2^-62
// relative) is no part of the bounds' last digit. Bounds are those of the header; where it gives
// none they are derived here.
#include "random/scalar_math.h"

#include "random/distributions.h"
#include "support/catch.h"

namespace scalar_math_test {
using namespace mercer::random;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kDraws = 400000;

/// Distance to the reference in units of the reference's last place (of the smallest normal
/// number's below that).
double error_in_ulp(double got, long double reference) {
  const double rounded = std::abs(static_cast<double>(reference));
  const int exponent = std::max(rounded == 0.0 ? -1022 : std::ilogb(rounded), -1022);
  return static_cast<double>(std::abs(got - reference) / std::ldexp(1.0L, exponent - 52));
}

struct Worst {
  double at = 0.0;
  double error = 0.0;
  void see(double x, double e) {
    if (!(e <= error)) at = x, error = e;
  }
};

/// A double of random sign-free bits: every exponent, subnormals included, equally often.
double any_positive(Cursor& cursor) {
  const Words w = cursor.next();
  const uint64_t bits = (static_cast<uint64_t>(w[1]) << 32 | w[0]) >> 1;
  return std::bit_cast<double>(bits % 0x7ff0000000000000u);
}

double between(Cursor& cursor, double low, double high) {
  return low + (high - low) * uniform(cursor.next());
}

Cursor test_cursor(uint64_t index) { return Cursor(Stream(1, Tag::generated, index)); }

TEST_CASE("portable_log: below 1 ulp over all positive doubles and around 1") {
  Cursor cursor = test_cursor(0);
  Worst worst;
  for (int i = 0; i < kDraws; ++i) {
    const double near_one = 1.0 + between(cursor, -0.5, 0.5) * std::ldexp(1.0, -(i % 52));
    for (const double x : {any_positive(cursor), near_one, uniform(cursor.next())}) {
      if (x > 0.0)
        worst.see(x, error_in_ulp(portable_log(x), std::log(static_cast<long double>(x))));
    }
  }
  INFO("at " << worst.at);
  CHECK(worst.error < 1.0);
  CHECK(portable_log(1.0) == 0.0);
  CHECK(portable_log(0.0) == -kInfinity);
  CHECK(portable_log(kInfinity) == kInfinity);
  CHECK(std::isnan(portable_log(-1.0)));
  CHECK(std::isnan(portable_log(std::nan(""))));
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(error_in_ulp(portable_log(least), std::log(static_cast<long double>(least))) < 1.0);
}

TEST_CASE("portable_exp: below 2 ulp from underflow to overflow") {
  Cursor cursor = test_cursor(1);
  Worst worst;
  for (int i = 0; i < kDraws; ++i) {
    for (const double x : {between(cursor, -745.1, 709.78),
                           between(cursor, -1.0, 1.0) * std::ldexp(1.0, -(i % 60))}) {
      worst.see(x, error_in_ulp(portable_exp(x), std::exp(static_cast<long double>(x))));
    }
  }
  INFO("at " << worst.at);
  CHECK(worst.error < 2.0);
  CHECK(portable_exp(0.0) == 1.0);
  CHECK(portable_exp(-745.3) == 0.0);
  CHECK(portable_exp(-kInfinity) == 0.0);
  CHECK(portable_exp(709.79) == kInfinity);
  CHECK(portable_exp(kInfinity) == kInfinity);
  CHECK(std::isnan(portable_exp(std::nan(""))));
  CHECK(std::isfinite(portable_exp(709.78)));
}

TEST_CASE("portable_sincos_turns: absolute error below 2^-52 at every magnitude") {
  Cursor cursor = test_cursor(2);
  constexpr long double kTwoPi = 6.283185307179586476925286766559L;
  Worst worst;
  for (int i = 0; i < kDraws; ++i) {
    const double u = between(cursor, -1.0, 1.0) * std::ldexp(1.0, i % 120 - 60);
    const long double t = static_cast<long double>(u) - std::nearbyint(static_cast<long double>(u));
    const SinCos got = portable_sincos_turns(u);
    worst.see(u, static_cast<double>(std::abs(got.sin - std::sin(kTwoPi * t))));
    worst.see(u, static_cast<double>(std::abs(got.cos - std::cos(kTwoPi * t))));
  }
  INFO("at " << worst.at);
  CHECK(worst.error < 0x1p-52);
}

TEST_CASE("portable_sincos_turns: exact at quarter turns, NaN beyond the numbers") {
  const double sines[] = {0, 1, 0, -1}, cosines[] = {1, 0, -1, 0};
  for (int q = -9; q <= 9; ++q) {
    const SinCos got = portable_sincos_turns(0.25 * q);
    INFO(q);
    CHECK(got.sin == sines[q & 3]);
    CHECK(got.cos == cosines[q & 3]);
  }
  CHECK(portable_sincos_turns(0x1.fffffffffffffp51).cos == -1.0);  // 2^52 - 1/2
  for (const double whole : {0x1p52, -0x1p53, 0x1.23456p900}) {
    CHECK(portable_sincos_turns(whole).sin == 0.0);
    CHECK(portable_sincos_turns(whole).cos == 1.0);
  }
  for (const double bad : {kInfinity, -kInfinity, std::nan("")}) {
    CHECK(std::isnan(portable_sincos_turns(bad).sin));
    CHECK(std::isnan(portable_sincos_turns(bad).cos));
  }
}

TEST_CASE("portable_tan_half_turns: relative error below 2^-50") {
  Cursor cursor = test_cursor(3);
  constexpr long double kPi = 3.141592653589793238462643383280L;
  Worst worst;
  for (int i = 0; i < kDraws; ++i) {
    const double tiny = std::ldexp(uniform(cursor.next()), -(i % 52) - 1);
    for (const double u : {tiny, 0.5 - tiny, tiny - 0.5}) {
      if (std::abs(u) >= 0.5) continue;
      // Near +-1/2 the tangent is that of the exact complement, inverted.
      const long double v = u;
      const long double exact = std::abs(u) < 0.25 ? std::tan(kPi * v)
                                : u > 0            ? 1 / std::tan(kPi * (0.5L - v))
                                                   : -1 / std::tan(kPi * (0.5L + v));
      worst.see(u, static_cast<double>(std::abs(portable_tan_half_turns(u) / exact - 1)));
    }
  }
  INFO("at " << worst.at);
  CHECK(worst.error < 0x1p-50);
  CHECK(portable_tan_half_turns(0.0) == 0.0);
  CHECK(portable_tan_half_turns(0.25) == Approx(1.0).epsilon(0x1p-50));
}

TEST_CASE("portable_pow: below 4 ulp times (1 + |y log x|)") {
  Cursor cursor = test_cursor(4);
  Worst worst;
  for (int i = 0; i < kDraws; ++i) {
    const double x = i % 2 == 0 ? uniform(cursor.next()) : between(cursor, 0.0, 1e6);
    const double y = between(cursor, -20.0, 20.0);
    const long double log_power = y * std::log(static_cast<long double>(x));
    const double error = error_in_ulp(portable_pow(x, y), std::pow(static_cast<long double>(x), y));
    worst.see(x, error / static_cast<double>(1 + std::abs(log_power)));
  }
  INFO("at " << worst.at);
  CHECK(worst.error < 4.0);
}

TEST_CASE("normal_quantile: relative error below 2e-15") {
  Cursor cursor = test_cursor(5);
  Worst worst;
  for (int i = 0; i < kDraws; ++i) {
    const double tail = std::ldexp(uniform(cursor.next()), -(i % 1000));
    for (const double p : {uniform(cursor.next()), tail, 0.5 + std::ldexp(1.0, -2 - i % 50)}) {
      const long double z = normal_quantile(p);
      if (z == 0) continue;
      // One Newton step on the distribution function from a point this close is exact to long
      // double; the upper half by the exact complement.
      const long double q = p < 0.5 ? p : 1.0L - p;
      const long double at = -std::abs(z);
      const long double value = 0.5L * std::erfc(-at / std::sqrt(2.0L));
      const long double density =
          std::exp(-0.5L * at * at) / std::sqrt(2.0L * 3.14159265358979323846L);
      const long double step = (value - q) / density;
      worst.see(p, static_cast<double>(std::abs(step / z)));
    }
  }
  INFO("at " << worst.at);
  // Wichura states 1e-16 for the approximation; the 30 roundings of two polynomials of seven
  // steps and a quotient add at most 2^-53 each and about 2^-53 sqrt(30) = 6e-16 together: three
  // times that.
  CHECK(worst.error < 2e-15);
  CHECK(normal_quantile(0.5) == 0.0);
  CHECK(normal_quantile(0.25) == -normal_quantile(0.75));
}

}  // namespace scalar_math_test
