// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian process classification by spec: calibrated probabilities, searches, refusals.
#include <string>

#include "spec/coin.h"
#include "support/refusal.h"

namespace dirichlet_test {
using namespace mercer;
using test::Coin;
using test::probabilities;

TEST_CASE("dirichlet: a search's probabilities are near those that were drawn, and calibrated") {
  Coin rows(600, 3), fresh(4000, 9);
  const model::Model model = rows.fit("dirichlet", R"(,"assess":false,"map":{"features":256})");
  check_probabilities(probabilities(model, fresh.X), fresh, 0.1);
}

TEST_CASE("dirichlet: features that determine the classes far from all rows are warned of") {
  Coin rows(600, 3);
  for (const int64_t features : {8, 512}) {
    const std::string keys = R"(,"assess":false,"lambda":1e-4,"map":{"features":)";
    const model::Model model =
        rows.fit("dirichlet", (keys + std::to_string(features) + '}').c_str());
    const bool warns = std::ranges::any_of(model.report.warnings, [](const std::string& one) {
      return one.starts_with("far from all rows");
    });
    CHECK(warns == (features == 8));
  }
}

TEST_CASE("dirichlet: what is given is kept, what cannot be is refused") {
  Coin rows(80, 5);
  const model::Model model =
      rows.fit("dirichlet", R"(,"search":false,"lambda":0.01,"alpha":0.05,"map":{"features":64})");
  CHECK(model.fit.select.lambda == 0.01);
  CHECK(model.calibration.slope == 1);
  for (const char* keys : {R"(,"alpha":0)", R"(,"alpha":2)", R"(,"lambda":0)"})
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, rows.fit("dirichlet", keys), "expected");
  CHECK_REFUSED(MERCER_UNSUPPORTED, rows.fit("dirichlet", R"(,"map":"exact")"), "expected");
}

}  // namespace dirichlet_test
