// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that know of each other: of groups with an effect of their own, and of a walk in time. Scores
// of random folds are of rows whose like was seen; those of groups and of later rows are honest.
#include "model/assess/warnings.h"
#include "model_problem.h"
#include "statistic/metrics.h"
#include "support/refusal.h"

namespace dependent_rows_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

/// Rows about the centre of their group, whose target is the group's own: of new groups it cannot be
/// told.
struct GroupedRows : Problem {
  std::vector<double> groups;
  GroupedRows(int64_t count, int64_t each, uint64_t seed)
      : Problem{random_matrix(count * each, 3, seed), Matrix<double>(count * each, 1)} {
    const Matrix<double> centres = random_matrix(count, 4, seed + 1000);
    for (int64_t i = 0; i < X.rows(); ++i) {
      const int64_t g = (i * 7) % count;
      groups.push_back(static_cast<double>(g));
      for (int64_t j = 0; j < 3; ++j) X(i, j) = centres(g, j) + 0.08 * X(i, j);
      Y(i, 0) = centres(g, 3);
    }
  }
};

/// The sum of random steps, and the time.
Problem walk(int64_t n, uint64_t seed) {
  Problem problem{random_matrix(n, 3, seed), random_matrix(n, 1, seed + 1)};
  for (int64_t i = 0; i < n; ++i) {
    problem.X(i, 0) = 4 * static_cast<double>(i) / static_cast<double>(n);
    if (i > 0) problem.Y(i, 0) += problem.Y(i - 1, 0);
  }
  return problem;
}

Problem part(const Problem& problem, int64_t first, int64_t end) {
  Problem rows{Matrix<double>(end - first, 3), Matrix<double>(end - first, 1)};
  for (int64_t i = first; i < end; ++i) {
    std::copy_n(problem.x().row(i), 3, rows.X.view().row(i - first));
    rows.Y(i - first, 0) = problem.Y(i, 0);
  }
  return rows;
}

Model searched(const Problem& problem, std::span<const double> groups = {}, bool ordered = false) {
  SearchOptions options;
  options.features = 48;
  options.per_input = PerInput::off;
  options.fit.select.ordered = ordered;
  options.fit.estimate.precision = feature::Precision::f64;
  return search(OneLengthscale{3, 5}, options, problem, {}, groups);
}

double score_on(const Model& model, const Problem& problem) {
  return statistic::r_squared(problem.y(), predictions(model, problem.x()).view(), {});
}

TEST_CASE("a grouped search scores groups that it has not seen") {
  // The rows of both were drawn alike: the groups' centres are all that differs.
  double random = 0, grouped = 0, error = 0, truth = 0;
  constexpr int kSets = 4;
  for (uint64_t seed = 0; seed < kSets; ++seed) {
    const GroupedRows rows(24, 12, 10 * seed), others(200, 3, 10 * seed + 5);
    const Model alike = searched(rows), apart = searched(rows, rows.groups);
    random += alike.report.assessment.score / kSets;
    grouped += apart.report.assessment.score / kSets;
    error += std::pow(apart.report.assessment.standard_error, 2) / kSets;
    truth += score_on(apart, others) / kSets;
    CHECK(apart.report.criterion == ComparisonMethod::folds);
    CHECK(apart.report.rows_are == RowDependence::grouped);
    CHECK(apart.report.assessment.groups == 24);
    CHECK(apart.report.assessment.rows == 288);
    CHECK(alike.report.assessment.groups == 0);
  }
  INFO(random << " " << grouped << " +- " << std::sqrt(error / kSets) << ", truth " << truth);
  CHECK(random > 0.8);
  CHECK(truth < 0.2);
  // Mean of four: three of its standard errors.
  CHECK(std::abs(grouped - truth) < 3 * std::sqrt(error / kSets));
}

TEST_CASE("groups of many rows are judged by folds of all groups and scored on others") {
  const GroupedRows rows(24, 220, 3);
  const Model model = searched(rows, rows.groups);
  const FitReport& report = model.report;
  CHECK(report.criterion == ComparisonMethod::folds);
  CHECK(report.assessment.kind == AssessmentRows::unseen);
  CHECK(report.criterion_rows + report.assessment.rows == 24 * 220);
  CHECK(report.criterion_rows >= 18 * 220);
  // Of targets that new groups do not tell no fit explains much, and none is thought to.
  CHECK(1 - report.criterion_score < 0.2);
  const GroupedRows others(200, 3, 8);
  CHECK(score_on(model, others) < 0.2);
}

TEST_CASE("the test of drift has its level, of heavy tails and of ties") {
  // 1 in 1000; above 20 of 8000 with a chance below 1e-4.
  const Matrix<double> numbers = random_matrix(8000, 120, 7);
  int alarms = 0;
  for (int set = 0; set < 8000; ++set) {
    std::vector<double> losses;
    for (int64_t i = 0; i < (set % 2 == 0 ? 65 : 120); ++i) {
      losses.push_back(std::pow((numbers(set, i) + 1) / 2, -2));
      if (set % 3 == 0) losses.back() = std::floor(2 * std::log(losses.back()));
    }
    const std::span<const double> all = losses;
    alarms += are_larger(all.subspan(40), all.first(40));
  }
  CHECK(alarms <= 20);
  std::vector<double> losses(40), others(40);
  for (size_t i = 0; i < 40; ++i) {
    others[i] = static_cast<double>(i);
    losses[i] = others[i] + 25;
  }
  CHECK(are_larger(losses, others));
  CHECK_FALSE(are_larger(others, losses));
  CHECK_FALSE(are_larger(std::span(losses).first(19), others));
}

TEST_CASE("a search warns of rows that drift, and not of exchangeable ones") {
  const auto warns = [](const Model& model) {
    return std::ranges::count_if(model.report.warnings, [](const std::string& one) {
      return one.find("the rows before the last fifth predict it worse") != std::string::npos;
    });
  };
  for (uint64_t seed = 0; seed < 3; ++seed) {
    CHECK(warns(searched(walk(300, 20 * seed))) == 1);
    CHECK(warns(searched(walk(300, 20 * seed), {}, true)) == 0);
  }
  // Of 25 searches, each with a chance of 1/1000 at most: two with one of 3e-4.
  int64_t alarms = 0;
  for (uint64_t seed = 0; seed < 25; ++seed)
    alarms += warns(searched(smooth_problem(120, 3, 1, 0.3, seed)));
  CHECK(alarms <= 1);
}

TEST_CASE("an ordered search scores rows later than those it knows") {
  double random = 0, ordered = 0, later = 0;
  constexpr int kSets = 4;
  for (uint64_t seed = 0; seed < kSets; ++seed) {
    const Problem all = walk(400, 20 * seed), known = part(all, 0, 320), rest = part(all, 320, 400);
    const Model model = searched(known, {}, true);
    random += searched(known).report.assessment.score / kSets;
    ordered += model.report.assessment.score / kSets;
    later = std::max(later, score_on(model, rest));
    CHECK(model.report.assessment.rows == 160);
    CHECK(model.report.rows_are == RowDependence::ordered);
  }
  INFO(random << " " << ordered << ", later " << later);
  CHECK(random > 0.5);
  CHECK(ordered < 0.2);
  CHECK(later < 0.2);
}

}  // namespace dependent_rows_test
