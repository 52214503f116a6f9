// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "failure.h"
#include "report/document.h"
#include "support/catch.h"

namespace report_text_test {
using namespace mercer::cli;

/// All lines of a report.
std::string text_of(const std::string& report, const ReportNames& names = {}) {
  const ReportText text = report_text(parse_json(report), names);
  return text.score + text.shortness + text.warnings;
}

std::string warnings_of(const std::string& report, const ReportNames& names = {}) {
  return report_text(parse_json(report), names).warnings;
}

std::string report(const std::string& score, const std::string& rest) {
  return "{\"score\":{" + score + "}," + rest + "}";
}

TEST_CASE("a report says how its score was taken, and what it must beat", "[cli]") {
  const std::string nested = report(
      R"("kind":"nested","measure":"r_squared","rows":200,"value":0.5,"standard_error":0.0625,)"
      R"("constant":-0.25,"linear":0.375)",
      R"("relevance":[],"warnings":["one","two"])");
  CHECK(text_of(nested) ==
        "honest score: R^2 0.50000 +- 0.06250 (200 rows, each by a search that had not seen it)\n"
        "on the same rows: mean -0.25000, linear ridge 0.37500\n"
        "warning: one\nwarning: two\n");
  CHECK(warnings_of(nested) == "warning: one\nwarning: two\n");
  const std::string constant =
      report(R"("kind":"none")", R"("relevance":[],"warnings":["target 1 is 5 in every row"])");
  CHECK(warnings_of(constant, {.targets = {"u", "v"}}) == "warning: target v is 5 in every row\n");
  const std::string columns = report(
      R"("kind":"none")",
      R"("relevance":[],"warnings":["input 2 equals input 11","input 0 predicts target 1"])");
  CHECK(warnings_of(columns, {.inputs = {"a", "b", "c"}, .targets = {"u", "v"}}) ==
        "warning: input c equals input 12\nwarning: input a predicts target v\n");
  CHECK(warnings_of(constant) == "warning: target 2 is 5 in every row\n");
  const std::string unseen =
      report(R"("kind":"unseen","measure":"accuracy","rows":50,"value":0.75,"standard_error":null,)"
             R"("constant":0.5,"linear":null)",
             R"("relevance":[],"warnings":[])");
  CHECK(text_of(unseen) ==
        "honest score: accuracy 0.7500 (50 rows that no choice has seen)\n"
        "on the same rows: largest class of the rows fitted 0.50000\n");
}

TEST_CASE("no report and no score are short", "[cli]") {
  CHECK(text_of("{}") == "");
  CHECK(text_of(report(R"("kind":"none")", R"("relevance":[],"warnings":["few"])")) ==
        "honest score: none\nwarning: few\n");
}

TEST_CASE("inputs are listed by lengthscale, long ones counted", "[cli]") {
  const std::string text =
      report(R"("kind":"none")", R"("relevance":[0.25,1,0.001,0.5],"warnings":[])");
  CHECK(text_of(text, {.inputs = {"a", "b", "c", "d"}}) ==
        "honest score: none\nshortness of lengthscales: b 1, d 0.5, a 0.25, c 0.001 "
        "(not what inputs are worth: mercer relevance measures that)\n");
  CHECK(text_of(text).find(": x2 1, x4 0.5, x1 0.25,") != std::string::npos);
}

TEST_CASE("rare classes and balanced weights are scored by the mean of recalls", "[cli]") {
  const auto text = [](int rare) {
    return report(
        R"("kind":"unseen","measure":"accuracy","rows":100,"value":0.9,"standard_error":0.03,)"
        R"("constant":0.95,"linear":0.94,"balanced":{"value":0.75,"standard_error":0.0625,)"
        R"("linear":0.5},"classes":[{"rows":)" +
            std::to_string(100 - rare) + R"(,"recall":1},{"rows":)" + std::to_string(rare) +
            R"(,"recall":0.5}])",
        R"("relevance":[],"warnings":["class 1, of 5 rows in the score, is found"])");
  };
  const ReportNames names{.classes = {"ok", "fraud"}};
  const std::string plain =
      "honest score: accuracy 0.9000 +- 0.03000 (100 rows that no choice has seen)\n"
      "on the same rows: largest class of the rows fitted 0.95000, logistic regression "
      "0.94000\n";
  const std::string warning = "warning: class fraud, of 5 rows in the score, is found\n";
  CHECK(text_of(text(10), names) == plain + warning);
  CHECK(text_of(text(9), names) ==
        plain +
            "balanced accuracy (mean of recalls) 0.75000 +- 0.06250; largest class 0.50000, "
            "logistic regression 0.50000\n" +
            warning);
  CHECK(text_of(text(10), {.classes = names.classes, .balanced = true}) ==
        "honest score: balanced accuracy (mean of recalls) 0.75000 +- 0.06250 (100 rows that no "
        "choice has seen)\non the same rows: largest class 0.50000, "
        "logistic regression 0.50000\n"
        "accuracy 0.9000, which balanced weights do not aim at; largest class 0.95000\n" +
            warning);
}

TEST_CASE("what is no report is refused", "[cli]") {
  CHECK_THROWS_AS(text_of("{\"score\":3}"), Failure);
}

}  // namespace report_text_test
