// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Poisson quantiles invert the distribution function, at any mean and to the last double.
#include "hash.h"
#include "samplers.h"
#include "support/catch.h"

using namespace mercer::random;
using namespace mercer::test;

namespace {

double below(double k, double mean) {
  double sum = 0;
  for (double i = 0; i <= k; ++i) sum += std::exp(i * std::log(mean) - mean - std::lgamma(i + 1));
  return sum;
}

}  // namespace

TEST_CASE("poisson: the quantile is the least integer that reaches u", "[random]") {
  for (const double mean : {1e-4, 0.3, 1.0, 2.5, 17.0, 100.0, 700.0}) {
    for (double u = 0.0005; u < 1; u += 0.00999) {
      const double k = poisson_quantile(u, mean);
      INFO("mean " << mean << ", u " << u);
      CHECK(k == std::floor(k));
      CHECK(below(k, mean) >= u - 1e-10);
      CHECK((k == 0 || below(k - 1, mean) < u + 1e-10));
    }
  }
}

TEST_CASE("poisson: the ends of the unit interval", "[random]") {
  CHECK(poisson_quantile(0x1p-54, 1.0) == 0);
  CHECK(poisson_quantile(std::exp(-1.0) * 1.0000001, 1.0) == 1);
  const double last = poisson_quantile(1 - 0x1p-53, 1.0);
  CHECK(last >= 15);
  CHECK(last <= 20);
  CHECK(poisson_quantile(1 - 0x1p-53, 700.0) < 1000);
}

TEST_CASE("poisson: the same bytes everywhere", "[random]") {
  std::vector<double> u(4096);
  fill_uniform(test_stream(31), 0, u);
  for (size_t i = 0; i < u.size(); ++i)
    u[i] = poisson_quantile(u[i], 0.01 * static_cast<double>(i + 1));
  CHECK(fnv1a(u) == 0x52e45e83f7bf1132u);
}
