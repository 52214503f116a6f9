// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "moment/activation_variance.h"

#include <cmath>
#include <vector>

#include "kernel/arc_cosine.h"
#include "random/distributions.h"
#include "support/catch.h"
#include "support/reference.h"
#include "support/statistic.h"

namespace mercer::test {

TEST_CASE("the variance of signs equals the reference numbers", "[moment]") {
  REQUIRE(oracle("variances").at("other").size() == 4);
  for (const auto& entry : oracle("variances").at("other")) {
    const std::vector<double> x = entry.at("x"), y = entry.at("y");
    const kernel::Angle angle = kernel::angle_between(std::ssize(x), x.data(), y.data());
    CHECK(moment::sign_variance(angle, 1) == Approx(entry.at("sign").get<double>()).epsilon(1e-12));
    CHECK(moment::sign_variance(angle, 8) == moment::sign_variance(angle, 1) / 8);
  }
}

// u and v = cos(theta) u + sin(theta) g, normal; one column's share 2 u_+^n v_+^n.
TEST_CASE("variances of powers of the positive part are those of simulated neurons", "[moment]") {
  constexpr size_t kDraws = 100000;
  const double z = z_threshold(kFailure, 3 * 3 * 2);
  uint64_t number = 0;
  for (const double theta : {0.2, 1.1, 2.0}) {
    for (const int64_t n : {0, 1, 2}) {
      INFO("order " << n << ", angle " << theta);
      const kernel::Angle angle{0.8, 1.1, theta, std::acos(-1.0) - theta};
      std::vector<double> normals(2 * kDraws), share, deviation;
      random::fill_normal(random::Stream(3, random::Tag::generated, ++number), 0, normals);
      const double mean = kernel::arc_cosine_moment(static_cast<int>(n), angle);
      for (size_t i = 0; i < kDraws; ++i) {
        const double u = angle.x * normals[2 * i];
        const double v =
            angle.y * (std::cos(theta) * normals[2 * i] + std::sin(theta) * normals[2 * i + 1]);
        const auto order = static_cast<double>(n);
        share.push_back(u > 0 && v > 0 ? 2 * std::pow(u, order) * std::pow(v, order) : 0);
        deviation.push_back((share.back() - mean) * (share.back() - mean));
      }
      CHECK(std::fabs(studentised_z_score(share, mean)) <= z);
      // Powers up to the eighth have long tails: their mean's score is normal from 1e5 on to order
      // 1.
      if (n < 2)
        CHECK(std::fabs(studentised_z_score(deviation, moment::arc_cosine_variance(n, angle, 1))) <=
              z);
      CHECK(moment::arc_cosine_variance(n, angle, 8) ==
            moment::arc_cosine_variance(n, angle, 1) / 8);
    }
  }
}

}  // namespace mercer::test
