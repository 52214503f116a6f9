// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "moment/positive_variance.h"

#include <cmath>
#include <vector>

#include "random/distributions.h"
#include "support/catch.h"
#include "support/reference.h"
#include "support/statistic.h"

namespace mercer::test {
namespace {

moment::ExponentialPair pair_of(const std::vector<double>& x, const std::vector<double>& y) {
  moment::ExponentialPair pair{0, 0, 0};
  for (size_t k = 0; k < x.size(); ++k) {
    pair.log_k += x[k] * y[k];
    pair.sum += (x[k] + y[k]) * (x[k] + y[k]);
    pair.difference += (x[k] - y[k]) * (x[k] - y[k]);
  }
  return pair;
}

}  // namespace

TEST_CASE("variances of positive features equal the reference numbers", "[moment]") {
  REQUIRE(oracle("variances").at("other").size() == 4);
  for (const auto& entry : oracle("variances").at("other")) {
    const moment::ExponentialPair pair = pair_of(entry.at("x"), entry.at("y"));
    CHECK(moment::positive_variance(pair, 1) ==
          Approx(entry.at("positive_softmax").get<double>()).epsilon(1e-12));
    CHECK(moment::hyperbolic_variance(pair, 1) ==
          Approx(entry.at("hyperbolic_softmax_times_D").get<double>()).epsilon(1e-12));
  }
}

// One draw of w: the estimates are k exp(a - r/2) with a = w'(x + y), k cosh(a) exp(-r/2), and k
// cos(b) exp(rho/2) with b = w'(x - y).
TEST_CASE("variances of positive features are those of simulated ones", "[moment]") {
  constexpr size_t kDraws = 100000;
  const std::vector<double> x = {0.2, -0.1, 0.3}, y = {0.1, 0.25, 0.2};
  moment::ExponentialPair pair = pair_of(x, y);
  pair.log_k -= 0.4;  // radial factors and an amplitude
  const double k = std::exp(pair.log_k);
  std::vector<double> w(3 * kDraws), one, two, sister;
  random::fill_normal(random::Stream(11, random::Tag::generated, 0), 0, w);
  for (size_t i = 0; i < kDraws; ++i) {
    double a = 0, b = 0;
    for (size_t j = 0; j < 3; ++j) {
      a += w[3 * i + j] * (x[j] + y[j]);
      b += w[3 * i + j] * (x[j] - y[j]);
    }
    const auto squared = [k](double estimate) { return (estimate - k) * (estimate - k); };
    one.push_back(squared(k * std::exp(a - pair.sum / 2)));
    two.push_back(squared(k * std::cosh(a) * std::exp(-pair.sum / 2)));
    sister.push_back(squared(k * std::cos(b) * std::exp(pair.difference / 2)));
  }
  const double z = z_threshold(kFailure, 3);
  CHECK(std::fabs(studentised_z_score(one, moment::positive_variance(pair, 1))) <= z);
  CHECK(std::fabs(studentised_z_score(two, moment::hyperbolic_variance(pair, 2))) <= z);
  CHECK(std::fabs(studentised_z_score(sister, moment::trigonometric_variance(pair, 2))) <= z);
}

// k^2 alone is 0 in doubles, and exp(sum) overflows: their product does neither.
TEST_CASE("variances of positive features: far rows, and rows that cancel", "[moment]") {
  const moment::ExponentialPair far{-400, 800.5, 800};
  CHECK(moment::positive_variance(far, 1) == Approx(std::exp(0.5)).epsilon(1e-12));
  CHECK(moment::hyperbolic_variance(far, 1) == Approx(std::exp(0.5)).epsilon(1e-12));
  CHECK(moment::trigonometric_variance(far, 1) == Approx(1).epsilon(1e-12));
  CHECK(moment::positive_variance({-3, 0, 4}, 5) == 0);
  CHECK(moment::hyperbolic_variance({-3, 0, 4}, 5) == 0);
  CHECK(moment::trigonometric_variance({3, 4, 0}, 5) == 0);
}

}  // namespace mercer::test
