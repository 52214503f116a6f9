// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Codes for missing numbers, copies of inputs and of the target: alarms, and none that are false.
#include "model/assess/column_warnings.h"

#include "model_problem.h"
#include "support/catch.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

using Texts = std::vector<std::string>;

Texts warnings_of(const Problem& problem, Task task = Task::regression) {
  Context context;
  return column_warnings(task, problem.x(), problem.y(), context);
}

/// 500 rows of three inputs about 10; nothing is wrong with them.
Problem sound() {
  Problem problem = smooth_problem(500, 3, 1, 0.2, 41);
  for (int64_t i = 0; i < 500; ++i)
    for (int64_t j = 0; j < 3; ++j) problem.X(i, j) += 10;
  return problem;
}

}  // namespace

TEST_CASE("numbers that stand for missing ones are told by column, number and rows",
          "[model][columns]") {
  CHECK(warnings_of(sound()).empty());
  Problem problem = sound();
  for (int64_t i = 0; i < 500; i += 100) problem.X(i, 1) = -999;
  for (int64_t i = 7; i < 500; i += 100) problem.Y(i, 0) = 1e4;
  const Texts found = warnings_of(problem);
  REQUIRE(found.size() == 2);
  CHECK(found[0].starts_with("input 2 is -999 in 5 of 500 rows, far from its other numbers"));
  CHECK(found[0].ends_with(
      "(NaN; the command: --missing-word=-999 --missing flag), or leave those rows out"));
  CHECK(found[1].starts_with("target 1 is 10000 in 5 of 500 rows"));
  CHECK(found[1].ends_with("leave those rows out"));
  // Most rows may lack the number; NaN beside it does not hide it.
  for (int64_t i = 0; i < 400; ++i) problem.X(i, 2) = i < 10 ? std::nan("") : 999;
  CHECK(warnings_of(problem)[1].starts_with("input 3 is 999 in 390 of 500 rows"));
}

TEST_CASE("caps, zeros, levels and long tails are no codes, rows that hold the variance are",
          "[model][columns]") {
  Problem problem = sound();
  for (int64_t i = 0; i < 500; ++i) {
    const double t = problem.X(i, 0) - 10;
    problem.Y(i, 0) = std::min(problem.Y(i, 0), 0.8);                 // measured up to a bound
    problem.X(i, 1) = i % 3 == 0 ? 0 : 100 + problem.X(i, 1);         // none, or about 110
    problem.X(i, 2) = i % 50 == 0 ? 90 : static_cast<double>(i % 4);  // levels
    problem.X(i, 0) = std::round(10 * std::exp(6 * t));               // long-tailed counts
  }
  CHECK(warnings_of(problem).empty());
  problem.X(3, 0) = 2 * *std::max_element(problem.X.data(), problem.X.data() + 1500);
  CHECK(warnings_of(problem).empty());
  problem.Y(3, 0) = problem.Y(9, 0) = 1e6;
  CHECK(warnings_of(problem)[0].starts_with("target 1 is 1000000 in 2 of 500 rows"));
}

TEST_CASE("inputs that copy inputs are told, constants are not", "[model][columns]") {
  Problem problem = sound();
  for (int64_t i = 0; i < 500; ++i) problem.X(i, 2) = problem.X(i, 0);
  CHECK(warnings_of(problem) ==
        Texts{"input 3 equals input 1 in every row: it counts twice, and one of them can be left "
              "out"});
  for (int64_t i = 0; i < 500; ++i) problem.X(i, 1) = problem.X(i, 0);
  CHECK(warnings_of(problem) ==
        Texts{"input 2 equals input 1 in every row; 2 inputs in all are copies of others: they "
              "count as often as they occur, and can be left out"});
  problem.X(499, 1) = problem.X(499, 2) = 7;  // they equal each other, not the first
  CHECK(warnings_of(problem).at(0).starts_with("input 3 equals input 2"));
  for (int64_t i = 0; i < 500; ++i) problem.X(i, 1) = problem.X(i, 2) = 5;
  CHECK(warnings_of(problem).empty());
}

TEST_CASE("an input that is nearly the target is asked about", "[model][columns]") {
  const std::string asks =
      "input 2 predicts the target almost alone: is it known when predictions "
      "are made?";
  Problem problem = sound();
  const auto with = [&](auto x) {
    for (int64_t i = 0; i < 500; ++i) problem.X(i, 1) = x(i, problem.Y(i, 0));
    return warnings_of(problem);
  };
  CHECK(with([](int64_t i, double y) { return -3 * y + 1e-3 * std::sin(double(i)); }) ==
        Texts{asks});
  CHECK(with([](int64_t, double y) { return std::exp(4 * y); }) == Texts{asks});  // by rank
  CHECK(with([](int64_t i, double y) { return y + 0.1 * std::sin(double(i)); }).empty());
  // The only input may be all there is to know.
  const Problem one{copy(problem.y()), copy(problem.y())};
  CHECK(warnings_of(one).empty());
  for (int64_t i = 0; i < 500; ++i) {
    problem.Y(i, 0) = static_cast<double>(i % 3);
    problem.X(i, 1) = i % 3 == 0 ? 7 : i % 3 == 1 ? 2 : 5;
  }
  CHECK(warnings_of(problem, Task::classification) ==
        Texts{"input 2 predicts the class almost alone: is it known when predictions are made?"});
  // The sums of squares of constants are rounding.
  CHECK(with([](int64_t, double) { return 0.1; }).empty());
  for (int64_t i = 0; i < 500; ++i) problem.Y(i, 0) = 0.3;
  CHECK(warnings_of(problem).empty());
  problem.X(0, 1) = 2;
  CHECK(warnings_of(problem, Task::classification).empty());
}

TEST_CASE("a search tells of columns, of targets as they were given", "[model][columns]") {
  Problem problem = smooth_problem(60, 3, 1, 0.2, 42);
  for (int64_t i = 0; i < 60; ++i) problem.Y(i, 0) = i % 20 == 0 ? 1e4 : 3 + problem.Y(i, 0);
  SearchOptions options;
  options.features = 16;
  options.assess = false;
  options.fit.prepare.target_transform = Transform::log;
  const Model model = search(GaussianMaker{3}, options, problem);
  CHECK(std::ranges::any_of(model.report.warnings, [](const std::string& text) {
    return text.starts_with("target 1 is 10000 in 3 of 60 rows");
  }));
}
