// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "moment/optical_variance.h"

#include <vector>

#include "kernel/inner_product.h"
#include "support/catch.h"
#include "support/reference.h"

namespace mercer::test {

TEST_CASE("variances of optical features equal the reference numbers", "[moment]") {
  REQUIRE(oracle("variances").at("other").size() == 4);
  for (const auto& entry : oracle("variances").at("other")) {
    const std::vector<double> x = entry.at("x"), y = entry.at("y");
    const auto product = [d = std::ssize(x)](const auto& a, const auto& b) {
      return kernel::inner_product(d, a.data(), b.data());
    };
    const double N = product(x, x) * product(y, y), dot = product(x, y);
    CHECK(moment::optical_variance(2, dot, N, 1) ==
          Approx(entry.at("optical_m2").get<double>()).epsilon(1e-12));
    CHECK(moment::optical_variance(4, dot, N, 1) ==
          Approx(entry.at("optical_m4").get<double>()).epsilon(1e-12));
    CHECK(moment::optical_variance(4, dot, N, 8) == moment::optical_variance(4, dot, N, 1) / 8);
  }
}

}  // namespace mercer::test
