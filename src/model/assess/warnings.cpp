// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/assess/warnings.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "model/assess/repeats.h"
#include "model/estimator/class_weights.h"

namespace mercer::model {
namespace {

constexpr double kMostShare = 0.03;                       // Tr H over D
constexpr double kMostOff = 0.04, kIntervalErrors = 2.5;  // absolute, and in binomial errors

constexpr double kPerfect = 0.9999;     // score of the linear baseline
constexpr int64_t kFewRepeats = 20;     // one row in this many
constexpr int64_t kFewRows = 10;        // of a fit
constexpr double kNearlyAll = 0.995;    // a best score not worth a warning
constexpr double kMostOfFew = 0.5;      // of a target's variance, in a hundredth of the rows
constexpr int64_t kFewScoredRows = 30;  // behind a score
constexpr int64_t kFewOfClass = 3;      // rows of a class, behind a score
constexpr double kRareShare = 0.1;      // of the rows
constexpr double kRarelyFound = 0.2;    // of a class's rows

template <class T>
bool rows_are_equal(const MatrixView<const T>& X) {
  for (int64_t i = 1; i < X.rows; ++i)
    if (!std::equal(X.row(i), X.row(i) + X.cols, X.row(0))) return false;
  return true;
}
/// Sparse rows without non-zeros.
template <class T>
bool rows_are_equal(const CsrView<T>& X) {
  for (int64_t p = X.begin(0); p < X.end(X.rows - 1); ++p)
    if (X.values[p] != T{0}) return false;
  return true;
}

/// The share of a target's squared deviations in the hundredth of rows farthest from its mean.
double share_of_farthest(MatrixView<const double> Y, int64_t o) {
  double mean = 0, all = 0, most = 0;
  for (int64_t i = 0; i < Y.rows; ++i) mean += (Y(i, o) - Y(0, o)) / static_cast<double>(Y.rows);
  std::vector<double> squares;
  for (int64_t i = 0; i < Y.rows; ++i) {
    squares.push_back(std::pow(Y(i, o) - Y(0, o) - mean, 2));
    all += squares.back();
  }
  const auto few = squares.begin() + std::max<int64_t>(Y.rows / 100, 1);
  std::ranges::nth_element(squares, few - 1, std::ranges::greater());
  for (auto one = squares.begin(); one != few; ++one) most += *one;
  return most / all;
}

int64_t classes_of_one_row(int64_t classes, MatrixView<const double> Y) {
  std::vector<int64_t> rows(classes, 0);
  for (int64_t i = 0; i < Y.rows; ++i) ++rows[Y(i, 0)];
  return std::ranges::count(rows, 1);
}

std::string contradiction(Task task, const Repeats& repeats) {
  const auto count = repeats.contradictory;
  if (task == Task::classification)
    return text(
        "%ld rows share their inputs with rows of another class: no model of these inputs is "
        "right on more than a share of %.4f of all rows",
        count, repeats.most);
  return text(
      "%ld rows share their inputs with rows of other targets: if all rows are as noisy, no model "
      "of these inputs has an R^2 above about %.4f",
      count, repeats.most);
}

const char* name_of(Measure measure) {
  constexpr const char* kNames[] = {"R^2", "accuracy", "explained pinball loss",
                                    "explained absolute error", "explained deviance"};
  return kNames[static_cast<size_t>(measure)];
}

/// Classes with too few scored rows.
void warn_of_few_rows(const std::vector<ClassScore>& classes, std::vector<std::string>& found) {
  const auto few = [](const ClassScore& one) { return one.rows < kFewOfClass; };
  const auto count = std::ranges::count_if(classes, few);
  const auto first = std::ranges::find_if(classes, few);
  if (count == 1)
    found.push_back(text("class %ld has %ld %s in the score, which says little of it",
                         first - classes.begin(), first->rows, first->rows == 1 ? "row" : "rows"));
  if (count > 1)
    found.push_back(
        text("%ld of %zu classes have fewer than %ld rows in the score, which says "
             "little of them",
             count, classes.size(), kFewOfClass));
}

/// Rare classes that the model hardly ever predicts.
void warn_of_missed(const Assessment& assessment, std::vector<std::string>& found) {
  const std::vector<ClassScore>& classes = assessment.balanced.classes;
  const auto missed = [&](const ClassScore& one) {
    return one.rows >= kFewOfClass &&
           static_cast<double>(one.rows) < kRareShare * static_cast<double>(assessment.rows) &&
           one.recall <= kRarelyFound;
  };
  const auto count = std::ranges::count_if(classes, missed);
  const auto first = std::ranges::find_if(classes, missed);
  if (count == 1)
    found.push_back(
        text("class %ld, of %ld rows in the score, is found in only %.0f %% of them: "
             "balanced class weights find more",
             first - classes.begin(), first->rows, 100 * first->recall));
  if (count > 1)
    found.push_back(
        text("%ld rare classes are found in at most %.0f %% of their rows: balanced "
             "class weights find more",
             count, 100 * kRarelyFound));
}

/// With balanced class weights, model and baseline are compared by balanced accuracy.
void compare_balanced(const Assessment& assessment, std::vector<std::string>& found) {
  const BalancedScore& balanced = assessment.balanced;
  const auto known = static_cast<double>(
      std::ranges::count_if(balanced.classes, [](const auto& one) { return one.rows > 0; }));
  if (balanced.value <= 1 / known)
    found.push_back(text("balanced accuracy %.4f does not beat the largest class: %.4f",
                         balanced.value, 1 / known));
  if (balanced.value <= assessment.balanced_linear)
    found.push_back(text("balanced accuracy %.4f does not beat a linear model: %.4f",
                         balanced.value, assessment.balanced_linear));
}

}  // namespace

std::string text(const char* format, ...) {
  char buffer[320];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

std::vector<std::string> data_warnings(const Coding& coding, const Rows& X,
                                       MatrixView<const double> Y, const Assessment& assessment,
                                       Context& context) {
  const bool classes = coding.task == Task::classification;
  std::vector<std::string> found;
  if (Y.rows < kFewRows)
    found.push_back(text("%ld rows are too few to choose by or to score", Y.rows));
  for (int64_t o = 0; o < Y.cols; ++o) {
    if (!column_is_constant(Y, o)) continue;
    found.push_back(classes ? text("every row is of class %g", Y(0, o))
                            : text("target %ld is %g in every row", o, Y(0, o)));
  }
  for (int64_t o = 0; o < Y.cols && !classes; ++o) {
    const double share = Y.rows < kFewRows ? 0 : share_of_farthest(Y, o);
    if (share > kMostOfFew)
      found.push_back(
          text("one row in a hundred makes %.0f %% of the variance of target %ld: R^2 depends on "
               "these few, and new rows may have a very different one",
               100 * share, o));
  }
  const Repeats repeats = find_repeats(coding.task, X, Y, context);
  const int64_t repeated = repeats.rows;
  const bool refuted =
      !classes && assessment.kind != Assessed::none && assessment.score > repeats.most;
  if (repeats.contradictory > 0 && repeats.most < kNearlyAll && !refuted)
    found.push_back(contradiction(coding.task, repeats));
  if (repeated > Y.rows / kFewRepeats)
    found.push_back(
        text("%ld of %ld rows repeat the inputs of others: if these are copies, "
             "scores of held-out rows are too good",
             repeated, Y.rows));
  if (X.visit([](const auto& rows) { return rows_are_equal(rows); }))
    found.emplace_back("all rows have the same inputs: there is nothing to predict from");
  if (classes) {
    const int64_t single = classes_of_one_row(coding.classes, Y);
    if (single > 0)
      found.push_back(text("%ld %s one row", single, single == 1 ? "class has" : "classes have"));
  }
  return found;
}

std::vector<std::string> choice_warnings(const FitReport& report, bool lengthscale_at_edge) {
  std::vector<std::string> found;
  if (report.criterion_rows < kFewScoredRows && report.criterion == ComparedBy::held_out)
    found.push_back(text("only %ld rows chose lengthscale and lambda", report.criterion_rows));
  if (lengthscale_at_edge && std::isfinite(report.lengthscale))
    found.push_back(text("lengthscale %.4g is at an edge of what was tried", report.lengthscale));
  return found;
}

// Of 30 fits of ten data sets, 240 rows and 2,048 features, the evidence's noise or lengthscale was
// more than 10 % from the exact process's in 9 of 17 above this share, in 1 of 13 below.
std::vector<std::string> evidence_warnings(double dimension, int64_t features) {
  if (!(dimension > kMostShare * static_cast<double>(features))) return {};
  return {
      text("the fit has %.0f effective degrees of freedom: the noise and lengthscales that the "
           "evidence chooses through %ld features may be far from the kernel's own, expected "
           "%.0f features or more",
           dimension, features, std::ceil(dimension / kMostShare))};
}

std::vector<std::string> score_warnings(const Parameters& own, Task task,
                                        const Assessment& assessment) {
  std::vector<std::string> found;
  if (assessment.kind == Assessed::none) return found;
  if (assessment.rows < kFewScoredRows)
    found.push_back(text("the score is of only %ld rows", assessment.rows));
  warn_of_few_rows(assessment.balanced.classes, found);
  if (is_balanced(own)) {
    compare_balanced(assessment, found);
    return found;
  }
  warn_of_missed(assessment, found);
  const double off = std::abs(assessment.coverage - kInterval);
  if (off > kMostOff && off * off * static_cast<double>(assessment.rows) >
                            kIntervalErrors * kIntervalErrors * kInterval * (1 - kInterval))
    found.push_back(text("intervals of %.0f %% contain %.1f %% of the unseen targets",
                         100 * kInterval, 100 * assessment.coverage));
  if (assessment.score <= assessment.constant)
    found.push_back(text("%s %.4f does not beat the %s: %.4f", name_of(assessment.measure),
                         assessment.score,
                         task == Task::classification               ? "largest class"
                         : assessment.measure == Measure::r_squared ? "mean"
                                                                    : "best constant",
                         assessment.constant));
  if (assessment.score <= assessment.linear && assessment.score < kPerfect)
    found.push_back(text("%s %.4f does not beat a linear model: %.4f", name_of(assessment.measure),
                         assessment.score, assessment.linear));
  return found;
}

}  // namespace mercer::model
