// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "report_text.h"

#include "failure.h"
#include "support/catch.h"

using namespace mercer::cli;

namespace {

std::string report(const std::string& score, const std::string& rest) {
  return "{\"score\":{" + score + "}," + rest + "}";
}

}  // namespace

TEST_CASE("a report says how its score was taken, and what it must beat", "[cli]") {
  const std::string nested = report(
      R"("kind":"nested","measure":"r_squared","rows":200,"value":0.5,"standard_error":0.0625,)"
      R"("constant":-0.25,"linear":0.375)",
      R"("relevance":[],"warnings":["one","two"])");
  CHECK(report_text(nested, {}) ==
        "honest score: R^2 0.50000 +- 0.06250 (200 rows, each by a search that had not seen it)\n"
        "on the same rows: mean -0.25000, linear ridge 0.37500\n"
        "warning: one\nwarning: two\n");
  CHECK(warnings_text(nested) == "warning: one\nwarning: two\n");
  const std::string constant =
      report(R"("kind":"none")", R"("relevance":[],"warnings":["target 2 is 5 in every row"])");
  CHECK(warnings_text(constant, {"u", "v"}) == "warning: target v is 5 in every row\n");
  CHECK(warnings_text(constant) == "warning: target 2 is 5 in every row\n");
  const std::string unseen =
      report(R"("kind":"unseen","measure":"accuracy","rows":50,"value":0.75,"standard_error":null,)"
             R"("constant":0.5,"linear":null)",
             R"("relevance":[],"warnings":[])");
  CHECK(report_text(unseen, {}) ==
        "honest score: accuracy 0.7500 (50 rows that no choice has seen)\n"
        "on the same rows: largest class 0.50000\n");
}

TEST_CASE("no report and no score are short", "[cli]") {
  CHECK(report_text("{}", {}) == "");
  CHECK(report_text(report(R"("kind":"none")", R"("relevance":[],"warnings":["few"])"), {}) ==
        "honest score: none\nwarning: few\n");
}

TEST_CASE("inputs are listed by relevance, those that hardly matter counted", "[cli]") {
  const std::string text =
      report(R"("kind":"none")", R"("relevance":[0.25,1,0.001,0.5],"warnings":[])");
  CHECK(report_text(text, {"a", "b", "c", "d"}) ==
        "honest score: none\nrelevance of inputs: b 1, d 0.5, a 0.25; below 0.01: 1 of 4 "
        "(inverse lengthscales; mercer relevance measures slopes)\n");
  CHECK(report_text(text, {}).find(": x2 1, x4 0.5, x1 0.25;") != std::string::npos);
}

TEST_CASE("what is no report is refused", "[cli]") {
  CHECK_THROWS_AS(report_text("{\"score\":3}", {}), Failure);
  CHECK_THROWS_AS(report_text("no JSON", {}), Failure);
}
