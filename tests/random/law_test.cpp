// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The normal law and that of random signs: what they are made of, and which shapes they offer.
#include "random/law.h"

#include <cmath>

#include "samplers.h"
#include "support/catch.h"
#include "support/statistic.h"

using namespace mercer::random;
using namespace mercer::test;

TEST_CASE("law: draws are the streams' variates", "[random]") {
  std::vector<double> omega(70), expected(70);
  normal_law()->draw(test_stream(1), omega);
  fill_normal(test_stream(1), 0, expected);
  CHECK(omega == expected);
  sign_law()->draw(test_stream(1), omega);
  fill_rademacher(test_stream(1), 0, expected);
  CHECK(omega == expected);
}

TEST_CASE("law: normal radii are chi, fixed ones their root mean square", "[random]") {
  const auto law = normal_law();
  REQUIRE(law->isotropic());
  // Two degrees: P(radius <= r) = 1 - exp(-r^2 / 2).
  std::vector<double> radii(20000);
  for (size_t i = 0; i < radii.size(); ++i) radii[i] = law->radius(test_stream(i), 2);
  CHECK(ks_distance(radii, [](double r) { return -std::expm1(-0.5 * r * r); }) <
        ks_threshold(radii.size()));
  CHECK(law->fixed_radius(49) == 7.0);
  CHECK(law->scale_quantile(0.1) == 1.0);
}

TEST_CASE("law: quantiles of one coordinate", "[random]") {
  REQUIRE(normal_law()->is_product());
  REQUIRE(sign_law()->is_product());
  CHECK(std::erfc(-normal_law()->quantile(0.2) / std::sqrt(2.0)) == Approx(0.4).epsilon(1e-14));
  CHECK(sign_law()->quantile(0.49) == -1.0);
  CHECK(sign_law()->quantile(0.51) == 1.0);
}

TEST_CASE("law: signs have no direction and no radius", "[random]") {
  CHECK(!sign_law()->isotropic());
  CHECK(std::isnan(sign_law()->radius(test_stream(0), 3)));
  CHECK(std::isnan(sign_law()->fixed_radius(3)));
  CHECK(std::isnan(sign_law()->scale_quantile(0.5)));
}
