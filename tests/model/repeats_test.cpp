// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows of equal inputs, the noise that they tell of, and the warning.
#include "model/assess/repeats.h"

#include "model/assess/warnings.h"
#include "model_problem.h"
#include "random/distributions.h"
#include "support/catch.h"
#include "support/sparse.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

/// Every point of 300 three times, y = signal + noise of that deviation.
Problem measured_thrice(double noise) {
  Problem problem{random_matrix(900, 2, 81), Matrix<double>(900, 1)};
  std::vector<double> errors(900);
  random::fill_normal(random::Stream(82, random::Tag::generated, 0), 0, errors);
  for (int64_t i = 0; i < 900; ++i) {
    for (int64_t j = 0; j < 2; ++j) problem.X(i, j) = problem.X(i % 300, j);
    problem.Y(i, 0) = 7 + 3 * problem.X(i, 0) + noise * errors[static_cast<size_t>(i)];
  }
  return problem;
}

bool warns(const Coding& coding, const Problem& problem, const std::string& part,
           const Assessment& assessment = {}) {
  Context context;
  const auto found = data_warnings(coding, problem.x(), problem.y(), assessment, context);
  return std::ranges::any_of(
      found, [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("targets of equal inputs bound R^2 by their spread", "[model]") {
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

TEST_CASE("a few equal rows say nothing of a score that is better than they are", "[model]") {
  Problem problem = measured_thrice(0);
  for (int64_t i = 0; i < 900; ++i) problem.X(i, 1) = static_cast<double>(i);  // none are equal
  for (int64_t i = 0; i < 9; ++i) {                                            // but these
    problem.X(i, 0) = problem.X(i, 1) = 0.5;
    problem.Y(i, 0) = 7 + static_cast<double>(i % 2);  // a tenth of the variance of all
  }
  const char* const shared = "9 rows share their inputs";
  CHECK(warns({}, problem, shared));
  Assessment assessment{.kind = Assessed::unseen, .rows = 90, .score = 0.98};
  CHECK(!warns({}, problem, shared, assessment));
  assessment.score = 0.1;
  CHECK(warns({}, problem, shared, assessment));
}

TEST_CASE("one class of one row is told in the singular", "[model]") {
  Problem problem{random_matrix(40, 2, 84), Matrix<double>(40, 1)};
  for (int64_t i = 1; i < 40; ++i) problem.Y(i, 0) = static_cast<double>(1 + i % 2);
  const Coding coding{Task::classification, 3};
  CHECK(warns(coding, problem, "1 class has one row"));
}

TEST_CASE("classes of equal inputs bound the accuracy by their largest", "[model]") {
  Problem problem{random_matrix(100, 2, 83), Matrix<double>(100, 1)};
  for (int64_t i = 0; i < 100; ++i) problem.Y(i, 0) = static_cast<double>(i % 3);
  for (int64_t i = 1; i < 6; ++i)  // six equal rows of classes 0 1 2 0 1 2
    for (int64_t j = 0; j < 2; ++j) problem.X(i, j) = problem.X(0, j);
  const Coding coding{Task::classification, 3};
  Context context;
  const Repeats found = find_repeats(coding.task, problem.x(), problem.y(), context);
  CHECK(found.rows == 5);
  CHECK(found.contradictory == 6);
  CHECK(found.most == Approx(0.96).epsilon(1e-12));
  CHECK(warns(coding, problem, "6 rows share their inputs with rows of another class"));
}

TEST_CASE("sparse rows are equal by what they list", "[model]") {
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
