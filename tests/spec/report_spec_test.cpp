// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/report_spec.h"

#include "support/refusal.h"

namespace report_spec_test {
using namespace mercer;
using namespace mercer::model;

FitReport report() {
  FitReport report;
  report.rows_are = RowDependence::grouped;
  report.criterion = ComparisonMethod::held_out;
  report.criterion_rows = 500;
  report.criterion_score = 0.25;
  report.lengthscale = 1.5;
  report.lambda = 1e-3;
  report.dimension = 77.5;
  report.kernel = "laplacian";
  report.target_transform = Transform::log;
  report.assessment = {AssessmentRows::unseen, Measure::accuracy, 100, 7, 0.5, 0.125, -0.25, NAN};
  report.trials = {
      {0, 64, 300, 3, 1e-2, NAN, 0.5},
      {4, 128, 600, 1.5, 1e-3, 0.25, 1, Transform::none, 0.125, NAN, "laplacian", Transform::log}};
  report.relevance = {1, 0.5};
  report.warnings = {"one \"warning\""};
  return report;
}

TEST_CASE("a report prints and reads back") {
  const std::string text = spec::print_report(report(), Task::classification);
  CHECK(
      text ==
      R"({"rows_are":"grouped","criterion":"held_out","criterion_rows":500,"criterion_score":0.75,"lengthscale":1.5,)"
      R"("lambda":0.001,"shape":null,"transform":"none","kernel":"laplacian","target_transform":"log","effective_dimension":77.5,"score":{"kind":"unseen","measure":"accuracy",)"
      R"("rows":100,"groups":7,"value":0.5,"standard_error":0.125,"constant":-0.25,"linear":null},)"
      R"("trials":[{"stage":"coarse","transform":"none","kernel":"","target_transform":"none","features":64,"rows":300,"lengthscale":3.0,"lambda":0.01,)"
      R"("score":null,"loss":null,"shape":null},{"stage":"final","transform":"none","kernel":"laplacian","target_transform":"log","features":128,"rows":600,)"
      R"("lengthscale":1.5,"lambda":0.001,"score":0.75,"loss":0.125,"shape":null}],"relevance":[1.0,0.5],)"
      R"("warnings":["one \"warning\""]})");
  const FitReport again = spec::parse_report(text);
  CHECK(spec::print_report(again, Task::classification) == text);
  CHECK(std::isnan(again.assessment.linear));
  CHECK(again.trials[1].rows == 600);
  std::string earlier = text;
  earlier.erase(earlier.find(",\"loss\":0.125"), 13);
  for (size_t at = 0; (at = earlier.find("\"kernel\":\"laplacian\",")) != std::string::npos;)
    earlier.erase(at, 21);
  earlier.erase(earlier.find("\"rows_are\":\"grouped\","), 21);
  earlier.erase(earlier.find("\"groups\":7,"), 11);
  for (size_t at = 0; (at = earlier.find("\"target_transform\":\"")) != std::string::npos;)
    earlier.erase(at, earlier.find(',', at) + 1 - at);
  const FitReport old = spec::parse_report(earlier);
  CHECK(std::isnan(old.trials[1].loss));
  CHECK(old.kernel.empty());
  CHECK(old.rows_are == RowDependence::exchangeable);
  CHECK(old.assessment.groups == 0);
  CHECK(old.target_transform == Transform::none);
  CHECK(again.target_transform == Transform::log);
  CHECK(again.kernel == "laplacian");
}

TEST_CASE("a report of classes keeps their recalls") {
  FitReport given = report();
  given.assessment.balanced = {0.75, 0.0625, {{90, 1.0}, {10, 0.5}, {0}}};
  const std::string text = spec::print_report(given, Task::classification);
  CHECK(
      text.find(R"("linear":null,"balanced":{"value":0.75,"standard_error":0.0625,"linear":null},)"
                R"("classes":[{"rows":90,"recall":1.0},{"rows":10,"recall":0.5},)"
                R"({"rows":0,"recall":null}]})") != std::string::npos);
  CHECK(spec::print_report(spec::parse_report(text), Task::classification) == text);
  given.assessment.balanced.classes[1].predicted = {5, 5, 0};
  const std::string confused = spec::print_report(given, Task::classification);
  CHECK(confused.find(R"({"rows":10,"recall":0.5,"predicted":[5,5,0]})") != std::string::npos);
  CHECK(spec::print_report(spec::parse_report(confused), Task::classification) == confused);
}

TEST_CASE("a report of passes over the rows") {
  FitReport given;
  given.run = {12, 0.25, 0.5};
  const std::string text = spec::print_report(given, Task::regression);
  CHECK(text == R"({"solver":{"iterations":12,"residual":0.25,"seconds":0.5}})");
  CHECK(spec::print_report(spec::parse_report(text), Task::regression) == text);
}

TEST_CASE("a model of a fit has an empty report") {
  CHECK(spec::print_report({}, Task::regression) == "{}");
  CHECK_FALSE(spec::parse_report("{}").known());
}

TEST_CASE("a damaged report is refused by name") {
  const std::string text = spec::print_report(report(), Task::regression);
  constexpr struct {
    const char *from, *to, *names;
  } kDamages[] = {
      {R"("held_out")", R"("no")", "criterion"},
      {R"("criterion_rows":500)", R"("criterion_rows":-5)", "criterion_rows"},
      {R"("lambda":0.001)", R"("lambda":"x")", "lambda"},
      {R"("kernel":"laplacian")", R"("kernel":5)", "kernel"},
      {R"("target_transform":"log")", R"("target_transform":"sine")", "target_transform"},
      {R"("kind":"unseen")", R"("kind":3)", "kind"},
      {R"("stage":"coarse")", R"("stage":"fifth")", "stage"},
      {"[1.0,0.5]", R"([1.0,"a"])", "relevance"},
      {R"("warnings":["one)", R"("warnings":[1,"one)", "warnings"},
      {R"("trials":)", R"("tries":)", "trials"},
      {"{", "[", "object"},
  };
  for (const auto& row : kDamages) {
    std::string damaged = text;
    damaged.replace(damaged.find(row.from), std::strlen(row.from), row.to);
    CAPTURE(damaged);
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, spec::parse_report(damaged), "report", row.names);
  }
}

}  // namespace report_spec_test
