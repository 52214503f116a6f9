// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The honest score of a search beside that of fresh rows, and what it is made of.
#include <chrono>

#include "model/assess/assessment.h"
#include "model/assess/warnings.h"
#include "model_problem.h"
#include "statistic/metrics.h"
#include "support/catch.h"

namespace assess_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

Model searched(const Problem& problem, SearchOptions options = {}) {
  options.features = 128;
  return search(OneLengthscale{3, 5}, options, problem);
}

TEST_CASE("the honest score is that of fresh rows, nested and on unseen rows") {
  const Problem fresh = smooth_problem(4000, 3, 1, 0.5, 31);
  for (const int64_t n : {150, 1200}) {
    const Problem problem = smooth_problem(n, 3, 1, 0.5, 32);
    const Model model = searched(problem);
    const Assessment& told = model.report.assessment;
    CHECK(told.kind == AssessmentRows::nested);
    CHECK(told.rows == (n <= 1000 ? n : n / 5 * 4));  // five folds; above, fewer
    const double truth = statistic::r_squared(fresh.y(), predictions(model, fresh.x()).view());
    // Four of its errors: probability 6e-5 were it normal, and of a fixed seed. Nested fits have
    // four fifths of the rows: a little is allowed for them.
    CHECK(std::abs(told.score - truth) < 4 * told.standard_error + 0.02);
    CHECK(std::abs(told.constant) < 0.05);
    CHECK(told.linear > 0.2);
    CHECK(told.linear < told.score);
  }
}

TEST_CASE("the honest score has no cliff: its error falls as rows are added") {
  // 0 to 1 with a share of 0.618. Where one fold fewer is scored the error grows by 1.41 at most.
  SearchOptions options;
  options.features = 64;
  options.per_input = PerInput::off;
  options.fit.coding = {Task::classification, 2};
  options.estimator = Estimator::ridge;
  double before = 0;
  for (const int64_t n : {999, 1001, 4999, 5001}) {
    Problem problem = smooth_problem(n, 3, 1, 0.5, 43);
    const Matrix<double> uniform = random_matrix(n, 1, 44);
    for (int64_t i = 0; i < n; ++i) problem.Y(i, 0) = uniform(i, 0) < 0.236 ? 1 : 0;
    const Model model = search(OneLengthscale{3, 5}, options, problem);
    const Assessment& told = model.report.assessment;
    CHECK(told.rows >= 580);
    if (n % 1000 == 1) CHECK(told.standard_error < 1.5 * before);
    if (n % 1000 == 1) CHECK(before < 1.5 * told.standard_error);
    before = told.standard_error;
    // Strata: each class has its share of the scored rows, to one row for each of five folds.
    double ones = 0;
    for (int64_t i = 0; i < n; ++i) ones += problem.Y(i, 0);
    const double share = ones / static_cast<double>(n);
    REQUIRE(told.balanced.classes.size() == 2);
    CHECK(std::abs(static_cast<double>(told.balanced.classes[1].rows) -
                   share * static_cast<double>(told.rows)) <= 5);
    // There is nothing to learn: the share of the larger class, to four errors and what strata add.
    CHECK(std::abs(told.score - 0.618) < 4 * told.standard_error + 0.01);
  }
}

TEST_CASE("the trials' seconds add up to those of the search") {
  for (const int64_t n : {400, 1500}) {
    const Problem problem = smooth_problem(n, 3, 1, 0.5, 45);
    const auto started = std::chrono::steady_clock::now();
    const Model model = searched(problem);
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - started;
    double sum = 0;
    for (const SearchCandidate& trial : model.report.trials) sum += trial.seconds;
    CHECK(sum <= whole.count());
    CHECK(sum >= 0.9 * whole.count());
    CHECK(model.report.trials.back().stage == kScoreStage);
    CHECK(model.report.trials.back().rows == model.report.assessment.rows);
  }
}

TEST_CASE("targets of noise alone give no honest score, and a warning says so") {
  Problem noise = smooth_problem(120, 3, 1, 0, 33);
  noise.Y = random_matrix(120, 1, 34);
  const Model model = searched(noise);
  CHECK(model.report.assessment.score < 0.1);
  bool warned = false;
  for (const std::string& text : model.report.warnings)
    warned = warned || text.find("does not beat the mean") != std::string::npos ||
             text.find("largest that was tried") != std::string::npos;
  CHECK(warned);
}

TEST_CASE("a search warns of rows that repeat others") {
  const auto warned = [](const Model& model) {
    for (const std::string& text : model.report.warnings)
      if (text.find("repeat the inputs of others") != std::string::npos) return true;
    return false;
  };
  Problem problem = smooth_problem(100, 3, 1, 0.3, 36);
  CHECK(!warned(searched(problem)));
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 3; ++j) problem.X(i, j) = problem.X(50 + i, j);
  CHECK(warned(searched(problem)));
}

TEST_CASE("a lambda that is given may be far below what trials in single precision allow") {
  SearchOptions options;
  options.lambda = 1e-13;
  const Model model = searched(smooth_problem(3600, 3, 1, 0.3, 37), options);
  CHECK(model.fit.select.lambda == 1e-13);
  CHECK(model.report.assessment.score > 0.5);
}

TEST_CASE("rows that are assessed or held out join the fit") {
  for (const int64_t n : {1100, 5200}) {  // by leave-one-out, on held-out rows
    const Problem problem = smooth_problem(n, 3, 2, 0.3, 35);
    const Model model = searched(problem);
    CHECK(model.fit.select.selection ==
          (n == 1100 ? Selection::leave_one_out : Selection::held_out));
    CHECK(model.report.criterion_rows == (n == 1100 ? 1100 : 420));
    CHECK(model.report.assessment.rows == (n == 1100 ? 1100 : 1000));
    FitOptions fixed = model.fit;
    fixed.select.selection = Selection::fixed;
    fixed.prepare.standardize = false;
    // Means and scales are of the rows that are not assessed.
    Matrix<double> inputs = copy(problem.x());
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < 3; ++j) {
        const auto c = static_cast<size_t>(j);
        inputs(i, j) = (inputs(i, j) - model.preparation.mean[c]) / model.preparation.scale[c];
      }
    Context context;
    const Model again = fit(model.map, fixed, inputs.view(), problem.y(), context);
    CHECK(model.rows == n);
    // Sums in another order: 1e-16 n over lambda n, which is above 1e-8 for noise of 0.3.
    CHECK(largest_difference(predictions(model, problem.x()), predictions(again, inputs.view())) <
          1e-6);
  }
}

TEST_CASE("balanced accuracy is the mean of recalls, with the error of each") {
  const int64_t n = 400;
  const Matrix<double> Y(n, 1), scores(n, 3);  // of the third class is no row
  scores.fill(0);
  for (int64_t i = 0; i < n; ++i) {
    Y(i, 0) = i % 20 == 0 ? 1 : 0;
    scores(i, i % 40 == 0 ? 1 : 0) = 1;  // half of class 1 is found, all of class 0
  }
  const BalancedScore score = balanced_score(Y.view(), scores.view());
  CHECK(score.value == 0.75);
  const double common = 382.0 / 384;  // with two rows found and two missed added
  CHECK(score.standard_error ==
        Approx(std::sqrt(0.25 / 24 + common * (1 - common) / 384) / 2).epsilon(1e-12));
  std::vector<int64_t> clusters;  // that are alike
  for (int64_t i = 0; i < n; ++i) clusters.push_back(i / 40);
  CHECK(balanced_score(Y.view(), scores.view(), {}, clusters).standard_error ==
        score.standard_error);
  REQUIRE(score.classes.size() == 3);
  CHECK(score.classes[0].rows == 380);
  CHECK(score.classes[1].recall == 0.5);
  CHECK(score.classes[1].predicted == std::vector<int64_t>{10, 10, 0});
  CHECK(score.classes[2].predicted == std::vector<int64_t>{0, 0, 0});
  CHECK(score.classes[2].rows == 0);
  CHECK(std::isnan(score.classes[2].recall));
  // Weight 3 for rows that are found: of class 1 3/4 then.
  std::vector<double> weights;
  for (int64_t i = 0; i < n; ++i) weights.push_back(i % 40 == 0 ? 3 : 1);
  CHECK(balanced_score(Y.view(), scores.view(), weights).value == 0.875);

  Assessment few{.kind = AssessmentRows::unseen, .rows = n, .score = 0.975, .constant = 0.95};
  few.balanced = score;
  CHECK(score_warnings({}, Task::classification, few) ==
        std::vector<std::string>{"class 2 has 0 rows in the score, which says little of it"});
  few.balanced.classes[1].recall = 0.1;
  few.balanced.classes[2] = {3, 0.0};
  CHECK(score_warnings({}, Task::classification, few) ==
        std::vector<std::string>{"2 rare classes are found in at most 20 % of their rows: balanced "
                                 "class weights find more"});
  few.balanced.classes[1].rows = 40;  // a tenth is not rare
  few.balanced.classes[2].rows = 30;
  CHECK(score_warnings({}, Task::classification, few) ==
        std::vector<std::string>{"class 2, of 30 rows in the score, is found in only 0 % of them: "
                                 "balanced class weights find more"});
}

TEST_CASE("a linear model that is no worse is told, and whether the score's error decides it") {
  Assessment assessment;
  assessment.kind = AssessmentRows::nested;
  assessment.measure = Measure::r_squared;
  assessment.rows = 100;
  assessment.score = 0.5;
  assessment.constant = 0;
  assessment.standard_error = 0.05;
  const auto told = [&](double linear) {
    assessment.linear = linear;
    return score_warnings({}, Task::regression, assessment);
  };
  CHECK(told(0.4).empty());
  CHECK(told(0.52) ==
        std::vector<std::string>{"R^2 0.5000 cannot be told apart from that of a linear model, "
                                 "0.5200: the score's error is 0.0500"});
  CHECK(told(0.6) == std::vector<std::string>{"R^2 0.5000 does not beat a linear model: 0.6000, "
                                              "more than the score's error above it"});
}

TEST_CASE("an accuracy has its binomial error, R^2 that of a ratio of means and of its tails") {
  const int64_t n = 400;
  const Matrix<double> Y(n, 1), scores(n, 2);
  for (int64_t i = 0; i < n; ++i) {
    Y(i, 0) = i % 4 == 0 ? 1 : 0;
    scores(i, 0) = 1;
    scores(i, 1) = 0;
  }
  const Score share = score_of(Task::classification, Y.view(), scores.view());
  CHECK(share.value == 0.75);
  const double right = 302.0 / 404;
  CHECK(share.standard_error == Approx(std::sqrt(right * (1 - right) / 404)).epsilon(1e-12));

  // R^2 of 200 data sets of 300 rows: their deviation is what one set's error estimates.
  double sum = 0, squares = 0, told = 0;
  const int64_t sets = 200, rows = 300;
  for (int64_t s = 0; s < sets; ++s) {
    const Matrix<double> y = random_matrix(rows, 1, static_cast<uint64_t>(500 + s));
    const Matrix<double> error = random_matrix(rows, 1, static_cast<uint64_t>(900 + s));
    const Matrix<double> f(rows, 1);
    for (int64_t i = 0; i < rows; ++i) f(i, 0) = y(i, 0) + 0.6 * error(i, 0);
    const Score score = score_of(Task::regression, y.view(), f.view());
    sum += score.value / sets;
    squares += score.value * score.value / sets;
    told += score.standard_error / sets;
  }
  // The deviation of 200 has a relative error of 1/sqrt(400) = 0.05; five of them.
  CHECK(told == Approx(std::sqrt(squares - sum * sum)).epsilon(0.25));
}

TEST_CASE("two errors hold R^2 where few rows make most of it") {
  // y is uniform, of variance 1/3; errors a / (1 - |u|)^0.35 have one of a^2 / 0.3, no kurtosis.
  // The delta method's own errors hold R^2 in 74 %, these in 85 %.
  const int64_t sets = 200, rows = 300;
  int64_t held = 0;
  for (int64_t s = 0; s < sets; ++s) {
    const Matrix<double> y = random_matrix(rows, 1, static_cast<uint64_t>(500 + s));
    const Matrix<double> error = random_matrix(rows, 1, static_cast<uint64_t>(900 + s));
    const Matrix<double> f(rows, 1);
    for (int64_t i = 0; i < rows; ++i)
      f(i, 0) =
          y(i, 0) + std::copysign(0.12 / std::pow(1 - std::abs(error(i, 0)), 0.35), error(i, 0));
    const Score score = score_of(Task::regression, y.view(), f.view());
    held += std::abs(score.value - (1 - 3 * 0.0144 / 0.3)) < 2 * score.standard_error;
  }
  CHECK(held >= 160);
}

TEST_CASE("the linear baseline neither clips nor transforms, and is logistic of classes") {
  // y = 3 x, rows beyond the range of those fitted on; the model itself takes ranks.
  Problem problem{random_matrix(60, 1, 61), Matrix<double>(60, 1)};
  for (int64_t i = 0; i < 60; ++i) problem.X(i, 0) = i < 40 ? problem.X(i, 0) : 2 + problem.X(i, 0);
  for (int64_t i = 0; i < 60; ++i) problem.Y(i, 0) = 3 * problem.X(i, 0);
  std::vector<int64_t> train, test;
  for (int64_t i = 0; i < 60; ++i) (i < 40 ? train : test).push_back(i);
  Context context;
  FitOptions options = f64_options(Selection::fixed);
  options.prepare.transform = Transform::rank;
  const Model ranked = fit(gaussian_map(1, 32), options, problem);
  const Baselines of_numbers = baselines(ranked, problem.x(), problem.y(), train, test, context);
  for (int64_t k = 0; k < 20; ++k)
    CHECK(of_numbers.linear(k, 0) == Approx(problem.Y(40 + k, 0)).epsilon(1e-6));
  // Three classes along a line: no linear scores of codes are largest for the middle one alone.
  const Matrix<double> Y(60, 1);
  for (int64_t i = 0; i < 60; ++i) {
    problem.X(i, 0) = static_cast<double>(i % 3) + 0.2 * problem.X(i, 0) / 3;
    Y(i, 0) = static_cast<double>(i % 3);
  }
  options.coding = {Task::classification, 3};
  options.prepare.transform = Transform::none;
  const Model classes = fit(gaussian_map(1, 32), options, problem.x(), Y.view(), context);
  const Baselines of_classes = baselines(classes, problem.x(), Y.view(), train, test, context);
  int64_t right = 0;
  for (int64_t k = 0; k < 20; ++k)
    right += statistic::class_of({of_classes.linear.view().row(k), 3}) == (40 + k) % 3;
  CHECK(right == 20);
}

TEST_CASE("errors of nearly perfect predictions are the deviation of their scores") {
  double sum = 0, squares = 0, told = 0;
  const int64_t sets = 200, rows = 70;
  for (int64_t s = 0; s < sets; ++s) {
    const Matrix<double> y = random_matrix(rows, 1, static_cast<uint64_t>(500 + s));
    const Matrix<double> error = random_matrix(rows, 1, static_cast<uint64_t>(900 + s));
    const Matrix<double> f(rows, 1);
    for (int64_t i = 0; i < rows; ++i) f(i, 0) = y(i, 0) + 0.004 * error(i, 0);
    const Score score = score_of(Task::regression, y.view(), f.view());
    sum += (1 - score.value) / sets;
    squares += (1 - score.value) * (1 - score.value) / sets;
    told += score.standard_error / sets;
  }
  CHECK(sum == Approx(0.004 * 0.004).epsilon(0.05));
  const double deviation = std::sqrt(squares - sum * sum);
  // One more row that is twice as bad as the worst adds 2 3 / 70 to a share of which these are 1.
  CHECK(told > 0.8 * deviation);
  CHECK(told < 2 * deviation);
}

TEST_CASE("two errors hold R^2 of samples that may have seen no bad row, and are never 0") {
  // y is uniform, of variance 1/3; 3 of 1,000 rows are off by half of its deviation or more.
  const int64_t sets = 200, rows = 300;
  const double truth = 1 - 0.003;
  int64_t held = 0, spotless = 0;
  for (int64_t s = 0; s < sets; ++s) {
    const Matrix<double> y = random_matrix(rows, 1, static_cast<uint64_t>(500 + s));
    const Matrix<double> bad = random_matrix(rows, 1, static_cast<uint64_t>(900 + s));
    const Matrix<double> f = copy(y.view());
    for (int64_t i = 0; i < rows; ++i) f(i, 0) += bad(i, 0) > 0.994 ? std::sqrt(1.0 / 3) : 0;
    const Score score = score_of(Task::regression, y.view(), f.view());
    held += std::abs(score.value - truth) < 2 * score.standard_error;
    spotless += score.value == 1;
    CHECK(score.standard_error > 0.999 / rows);
  }
  CHECK(held >= 0.9 * sets);
  CHECK(spotless > 0.3 * sets);  // (1 - .003)^300 = .41 of them are
  ScoreMetric absolute = Task::regression;
  absolute.measure = Measure::absolute;
  const Matrix<double> y = random_matrix(rows, 1, 5);
  CHECK(score_of(absolute, y.view(), y.view()).standard_error == Approx(1.0 / rows));
}

TEST_CASE(
    "what all rows leave of the folds' errors, less or more, is told of nested scores alone") {
  const int64_t n = 200;
  const Matrix<double> Y = random_matrix(n, 1, 3);
  Predictions predicted{copy(Y.view()), {Matrix<double>(n, 1), {}}};
  predicted.baselines.constant.fill(0);
  for (int64_t i = 0; i < n; ++i) predicted.model(i, 0) *= 0.5;
  const auto told = [&](AssessmentRows kind, double left) {
    return assess(kind, Task::regression, Y.view(), predicted, {}, left);
  };
  const Assessment unseen = told(AssessmentRows::unseen, 0.8),
                   nested = told(AssessmentRows::nested, 0.8);
  CHECK(nested.score == Approx(1 - 0.8 * (1 - unseen.score)).epsilon(1e-12));
  CHECK(nested.standard_error ==
        Approx(std::hypot(std::sqrt(1.25) * unseen.standard_error, nested.score - unseen.score))
            .epsilon(1e-12));
  CHECK(told(AssessmentRows::nested, 1.3).score ==
        Approx(1 - 1.3 * (1 - unseen.score)).epsilon(1e-12));
  // One fold's criterion that is far off, or infinite, is not all rows' merit.
  CHECK(told(AssessmentRows::nested, 0.1).score == told(AssessmentRows::nested, 0.64).score);
  for (const double none : {0.0, std::nan("")})
    CHECK(told(AssessmentRows::nested, none).score == unseen.score);
}

TEST_CASE("parts in time are scored about their own means") {
  const std::vector<Split> parts = {{{0}, {1, 2, 3}}, {{0, 1, 2, 3}, {4, 5, 6, 7}}};
  const Matrix<double> noise = random_matrix(7, 1, 41);
  const auto score = [&](double drift, std::span<const double> weights) {
    const Matrix<double> Y = random_matrix(7, 1, 40);
    Predictions all{Matrix<double>(7, 1), {Matrix<double>(7, 1), {}}};
    for (int64_t i = 0; i < 7; ++i) {
      Y(i, 0) += i < 3 ? 0 : drift;
      all.model(i, 0) = Y(i, 0) + 0.3 * noise(i, 0);
    }
    center_parts(parts, weights, Y.view(), all);
    return assess(AssessmentRows::unseen, Task::regression, Y.view(), all, weights).score;
  };
  const std::vector<double> weights = {1, 2, 1, 3, 1, 1, 2};
  CHECK(score(50, {}) == Approx(score(0, {})).epsilon(1e-10));
  CHECK(score(50, weights) == Approx(score(0, weights)).epsilon(1e-10));
  CHECK(score(0, {}) < 0.95);
}

TEST_CASE("targets that a few rows spread are warned of, and a fit that interpolates") {
  const auto warned = [](const Model& model, const char* words) {
    return std::ranges::any_of(model.report.warnings, [&](const std::string& text) {
      return text.find(words) != std::string::npos;
    });
  };
  Problem problem = smooth_problem(200, 3, 1, 0.1, 41);
  const Model light = searched(problem);
  CHECK(!warned(light, "one row in a hundred"));
  for (const int64_t i : {3, 77}) problem.Y(i, 0) = 40;
  CHECK(warned(searched(problem), "one row in a hundred makes"));
}

TEST_CASE("few and degenerate rows are fitted, with a warning") {
  const auto warned = [](const Model& model, const char* words) {
    for (const std::string& text : model.report.warnings)
      if (text.find(words) != std::string::npos) return true;
    return false;
  };
  Problem problem = smooth_problem(8, 3, 1, 0.3, 36);
  const Model few = searched(problem);
  CHECK(few.report.assessment.kind == AssessmentRows::none);
  CHECK(warned(few, "8 rows are too few"));

  problem = smooth_problem(60, 3, 1, 0.3, 37);
  problem.Y.fill(4);
  const Model constant = searched(problem);
  CHECK(warned(constant, "target 0 is 4 in every row"));
  CHECK(largest_difference(predictions(constant, problem.x()), problem.Y) < 1e-12);
  CHECK(std::isnan(constant.report.assessment.score));

  problem = smooth_problem(60, 3, 1, 0.3, 38);
  problem.X.fill(2);
  const Model blind = searched(problem);
  CHECK(warned(blind, "all rows have the same inputs"));
  CHECK(warned(blind, "does not beat the mean"));

  SearchOptions classes;
  classes.fit.coding.task = Task::classification;
  classes.fit.coding.classes = 2;
  problem = smooth_problem(60, 3, 1, 0.3, 39);
  problem.Y.fill(1);
  const Model single = searched(problem, classes);
  CHECK(warned(single, "every row is of class 1"));
}

}  // namespace assess_test
