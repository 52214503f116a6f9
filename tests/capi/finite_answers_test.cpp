// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Arguments near the ends of the range of double: an answer is a right number, or there is none.
#include "fixture.h"

namespace mercer::test::finite_answers_test {
namespace {

using Numbers = std::vector<double>;

constexpr double kMost = std::numeric_limits<double>::max();

}  // namespace

TEST_CASE("fits of several outputs: targets beyond the range of squares are named") {
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

TEST_CASE("weights of ridge that leave the range of double are refused") {
  const Numbers Z = {1e-153}, Y = {1e150};  // w = Z y/(Z Z'), of which y/(Z Z') = 1e456
  Numbers w(1, 7.0);
  CHECK(refused(mercer::test::dual(rows_of(Z, 1), rows_of(Y, 1), 0, 0, nullptr, result_of(w, 1),
                                   nullptr),
                "w: row 0, column 0") == "");
  CHECK(w == Numbers(1, 7.0));
}

}  // namespace mercer::test::finite_answers_test
