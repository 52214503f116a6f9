// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Warnings: of columns that are not what they seem, of rows that repeat each other.
#include "model/assess/warnings.h"

#include "model_problem.h"
#include "random/distributions.h"
#include "spec/spec.h"
#include "support/fit.h"
#include "support/sparse.h"

namespace warnings_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

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

TEST_CASE("numbers that stand for missing ones are told by column, number and rows",
          "[model][columns]") {
  CHECK(warnings_of(sound()).empty());
  Problem problem = sound();
  for (int64_t i = 0; i < 500; i += 100) problem.X(i, 1) = -999;
  for (int64_t i = 7; i < 500; i += 100) problem.Y(i, 0) = 1e4;
  const Texts found = warnings_of(problem);
  REQUIRE(found.size() == 2);
  CHECK(found[0].starts_with("input 1 is -999 in 5 of 500 rows, far from its other numbers"));
  CHECK(found[0].ends_with(
      "(NaN; the command: --missing-word=-999 --missing flag), or leave those rows out"));
  CHECK(found[1].starts_with("target 0 is 10000 in 5 of 500 rows"));
  CHECK(found[1].ends_with("leave those rows out"));
  // Most rows may lack the number; NaN beside it does not hide it.
  for (int64_t i = 0; i < 400; ++i) problem.X(i, 2) = i < 10 ? std::nan("") : 999;
  CHECK(warnings_of(problem)[0].ends_with("; likewise input 2 (999)"));
}

TEST_CASE("codes are whole numbers or nines, not what was measured", "[model][columns]") {
  Problem problem = sound();
  const auto with = [&](double code) {
    for (int64_t i = 0; i < 500; i += 100) problem.X(i, 1) = code;
    return warnings_of(problem).size();
  };
  CHECK(with(-99.9) == 1);
  CHECK(with(9999) == 1);
  CHECK(with(437.25) == 0);
  CHECK(with(-88.13) == 0);
}

TEST_CASE("targets of 0 and 1 alone are asked about, numbers beside them are not",
          "[model][columns]") {
  Problem problem = sound();
  for (int64_t i = 0; i < 500; ++i) problem.Y(i, 0) = i % 3 == 0;
  CHECK(warnings_of(problem).at(0).starts_with("the target holds 0 and 1 alone"));
  CHECK(warnings_of(problem, Task::classification).empty());
  problem.Y(7, 0) = 0.5;
  CHECK(warnings_of(problem).empty());
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
  CHECK(warnings_of(problem)[0].starts_with("target 0 is 1000000 in 2 of 500 rows"));
}

TEST_CASE("inputs that copy inputs are told, constants are not", "[model][columns]") {
  Problem problem = sound();
  for (int64_t i = 0; i < 500; ++i) problem.X(i, 2) = problem.X(i, 0);
  CHECK(warnings_of(problem) ==
        Texts{"input 2 equals input 0 in every row: it counts twice; leave one of them out"});
  for (int64_t i = 0; i < 500; ++i) problem.X(i, 1) = problem.X(i, 0);
  CHECK(warnings_of(problem) ==
        Texts{"input 1 equals input 0 in every row; 2 inputs in all are copies of others, "
              "which count repeatedly: leave the copies out"});
  problem.X(499, 1) = problem.X(499, 2) = 7;  // they equal each other, not the first
  CHECK(warnings_of(problem).at(0).starts_with("input 2 equals input 1"));
  for (int64_t i = 0; i < 500; ++i) problem.X(i, 1) = problem.X(i, 2) = 5;
  CHECK(warnings_of(problem).empty());
}

TEST_CASE("an input that is nearly the target is asked about", "[model][columns]") {
  const std::string asks =
      "input 1 predicts the target almost alone: is it known when predictions "
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
        Texts{"input 1 predicts the class almost alone: is it known when predictions are made?"});
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
  const Model model = search(OneLengthscale{3}, options, problem);
  CHECK(std::ranges::any_of(model.report.warnings, [](const std::string& text) {
    return text.starts_with("target 0 is 10000 in 3 of 60 rows");
  }));
}

/// y = x of one input from -1 to 1 and one row far beyond, whose fold has none of the others' range.
std::string worst_fold_of(const std::string& kernel, const std::string& more = "") {
  Problem problem{Matrix<double>(120, 1), Matrix<double>(120, 1)};
  for (int64_t i = 0; i < 120; ++i)
    problem.Y(i, 0) = problem.X(i, 0) = i == 7 ? 3 : static_cast<double>(i * 37 % 120) / 60 - 1;
  Context context;
  const MatrixView<const double> Y = problem.y();
  const Model model =
      test::fit(spec::fit_plan(R"({"map":{"map":"exact","kernel":{)" + kernel + "}}" + more + "}"),
                nullptr, problem.x(), Y, {}, context);
  const auto of_fold = std::ranges::find_if(model.report.warnings, [](const std::string& text) {
    return text.find("variance") != std::string::npos;
  });
  return of_fold == model.report.warnings.end() ? "" : *of_fold;
}

TEST_CASE("a fold that clipping spoils is told as such, and one that is bad without it as bad") {
  const std::string linear = R"("kernel":"polynomial","degree":1,"offset":1)",
                    narrow = R"("kernel":"gaussian","lengthscale":0.3)",
                    free = R"(,"prepare":{"extrapolation":"free"})";
  const std::string clipped = worst_fold_of(linear);
  CHECK(clipped.starts_with("1 of 24 rows of one fold"));
  CHECK(
      clipped.ends_with("unclipped 0.000 (median of folds 0.000): extrapolation = free clips "
                        "nothing"));
  CHECK(worst_fold_of(linear, free).empty());
  for (const std::string& more : {std::string(), free})
    CHECK(worst_fold_of(narrow, more).starts_with("one of the 5 searches"));
}

/// Every point of 300 three times, y = signal + noise of that deviation.
Problem measured_thrice(double noise) {
  Problem problem{random_matrix(900, 2, 81), Matrix<double>(900, 1)};
  std::vector<double> errors(900);
  random::fill_normal(random::Stream(82, random::Tag::generated, 0), 0, errors);
  for (int64_t i = 0; i < 900; ++i) {
    for (int64_t j = 0; j < 2; ++j) problem.X(i, j) = problem.X(i % 300, j);
    problem.Y(i, 0) = 7 + 3 * problem.X(i, 0) + noise * errors[i];
  }
  return problem;
}

bool warns(const TargetOptions& coding, const Problem& problem, const std::string& part,
           const Assessment& assessment = {}) {
  Context context;
  const auto found = data_warnings(coding, problem.x(), problem.y(), assessment, context);
  return std::ranges::any_of(
      found, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST_CASE("a score beside no linear model says so") {
  Assessment scored{.kind = AssessmentRows::nested, .measure = Measure::r_squared, .rows = 30};
  const std::string said = "a linear model of 2001 inputs was not compared";
  const Problem wide{random_matrix(30, 2001, 83), random_matrix(30, 1, 84)};
  CHECK(warns({}, wide, said, scored));
  CHECK(!warns({}, wide, said));
  CHECK(!warns({}, {random_matrix(30, 2000, 83), random_matrix(30, 1, 84)}, said, scored));
  scored.measure = Measure::pinball;  // of which there is none
  CHECK(!warns({}, wide, said, scored));
}

TEST_CASE("targets of equal inputs bound R^2 by their spread") {
  const Problem noisy = measured_thrice(1), exact = measured_thrice(0);
  Context context;
  const Repeats found = find_repeats({}, noisy.x(), noisy.y(), context);
  CHECK(found.rows == 600);
  CHECK(found.contradictory == 900);
  // x is uniform on (-1, 1): the variances are 3 and 1. That of the noise, of 600 degrees of
  // freedom, has a relative deviation of 0.058: R^2 one of 0.014, six of them 0.09.
  CHECK(std::abs(found.most - 0.75) < 0.09);
  CHECK(warns({}, noisy, "900 rows share their inputs with rows of other targets"));
  CHECK(find_repeats({}, exact.x(), exact.y(), context).contradictory == 0);
  CHECK(!warns({}, exact, "share their inputs"));
  CHECK(warns({}, exact, "600 of 900 rows repeat"));
}

TEST_CASE("a few equal rows say nothing of a score that is better than they are") {
  Problem problem = measured_thrice(0);
  for (int64_t i = 0; i < 900; ++i) problem.X(i, 1) = static_cast<double>(i);  // none are equal
  for (int64_t i = 0; i < 9; ++i) {                                            // but these
    problem.X(i, 0) = problem.X(i, 1) = 0.5;
    problem.Y(i, 0) = 7 + static_cast<double>(i % 2);  // a tenth of the variance of all
  }
  const char* const shared = "9 rows share their inputs";
  CHECK(warns({}, problem, shared));
  Assessment assessment{.kind = AssessmentRows::unseen, .rows = 90, .score = 0.98};
  CHECK(!warns({}, problem, shared, assessment));
  assessment.score = 0.1;
  CHECK(warns({}, problem, shared, assessment));
}

TEST_CASE("one class of one row is told in the singular") {
  Problem problem{random_matrix(40, 2, 84), Matrix<double>(40, 1)};
  for (int64_t i = 0; i < 40; ++i) problem.Y(i, 0) = i == 0 ? 0 : static_cast<double>(1 + i % 2);
  const TargetOptions coding{Task::classification, 3};
  CHECK(warns(coding, problem, "1 class has one row"));
}

TEST_CASE("classes of equal inputs bound the accuracy by their largest") {
  Problem problem{random_matrix(100, 2, 83), Matrix<double>(100, 1)};
  for (int64_t i = 0; i < 100; ++i) problem.Y(i, 0) = static_cast<double>(i % 3);
  for (int64_t i = 1; i < 6; ++i)  // six equal rows of classes 0 1 2 0 1 2
    for (int64_t j = 0; j < 2; ++j) problem.X(i, j) = problem.X(0, j);
  const TargetOptions coding{Task::classification, 3};
  Context context;
  const Repeats found = find_repeats(coding.task, problem.x(), problem.y(), context);
  CHECK(found.rows == 5);
  CHECK(found.contradictory == 6);
  CHECK(found.most == Approx(0.96).epsilon(1e-12));
  CHECK(warns(coding, problem, "6 rows share their inputs with rows of another class"));
}

TEST_CASE("sparse rows are equal by what they list") {
  SparseRows<double> rows;
  rows.cols = 1000;
  for (const int64_t column : {3, 5, 3, 700, 5}) {
    rows.add(column, 2.0);
    rows.end_row();
  }
  Matrix<double> Y(5, 1);
  for (int64_t i = 0; i < 5; ++i) Y(i, 0) = i == 2 ? 1 : 0;
  Context context;
  const Repeats found = find_repeats({}, rows.view(), Y.view(), context);
  CHECK(found.rows == 2);
  CHECK(found.contradictory == 2);
}

}  // namespace warnings_test
