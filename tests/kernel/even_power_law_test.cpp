// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The density exp(-w^{2q}): characteristic function and quantiles against direct quadrature in
// extended precision.
#include "kernel/even_power_law.h"

#include "random/scalar_math.h"
#include "support/catch.h"

namespace mercer::test {
namespace {

long double density(long double w, int64_t q) {
  long double power = 1;
  for (int64_t i = 0; i < q; ++i) power *= w * w;
  return std::exp(-power);
}

// Composite Simpson: its error is (b - a) h^4 / 180 times the largest fourth derivative.
template <class F>
long double simpson(long double a, long double b, int panels, F f) {
  const long double h = (b - a) / (2 * panels);
  long double sum = f(a) + f(b);
  for (int i = 1; i < 2 * panels; ++i) sum += (i % 2 == 1 ? 4 : 2) * f(a + i * h);
  return sum * h / 3;
}

long double reach(int64_t q, long double x) {
  return std::pow(x, 0.5L / static_cast<long double>(q));
}

}  // namespace

TEST_CASE("the characteristic function equals direct quadrature", "[kernel]") {
  for (const int64_t q : {2, 3, 5, 16}) {
    const kernel::EvenPowerCharacteristic phi(q);
    const long double end = reach(q, 50);
    const long double mass = simpson(0, end, 4000, [&](long double w) { return density(w, q); });
    // Even at 0 and flat at `end`, so that the rule converges faster than any power once it
    // resolves the cosine.
    double worst = 0;
    double worst_t = 0;
    for (double t = 0; t < 1000; t = t * 1.31 + 0.0613) {
      const auto f = [&](long double w) { return std::cos(w * t) * density(w, q); };
      const auto expected =
          static_cast<double>(simpson(0, end, 4000 + static_cast<int>(20 * t * end), f) / mass);
      const double error = std::fabs(phi(t) - expected);
      if (!(error <= worst)) worst = error, worst_t = t;
      if (t > 60 * static_cast<double>(q)) break;
    }
    INFO("order " << q << ", t = " << worst_t);
    CHECK(worst / 1e-14 <= 1);
    CHECK(phi(0) == Approx(1).margin(1e-15));
    CHECK(phi(-1.7) == phi(1.7));
    CHECK(phi(1e300) == 0);
    CHECK(std::isnan(phi(std::nan(""))));
  }
}

TEST_CASE("quantiles invert the distribution function", "[kernel]") {
  for (const int64_t q : {1, 2, 3, 7, 16}) {
    const kernel::EvenPowerQuantile quantile(q);
    const auto f = [&](long double w) { return density(w, q); };
    const long double mass = 2 * simpson(0, reach(q, 60), 4000, f);
    double worst = 0;
    double worst_u = 0;
    for (const double u :
         {1e-250, 1e-60, 1e-17, 1e-10, 1e-4, 0.02, 0.1, 0.2, 0.3, 0.4, 0.49, 0.4999}) {
      const double r = -quantile(u);
      const long double x =
          std::pow(static_cast<long double>(r), 2.0L * static_cast<long double>(q));
      const long double tail = simpson(r, reach(q, x + 60), 16000, f) / mass;
      const double error =
          static_cast<double>(std::fabs(tail / u - 1)) / (1 + 2 * static_cast<double>(q * x));
      if (!(error <= worst)) worst = error, worst_u = u;
      // 1 - u is exact only for u that are not tiny.
      if (u > 1e-3) CHECK(quantile(1 - u) == Approx(r).epsilon(1e-12));
    }
    INFO("order " << q << ", u = " << worst_u);
    // A relative error e of r changes the tail by at most (1 + 2 q x) e relative to it (for r
    // beyond the median).
    CHECK(worst / 2e-14 <= 1);
    CHECK(quantile(0.5) == 0);
  }
}

TEST_CASE("order 1 is the normal of variance 1/2", "[kernel]") {
  const kernel::EvenPowerQuantile quantile(1);
  for (double u = 1e-3; u < 1; u += 1e-3) {
    CHECK(quantile(u) ==
          Approx(random::normal_quantile(u) * std::sqrt(0.5)).epsilon(1e-13).margin(1e-15));
  }
}

}  // namespace mercer::test
