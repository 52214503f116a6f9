// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Axes, charts and the page of a report, and the folds of mercer cv.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/document.h"
#include "report/page.h"
#include "split.h"
#include "support/catch.h"

namespace report_test {
using namespace mercer::cli;

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

Dataset numbered_rows(int64_t n) {
  Dataset data;
  data.n = n;
  data.d = 2;
  data.m = 1;
  for (int64_t i = 0; i < n; ++i) {
    data.X.values.push_back(static_cast<double>(i));
    data.X.values.push_back(static_cast<double>(-i));
    data.Y.push_back(static_cast<double>(10 * i));
  }
  return data;
}

TEST_CASE("an axis holds its values and has a few round ticks", "[report]") {
  const std::vector<std::vector<double>> cases = {{0, 1},
                                                  {-3e-7, 2e-7},
                                                  {5, 5},
                                                  {0, 0},
                                                  {1e9, 1e9 + 1},
                                                  {},
                                                  {NAN, 2, INFINITY},
                                                  {.3, .30000000000000004},  // neighbours
                                                  {1e12, 1e12 + 1e-3},
                                                  {-1e-300, 5e-324},
                                                  {0, 5e-324},
                                                  {76.3365, 1.03192e-06}};
  for (const auto& values : cases) {
    const Axis axis(values, false);
    for (const double value : values) CHECK(axis.shows(value) == std::isfinite(value));
    const size_t ticks = axis.ticks().size();
    CHECK(ticks >= 2);
    CHECK(ticks <= 9);
    for (const double tick : axis.ticks()) CHECK(axis.shows(tick));
  }
}

TEST_CASE("ranges of a few spacings of double have few ticks, too", "[report]") {
  for (const double value : {0.3, -7.0, 1e12, 1e300, 1e-300})
    for (double spacings = 1; spacings < 1e4; spacings *= 2)
      for (const bool logarithmic : {false, true}) {
        if (logarithmic && value < 0) continue;
        const double above = value + spacings * std::abs(value) * 0x1p-52;
        CAPTURE(value, spacings, logarithmic);
        const std::vector<double> ticks = Axis({value, above}, logarithmic).ticks();
        CHECK(ticks.size() >= 2);
        CHECK(ticks.size() <= 9);
      }
}

TEST_CASE("texts of ticks differ", "[report]") {
  for (const auto& values : std::vector<std::vector<double>>{
           {0.9999911, 0.9999964}, {1e9, 1e9 + 2000}, {-1e-15, 1e-15}, {3, 3}}) {
    const Axis axis(values, false);
    std::vector<std::string> texts;
    for (const double tick : axis.ticks()) texts.push_back(axis.text(tick));
    REQUIRE(texts.size() >= 2);
    std::sort(texts.begin(), texts.end());
    CHECK(std::adjacent_find(texts.begin(), texts.end()) == texts.end());
  }
  CHECK(Axis({-0.1, 0.1}, false).text(1e-17) == "0");
}

TEST_CASE("a logarithmic axis leaves out what has no logarithm", "[report]") {
  const Axis decades({1e-12, 10}, true);
  CHECK_FALSE(decades.shows(0));
  CHECK_FALSE(decades.shows(-1));
  CHECK(decades.shows(1e-5));
  CHECK(decades.text(1e-5) == "1e-05");
  CHECK(Axis({2, 9}, true).ticks().size() >= 2);
  CHECK(Axis({-1, 0}, true).ticks().size() >= 2);
}

TEST_CASE("a chart draws every finite point and nothing else", "[report]") {
  const std::string svg = chart(
      {"a < b", "x", "y", true},
      {{"one", {1, 10, 0, 100}, {1, 2, 3, NAN}, false}, {"two & more", {1, 10}, {3, 4}, true}});
  // Two circles of series one and its mark in the legend; two squares and a line of series two.
  CHECK(count_of(svg, "<circle") == 3);
  CHECK(count_of(svg, "<rect") == 3);
  CHECK(count_of(svg, "<polyline") == 1);
  CHECK(svg.find("a &lt; b") != svg.npos);
  CHECK(svg.find("two &amp; more") != svg.npos);
  CHECK(svg.find("nan") == svg.npos);
  CHECK(svg.find("inf") == svg.npos);
}

TEST_CASE("bars and confusion tables name what they count", "[report]") {
  const std::string svg = bars("relevance", {"age", "<b>"}, {2, 1});
  CHECK(count_of(svg, "<i ") == 2);
  CHECK(svg.find("&lt;b&gt;") != svg.npos);
  const std::string table = confusion_table({"cat", "dog"}, {{8, 2}, {0, 0}});
  CHECK(count_of(table, "<td") == 6);
  CHECK(table.find(">8<") != table.npos);
}

TEST_CASE("a page holds no script and nothing of another file", "[report]") {
  Page page("model <script>");
  page.warning("lambda at its edge");
  page.figure("<svg></svg>", "a");
  page.figure("<svg></svg>", "b");
  page.paragraph("end");
  const std::string text = page.text();
  CHECK(count_of(text, "<script") == 0);
  CHECK(count_of(text, "src=") == 0);
  CHECK(count_of(text, "class=\"figures\"") == 1);
  CHECK(count_of(text, "<div") == count_of(text, "</div"));
}

TEST_CASE("a report's page shows warnings, charts and no more than the document holds",
          "[report]") {
  const std::string least =
      R"({"train":"a.csv","rows":9,"inputs":["x1"],"task":"regression","classes":[],"seconds":1,
          "spec":{"map":{"kernel":{"kernel":"gaussian"},"features":64},"lambda":1e-6},"fit":{}})";
  CHECK(count_of(report_page(parse_json(least)), "<svg") == 0);
  const std::string more =
      R"({"train":"a.csv","rows":9,"inputs":["<age>","x2"],"task":"regression","classes":[],"seconds":1,
          "targets":["<price>"],"weights":"w",
          "spec":{"map":{"kernel":{"kernel":"gaussian","lengthscale":[2,3]},"features":64},"lambda":1e-6},
          "fit":{"warnings":["lambda < 1"],"relevance":[0.5,1],
                 "score":{"kind":"nested","measure":"r_squared","rows":9,"value":0.5,"standard_error":0.25,
                          "constant":-0.125,"linear":null},
                 "trials":[{"features":64,"lengthscale":null,"lambda":0.1,"score":0.5},
                           {"features":64,"lengthscale":2,"lambda":0.1,"score":null}]},
          "learning_curve":{"train_rows":8,"test_rows":1,"features":[32,64],"score":[0.1,0.2]},
          "certificate":{"frobenius":0.25,"frobenius_low":0.125,"frobenius_high":0.5},
          "held_out":{"truth":[1,2],"predicted":[1.5,null]}})";
  const std::string page = report_page(parse_json(more));
  CHECK(count_of(page, "<svg") == 5);
  CHECK(count_of(page, "class='b'") == 1);
  CHECK(page.find("lambda &lt; 1") != std::string::npos);
  CHECK(page.find("&lt;age&gt;") != std::string::npos);
  CHECK(page.find("honest score: R^2 0.50000 +- 0.25000") != std::string::npos);
  CHECK(page.find('{', page.find("</style>")) == std::string::npos);  // no JSON
  for (const char* fact : {"&lt;price&gt;", "map features", "per input", "0.25 (0.125 to 0.5)"})
    CHECK(page.find(fact) != std::string::npos);
}

TEST_CASE("a report's page draws the honest score's confusion, curves of classes and dependence",
          "[report]") {
  const std::string text =
      R"({"train":"a.csv","rows":9,"inputs":["x1","t"],"task":"classification","classes":["no","yes"],"seconds":1,
          "spec":{"map":{"kernel":{"kernel":"gaussian"},"features":64},"lambda":1e-6},
          "fit":{"warnings":[],"score":{"kind":"nested","measure":"accuracy","rows":40,"value":0.5,"standard_error":0.25,
                 "constant":0.5,"linear":null,"balanced":{"value":0.5,"standard_error":0.25,"linear":null},
                 "classes":[{"rows":20,"recall":0.85,"predicted":[17,3]},{"rows":20,"recall":1.0,"predicted":[0,20]}]}},
          "learning_curve":{"train_rows":8,"test_rows":4,"features":[32,64],"score":[0.1,0.2],"standard_error":[0.01,null],
                            "rows":[4,8],"rows_score":[0.1,0.2],"rows_standard_error":[0.01,0.02]},
          "importance":{"inputs":["x1","t"],"relevance":[1,0.5],
                        "dependence":[{"input":"x1","values":[1,2],"means":[[0.4,0.6],[0.3,0.7]]},
                                      {"input":"t","values":["a","b"],"means":[[0.4,0.6],[0.3,0.7]]}]},
          "held_out":{"confusion":[[1,1],[1,1]],"roc":[{"class":1,"false":[0,1],"true":[0,1],"area":0.5}],
                      "reliability":[{"rows":4,"probability":0.75,"right":0.5}]}})";
  const std::string page = report_page(parse_json(text));
  CHECK(page.find(">17<") != std::string::npos);
  CHECK(page.find("<td>0.85</td>") != std::string::npos);
  CHECK(page.find("honest score, which no choice") != std::string::npos);
  CHECK(page.find("yes (area 0.5)") != std::string::npos);
  CHECK(page.find("dependence on x1") != std::string::npos);
  CHECK(page.find("0: a, 1: b") != std::string::npos);
  CHECK(count_of(page, "<svg") == 6);
  CHECK(count_of(page, "opacity='0.5'") == 4);  // bars: 1 + 2 of the curves, 1 of reliability
  CHECK(page.find("<summary>Model") > page.find("dependence on x1"));
}

TEST_CASE("folds cover all rows once, in sizes that differ by one", "[cv]") {
  for (const int64_t n : {10, 11, 13, 14, 97})
    for (const int64_t K : {2, 3, 5}) {
      Dataset data = numbered_rows(n);
      int64_t next = 0;
      for (const Fold& fold : make_folds(&data, K, {1, false})) {
        CHECK(fold.first == next);
        CHECK((fold.rows == n / K || fold.rows == n / K + 1));
        next += fold.rows;
      }
      CHECK(next == n);
    }
}

TEST_CASE("rows are arranged with their targets, and some left out", "[cv]") {
  Dataset data = numbered_rows(7);
  arrange_rows(&data, {0, 5, 6, 3});
  arrange_rows(&data, {3, 1, 0});
  const std::vector<double> expected = {3, 5, 0};
  REQUIRE(data.n == 3);
  for (size_t i = 0; i < expected.size(); ++i) {
    CHECK(data.X.values[2 * i] == expected[i]);
    CHECK(data.X.values[2 * i + 1] == -expected[i]);
    CHECK(data.Y[i] == 10 * expected[i]);
    CHECK(row_of(data, static_cast<int64_t>(i)) == expected[i] + 1);
  }
}

}  // namespace report_test
