// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Arguments near the ends of the range of double: an answer is a right number, or there is none.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fixture.h"
#include "mercer/operator.h"
#include "mercer/ridge.h"
#include "support/catch.h"

namespace mercer::test {
namespace {

using Numbers = std::vector<double>;

constexpr double kMost = std::numeric_limits<double>::max();

}  // namespace

TEST_CASE("structures of outputs: right or refused where numbers are near the ends of double",
          "[capi]") {
  Numbers gamma(4, 7.0);
  const auto structure = [&](int32_t kind, const Numbers& data, double scale) {
    return mercer_output_structure(kind, rows_of(data, 2), scale, nullptr, result_of(gamma, 2));
  };
  CHECK(refused(structure(MERCER_STRUCTURE_COVARIANCE, {1e300, 0, -1e300, 1}, 0),
                "out: row 0, column 0") == "");
  CHECK(gamma == Numbers(4, 7.0));
  for (const double weight : {1e308, 1.0, 1e-300}) {
    REQUIRE(structure(MERCER_STRUCTURE_LAPLACIAN, {0, weight, weight, 0}, 0) == MERCER_OK);
    CHECK(gamma[0] * weight == Approx(0.25));
    CHECK(gamma[1] * weight == Approx(-0.25));
  }
  CHECK(refused(structure(MERCER_STRUCTURE_LAPLACIAN, {0, 1e-310, 1e-310, 0}, 0), "out: row 0") ==
        "");
  REQUIRE(structure(MERCER_STRUCTURE_SIMILARITY, {1e160, 0, 0, 0}, 1e-320) == MERCER_OK);
  CHECK(gamma[1] == Approx(std::exp(-1.0)).epsilon(1e-3));  // 1e-320 has three digits
}

TEST_CASE("fits of several outputs: targets beyond the range of squares are named", "[capi]") {
  const Numbers X = numbers(10, 2);
  Numbers Y = numbers(10, 2);
  Y[0] = kMost;
  for (const char* outputs : {R"("covariance")", R"("independent")"}) {
    Slot<mercer_model> slot;
    const std::string spec = R"({"search":false,"outputs":)" + std::string(outputs) + "}";
    CHECK(slot.refused(mercer_model_fit(spec.c_str(), data_of(rows_of(X, 2), rows_of(Y, 2)),
                                        nullptr, slot.out()),
                       "row 0") == "");
  }
}

TEST_CASE("weights of ridge that leave the range of double are refused", "[capi]") {
  const Numbers Z = {1e-153}, Y = {1e150};  // w = Z y/(Z Z'), of which y/(Z Z') = 1e456
  Numbers w(1, 7.0);
  CHECK(refused(mercer::test::dual(rows_of(Z, 1), rows_of(Y, 1), 0, 0, nullptr, result_of(w, 1),
                                   nullptr),
                "w: row 0, column 0") == "");
  CHECK(w == Numbers(1, 7.0));
}

}  // namespace mercer::test
